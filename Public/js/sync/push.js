// What is unsent, as the body of a push (protocol.md, Sync).
import {registersOf, sectionOf, writeChange} from "../model/entity.js"
import {MAX_ANCESTORS} from "../store/records.js"

/** The maximum size of a push in bytes, estimated: less than the server accepts (protocol.md, Limits). */
const MAX_BYTES = 4 << 20
/** How much of a push a DeletedObject takes, in bytes. */
const DELETION_BYTES = 200

/** @type {Push} */
export const NOTHING = {parts: [], deletions: []}

/** @param {Push} push */
export const isEmpty = ({parts, deletions}) => !parts.length && !deletions.length

/** @param {Edit} edit */
export const isText = ({attribute}) => attribute === "text"

/**
 * What can be sent of each object. Left out is what is over the quota, and what waits for an upload: an attachment's bytes go
 * before it, and it goes before the edits that name it.
 *
 * @param {Edit[]} edits
 * @param {Made[]} made
 * @returns {Part[]}
 */
export const partsIn = (edits, made) => {
  const uploading = new Set(made.filter(one => one.needsBytes).map(one => `attachments.${one.uniqueID}`))
  const held = new Set(made.filter(one => one.held).map(one => one.uniqueID))
  const parts = new Map()
  /** @type {any[]} */
  const all = [...made, ...edits]
  for (const one of all) {
    const {uniqueID, type, attribute} = one
    if (one.needsBytes || one.held || held.has(uniqueID) || uploading.has(attribute)) continue
    const part = parts.get(uniqueID) ?? {uniqueID, type, edits: []}
    parts.set(uniqueID, part)
    if (attribute) part.edits.push(one)
    else part.made = one
  }
  return [...parts.values()]
}

/**
 * The first push of what is to be sent: DeletedObjects, then tags, then all else (clients.md, rule 10).
 *
 * @param {Part[]} parts
 * @param {DeletedObject[]} deletions
 * @param {number} mostObjects
 * @param {boolean} [relayed]
 * @returns {Push}
 */
export const firstOf = (parts, deletions, mostObjects, relayed = false) => {
  /** @type {Push} */
  const push = {parts: [], deletions: deletions.slice(0, mostObjects), relayed}
  let count = push.deletions.length
  let size = count * DELETION_BYTES
  const isTag = ({type}) => type === "tag"
  for (const part of parts.sort((a, b) => +isTag(b) - +isTag(a))) {
    // A UTF-16 code unit is at most three bytes in UTF-8.
    size += 3 * JSON.stringify(part).length
    if (count && (count >= mostObjects || size > MAX_BYTES)) break
    count = push.deletions.length + push.parts.push(part)
  }
  return push
}

/**
 * Saves which texts are being sent, before they are: until an answer comes, the server may have them, so later texts name them
 * as what they descend from (clients.md, rule 3). Needs `unsent`.
 *
 * @param {Transaction} tx
 * @param {Push} push
 * @returns {Push}
 */
export const sendTexts = (tx, push) => {
  for (const {edits} of push.parts) {
    const at = edits.findIndex(isText)
    const {after, clock = "", last} = edits[at] ?? {}
    if (!after || after.includes(clock)) continue
    const sent = edits[at] = last ?? {...edits[at], after: [...after, clock]}
    if (!last) tx.put("unsent", (sent.after ?? []).length < MAX_ANCESTORS ? sent : {...sent, last: sent})
  }
  return push
}

/**
 * The member `changes` of a push.
 *
 * @param {Push} push
 * @param {boolean} withBases whether to send the words of all bases: the server may lack them
 */
export const changesOf = ({parts, deletions}, withBases) => {
  /** @type {Record<string, any[]>} */
  const changes = {deletedObjects: deletions}
  for (const {uniqueID, type, made, edits} of parts) {
    /** @type {Partial<Edit>} */
    const {base, baseValue, after, clock, isMoved} = edits.find(isText) ?? {}
    const section = changes[sectionOf(type)] ??= []
    section.push({
      ...writeChange({uniqueID, type, fixed: made?.fixed ?? {}, registers: registersOf(edits)}),
      ...base && {textBase: base, textBaseValue: withBases || isMoved ? baseValue : undefined},
      textAfter: after?.filter(one => one !== clock),
    })
  }
  return changes
}
