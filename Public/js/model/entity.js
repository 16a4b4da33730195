// Objects as registers: an attribute has a value and the clock of the edit that set it, and the greatest clock wins
// (merge.md, The fold). Notes, tags, attachments and the objects of other apps all have this form (`Entity`); what sync
// sends and shows is converted here.
import {sha256, utf8} from "./hash.js"

/**
 * What makes an object exist: until it is known, its edits wait (merge.md, Edits). A Map, not an object, because an app may use
 * "constructor" as a type.
 */
const REQUIRED = new Map([["note", "creationDate"], ["tag", "name"], ["attachment", "mimeType"]])
/** Attributes of notes that are sets of IDs, with one register for each member. */
const MEMBERS = ["tags", "attachments"]
/** What is set once, by section of `changes`. */
const FIXED = {attachments: ["mimeType", "width", "height", "filename", "preview", "byteCount", "sha256"]}
const FIXED_OTHERWISE = ["creationDate"]

/**
 * The list of `changes` that contains objects of a type (protocol.md, Sync).
 *
 * @type {(type: string) => string}
 */
export const sectionOf = type => REQUIRED.has(type) ? `${type}s` : "objects"

/**
 * An object of which nothing is known yet.
 *
 * @type {(uniqueID: string, type: string) => Entity}
 */
export const emptyEntity = (uniqueID, type) => ({uniqueID, type, fixed: {}, registers: {}})

/**
 * Edits as registers, by attribute.
 *
 * @type {(edits: {attribute: string, value?: any, clock: string}[]) => Entity["registers"]}
 */
export const registersOf = edits =>
  Object.fromEntries(edits.map(({attribute, value, clock}) => [attribute, [value, clock]]))

/** "tags.<ID>" as ["tags", "<ID>"], "text" as ["text"]. A key may contain dots. */
const splitAttribute = attribute => attribute.split(/\.(.*)/s)

/**
 * Reads an object as sync, `changes` and events show it.
 *
 * @param {string} section the list that it is in
 * @param {any} state
 * @returns {Entity}
 */
export const readState = (section, state) => {
  const entity = emptyEntity(state.uniqueID, section === "objects" ? state.objectType : section.slice(0, -1))
  for (const name of FIXED[section] ?? FIXED_OTHERWISE) {
    if (name in state) entity.fixed[name] = state[name]
  }
  for (const [name, clocks] of Object.entries(state.clocks ?? {})) {
    if (typeof clocks === "string") {
      entity.registers[name] = [state[name], clocks]
      continue
    }
    for (const [key, clock] of Object.entries(clocks)) {
      const value = MEMBERS.includes(name) ? state[name].includes(key) : state[name][key]
      entity.registers[`${name}.${key}`] = [value, clock]
    }
  }
  return entity
}

/**
 * An element of a push, with everything that the entity has. The caller adds `textBase`.
 *
 * @type {(entity: Entity) => any}
 */
export const writeChange = ({uniqueID, type, fixed, registers}) => {
  /** @type {any} */
  const change = {uniqueID, ...fixed}
  if (!REQUIRED.has(type)) change.objectType = type
  for (const [attribute, [value, clock]] of Object.entries(registers)) {
    const [name, key] = splitAttribute(attribute)
    const clocks = change.clocks ??= {}
    clocks[name] = key ? {...clocks[name], [key]: clock} : clock
    if (!key) change[name] = value
    else if (!MEMBERS.includes(name)) change[name] = {...change[name], [key]: value}
    else change[name] = [...change[name] ?? [], ...value ? [key] : []]
  }
  return change
}

/**
 * An object as sync shows it, with defaults (protocol.md, Two forms).
 *
 * @type {(entity: Entity) => any}
 */
export const writeState = entity => {
  const state = writeChange(entity)
  if (entity.type === "attachment") return state
  const clocks = state.clocks ??= {}
  state.attributes ??= {}
  clocks.attributes ??= {}
  if (entity.type !== "note") return state
  for (const name of Object.keys(defaultsOf(entity))) state[name] = valueOf(entity, name)
  for (const kind of MEMBERS) {
    state[kind] = membersOf(entity, kind, new Map(), () => true)
    clocks[kind] ??= {}
  }
  return state
}

/**
 * Folds `from` into `into`, which is the same object: for each attribute the greater clock wins, of two creation dates the
 * earlier one (merge.md, The fold).
 *
 * @param {Entity} into
 * @param {Entity} from
 * @returns {boolean} whether anything changed
 */
export const fold = (into, from) => {
  let changed = !into.type && from.type !== ""
  into.type ||= from.type
  for (const [name, value] of Object.entries(from.fixed)) {
    const isEarlier = name === "creationDate" && value < into.fixed[name]
    if (name in into.fixed && !isEarlier) continue
    into.fixed[name] = value
    changed = true
  }
  for (const [name, register] of Object.entries(from.registers)) {
    if (into.registers[name]?.[1] >= register[1]) continue
    into.registers[name] = register
    changed = true
  }
  return changed
}

