// What one call of sync carries up. Pure: from what is unsent to the parts that fit (clients.md, rule 10).
import {emptyEntity, sectionOf, writeChange} from "../model/entity.js"

/** @typedef {import("../model/entity.js").Entity} Entity */
/** @typedef {import("../model/entity.js").DeletedObject} DeletedObject */
/**
 * An edit that the server has not acknowledged; `base`, `baseValue`: the version of the text that it was made from.
 * @typedef {{uniqueID: string, attribute: string, type: string, value: any, clock: string, base?: string | null,
 *   baseValue?: string}} Edit
 */
/**
 * A new object: what is set once.
 * @typedef {{uniqueID: string, type: string, fixed: Object<string, any>, needsBytes?: true}} Made
 */
/**
 * What one call carries.
 * @typedef {{edits: Edit[], made: Made[], deletions: DeletedObject[], relayed: boolean}} Push
 */

/** A push may have 2,000 elements and 8 MiB (protocol.md, Limits). */
export const MOST_OBJECTS = 1_500
export const MOST_BYTES = 4 << 20

/** @type {Push} */
export const NOTHING = Object.freeze({edits: [], made: [], deletions: [], relayed: false})

/** @param {Push} push */
export const isEmpty = push => !(push.edits.length || push.made.length || push.deletions.length)

/**
 * What may go out now: no attachment, nor what names it, before its bytes.
 * @param {Edit[]} edits @param {Made[]} made @param {DeletedObject[]} deletions
 * @returns {Push}
 */
export function ready(edits, made, deletions) {
  const waiting = new Set(made.filter(one => one.needsBytes).map(one => `attachments.${one.uniqueID}`))
  return {
    edits: edits.filter(edit => !waiting.has(edit.attribute)), made: made.filter(one => !one.needsBytes), deletions,
    relayed: false
  }
}

/**
 * How much of a push an edit takes at most, in bytes: a character is up to 3, a few escaped up to 6.
 * @param {Edit} edit
 */
const sizeOf = ({value, baseValue}) =>
  120 + 4 * (typeof value === "string" ? value.length : 8) + 4 * (baseValue?.length ?? 0)

/**
 * The first push of what fits: DeletedObjects, then tags, then the rest. What is left goes out in the next.
 * @param {Push} all @returns {Push}
 */
export function firstPart({edits, made, deletions, relayed}) {
  /** @type {Push} */
  const part = {edits: [], made: [], deletions: deletions.slice(0, MOST_OBJECTS), relayed}
  let count = part.deletions.length, size = count * 200
  if (deletions.length > count) return part
  /** @type {Map<string, {type: string, edits: Edit[], made?: Made}>} */
  const objects = new Map(made.map(one => [one.uniqueID, {type: one.type, edits: [], made: one}]))
  for (const edit of edits) {
    const object = objects.get(edit.uniqueID)
    if (object) object.edits.push(edit)
    else objects.set(edit.uniqueID, {type: edit.type, edits: [edit]})
  }
  const isTag = (/** @type {{type: string}} */ object) => object.type === "tag"
  const inOrder = [...objects.values()]
  for (const object of [...inOrder.filter(isTag), ...inOrder.filter(one => !isTag(one))]) {
    // The preview of an attachment is what is large of what is set once.
    const fixed = object.made ? JSON.stringify(object.made.fixed).length : 0
    const more = object.edits.reduce((sum, edit) => sum + sizeOf(edit), 300 + fixed)
    if (count && (count === MOST_OBJECTS || size + more > MOST_BYTES)) break
    count += 1
    size += more
    part.edits.push(...object.edits)
    if (object.made) part.made.push(object.made)
  }
  return part
}

/**
 * `changes` of the request. `withBaseValues`: the server may not have the bases of texts any more (merge.md, Text).
 * @param {Push} push @param {boolean} withBaseValues @returns {Object<string, any[]>}
 */
export function changesOf(push, withBaseValues) {
  /** @type {Map<string, Entity>} */
  const entities = new Map()
  const texts = new Map()
  for (const {uniqueID, type, fixed} of push.made) entities.set(uniqueID, {...emptyEntity(uniqueID, type), fixed})
  for (const edit of push.edits) {
    const entity = entities.get(edit.uniqueID) ?? emptyEntity(edit.uniqueID, edit.type)
    entities.set(edit.uniqueID, entity)
    entity.registers[edit.attribute] = [edit.value, edit.clock]
    if (edit.attribute === "text" && edit.base) texts.set(edit.uniqueID, edit)
  }
  /** @type {Object<string, any[]>} */
  const changes = {}
  for (const entity of entities.values()) {
    const item = writeChange(entity)
    const text = texts.get(entity.uniqueID)
    if (text) item.textBase = text.base
    if (text && withBaseValues && typeof text.baseValue === "string") item.textBaseValue = text.baseValue
    const section = changes[sectionOf(entity.type)] ??= []
    section.push(item)
  }
  if (push.deletions.length) changes.deletedObjects = push.deletions
  return changes
}

/**
 * Receipts by what they are of: an object and its DeletedObject may be in one push.
 * @param {any[]} results
 */
export function receiptsOf(results) {
  /** @type {{objects: Map<string, any>, deletions: Map<string, any>}} */
  const found = {objects: new Map(), deletions: new Map()}
  for (const result of results) {
    const of = result.pointer?.startsWith("/changes/deletedObjects") ? found.deletions : found.objects
    of.set((result.uniqueID ?? "").toLowerCase(), result)
  }
  return found
}