/**
 * One DeletedObject of two of the same object: a merge target wins over none, the smaller target of two, the earlier date.
 *
 * @type {(a: DeletedObject, b: DeletedObject) => DeletedObject}
 */
export const foldDeleted = (a, b) => {
  const folded = {...b, ...a}
  for (const name of ["mergedInto", "deletionDate"]) {
    if (b[name] < a[name]) folded[name] = b[name]
  }
  return folded
}

/**
 * Whether an object exists: edits that arrive before what makes it exist wait (merge.md, Edits).
 *
 * @type {(entity: Entity) => boolean}
 */
export const exists = ({type, fixed, registers}) => {
  const required = REQUIRED.get(type)
  return required ? required in fixed || required in registers : type !== ""
}

/**
 * What registers of a note have that were never set.
 *
 * @type {(entity: Entity) => Record<string, any>}
 */
const defaultsOf = ({fixed}) => ({text: "", archived: false, sortDate: fixed.creationDate})

/**
 * The value of an attribute, or its default if no edit set it.
 *
 * @type {(entity: Entity, attribute: string) => any}
 */
export const valueOf = (entity, attribute) => (entity.registers[attribute] ?? [defaultsOf(entity)[attribute]])[0]

/**
 * When a note was edited last: the clock of its text, or the creation date if the text was never set. It begins with the date and
 * sorts like it (clients.md, The modified date).
 *
 * @type {(note: Entity) => string}
 */
export const editedAt = ({fixed, registers}) => registers.text?.[1] ?? fixed.creationDate

/**
 * The live object that an ID stands for, by the tags or attachments that it was merged into (merge.md, Membership).
 *
 * @param {string} id
 * @param {Graves} deleted
 * @param {(id: string) => boolean} isLive
 * @returns {string | null} null if the object is deleted or unknown
 */
export const resolve = (id, deleted, isLive) => {
  // At most as many steps as there are DeletedObjects: those of a faulty server may form a ring.
  for (let steps = deleted.size; deleted.has(id) && steps; steps--) id = deleted.get(id)?.mergedInto ?? ""
  return !deleted.has(id) && isLive(id) ? id : null
}

/**
 * The registers of a note's tags or attachments, as they are.
 *
 * @type {(entity: Entity, kind: string) => {id: string, isIn: boolean, clock: string}[]}
 */
export const rawMembers = ({registers}, kind) => Object.keys(registers)
  .filter(name => name.startsWith(`${kind}.`))
  .map(name => ({id: name.slice(kind.length + 1), isIn: registers[name][0], clock: registers[name][1]}))

/**
 * A note's live tags or attachments in the order of their clocks. Of several registers that resolve to one object the
 * greatest clock decides, of equal clocks the register that says it is in (merge.md, Membership).
 *
 * @type {(entity: Entity, kind: string, deleted: Graves, isLive: (id: string) => boolean) => string[]}
 */
export const membersOf = (entity, kind, deleted, isLive) => {
  const members = new Set()
  const found = rawMembers(entity, kind).map(one => [one.clock, one.isIn, resolve(one.id, deleted, isLive)])
  // As text, "false" comes before "true".
  for (const [, isIn, id] of found.sort((a, b) => `${a}` < `${b}` ? -1 : 1)) {
    members.delete(id)
    if (id && isIn) members.add(id)
  }
  return [...members]
}

// The digest of a copy: the XOR of the hashes of its objects and DeletedObjects. Two copies with the same digest are identical
// (merge.md, The digest).

/** The digest of a copy without objects, 32 hex digits. */
export const ZERO = "0".repeat(32)

/**
 * The lines of an object that are hashed. Names of attributes are ASCII, so JavaScript sorts them as their bytes.
 *
 * @type {(entity: Entity) => string[]}
 */
export const linesOf = ({uniqueID, type, fixed, registers}) => {
  const clocks = Object.keys(registers).sort().map(name => `${name}=${registers[name][1]}`)
  const once = ["creationDate", "sha256"].filter(name => name in fixed).map(name => `${name}=${fixed[name]}`)
  return [type, uniqueID, ...clocks, ...once]
}

const hashOfLines = lines => sha256(utf8(lines.join("\n") + "\n")).slice(0, 32)

/**
 * An object's part of the digest, 32 hex digits.
 *
 * @type {(entity: Entity) => string}
 */
export const hashOf = entity => hashOfLines(linesOf(entity))

/**
 * The same of a DeletedObject.
 *
 * @type {(deleted: DeletedObject) => string}
 */
export const hashOfDeleted = ({uniqueID, mergedInto}) =>
  hashOfLines(["deleted", uniqueID, ...mergedInto ? [mergedInto] : []])

/**
 * Adds a part to a digest, or takes it out again. Both have 32 hex digits.
 *
 * @type {(a: string, b: string) => string}
 */
export const xor = (a, b) => (BigInt(`0x${a}`) ^ BigInt(`0x${b}`)).toString(16).padStart(32, "0")
