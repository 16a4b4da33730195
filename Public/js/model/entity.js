// An object in registers, the fold, and the digest (merge.md). Plain records, as IndexedDB keeps them.
import {sha256, utf8} from "./hash.js"

/** @typedef {[value: any, clock: string]} Register */
/**
 * What is known of one object. `type` is "note", "tag", "attachment", or the objectType that an app made up ("" while
 * unknown); `fixed` what is set once; `registers` go by attribute: "text", "tags.<uniqueID>" … (merge.md, Edits).
 * @typedef {Object} Entity
 * @property {string} uniqueID
 * @property {string} type
 * @property {Object<string, any>} fixed
 * @property {Object<string, Register>} registers
 * @property {string} [hash]
 */
/** @typedef {{uniqueID: string, objectType: string, mergedInto?: string, deletionDate?: string}} DeletedObject */

// Maps, as an app may call a type of its own "constructor".
const SECTIONS = new Map([["note", "notes"], ["tag", "tags"], ["attachment", "attachments"]])
const TYPES = new Map([...SECTIONS].map(([type, section]) => [section, type]))
const MEMBERS = ["tags", "attachments"]
/** What is set once of an attachment. */
const PROPERTIES = ["mimeType", "width", "height", "filename", "preview", "byteCount", "sha256"]
/** What makes an object exist (merge.md, Edits). */
const NEEDED = new Map([["note", "creationDate"], ["tag", "name"], ["attachment", "mimeType"]])

/**
 * The list of `changes` that objects of a type are in (protocol.md, Sync).
 * @param {string} type
 */
export const sectionOf = type => SECTIONS.get(type) ?? "objects"

/**
 * An object of which nothing is known yet.
 * @param {string} uniqueID
 * @param {string} type
 * @returns {Entity}
 */
export const emptyEntity = (uniqueID, type) => ({uniqueID, type, fixed: {}, registers: {}})

/**
 * An object as sync, changes and feeds show it.
 * @param {string} section
 * @param {any} state a NoteState or the like
 * @returns {Entity}
 */
export const readState = (section, state) => {
  const entity = emptyEntity(state.uniqueID, TYPES.get(section) ?? state.objectType)
  const {fixed, registers} = entity
  for (const name of entity.type === "attachment" ? PROPERTIES : ["creationDate"]) {
    if (state[name] !== undefined) fixed[name] = state[name]
  }
  for (const [name, clock] of Object.entries(state.clocks ?? {})) {
    if (typeof clock === "string") {
      registers[name] = [state[name], clock]
      continue
    }
    const members = MEMBERS.includes(name) ? new Set(state[name]) : null
    for (const [key, one] of Object.entries(clock)) {
      registers[`${name}.${key}`] = [members ? members.has(key) : state[name][key], one]
    }
  }
  return entity
}

/**
 * An element of a push: all that the entity has, each register with its clock. `textBase` is the caller's.
 * @param {Entity} entity
 */
export const writeChange = entity => {
  /** @type {Object<string, any>} */
  const change = {uniqueID: entity.uniqueID, ...entity.fixed}
  if (!SECTIONS.has(entity.type)) change.objectType = entity.type
  for (const [attribute, [value, clock]] of Object.entries(entity.registers)) {
    const clocks = change.clocks ??= {}
    const dot = attribute.indexOf(".")
    if (dot < 0) {
      change[attribute] = value
      clocks[attribute] = clock
      continue
    }
    const name = attribute.slice(0, dot), key = attribute.slice(dot + 1)
    clocks[name] ??= {}
    clocks[name][key] = clock
    if (MEMBERS.includes(name)) {
      change[name] ??= []
      if (value) change[name].push(key)
    } else {
      change[name] ??= {}
      change[name][key] = value
    }
  }
  return change
}

/**
 * Folds `from`, of the same object, in: the greater clock stands, the earlier creationDate, the first of anything else
 * that is set once (merge.md, The fold). Whether anything changed.
 * @param {Entity} into
 * @param {Entity} from
 */
export const fold = (into, from) => {
  let changed = false
  if (!into.type && from.type) {
    into.type = from.type
    changed = true
  }
  for (const [name, value] of Object.entries(from.fixed)) {
    const standing = into.fixed[name]
    if (standing !== undefined && !(name === "creationDate" && value < standing)) continue
    into.fixed[name] = value
    changed = true
  }
  for (const [attribute, register] of Object.entries(from.registers)) {
    const standing = into.registers[attribute]
    if (standing && standing[1] >= register[1]) continue
    into.registers[attribute] = register
    changed = true
  }
  return changed
}

/**
 * Of two DeletedObjects of one object: a target stands before none, the smaller of two, the earlier date.
 * @param {DeletedObject} a
 * @param {DeletedObject} b
 * @returns {DeletedObject}
 */
export const foldDeleted = (a, b) => {
  const folded = {...b, ...a}
  if (a.mergedInto && b.mergedInto && b.mergedInto < a.mergedInto) folded.mergedInto = b.mergedInto
  if (a.deletionDate && b.deletionDate && b.deletionDate < a.deletionDate) folded.deletionDate = b.deletionDate
  return folded
}

/**
 * Whether the object is there yet: edits that come before what makes it exist wait.
 * @param {Entity} entity
 */
export const exists = ({type, fixed, registers}) => {
  const needed = NEEDED.get(type)
  return needed ? needed in fixed || needed in registers : type !== ""
}

/**
 * What an attribute is now, its default if nobody set it.
 * @param {Entity} entity
 * @param {string} attribute
 * @returns {any}
 */
export const valueOf = (entity, attribute) => {
  const register = entity.registers[attribute]
  if (register) return register[0]
  if (attribute === "sortDate") return entity.fixed.creationDate
  if (attribute === "text") return ""
  return attribute === "archived" ? false : undefined
}

/**
 * The clock of a register, null if nobody set it.
 * @param {Entity} entity
 * @param {string} attribute
 */
export const clockOf = (entity, attribute) => entity.registers[attribute]?.[1] ?? null

/**
 * The lines that are hashed (merge.md, The digest).
 * @param {Entity} entity
 */
export const linesOf = ({uniqueID, type, fixed, registers}) => {
  const lines = [type, uniqueID]
  // Names of attributes are ASCII, so the order of JavaScript's strings is that of their bytes.
  for (const attribute of Object.keys(registers).sort()) lines.push(`${attribute}=${registers[attribute][1]}`)
  for (const name of ["creationDate", "sha256"]) if (fixed[name] !== undefined) lines.push(`${name}=${fixed[name]}`)
  return lines
}

/** @param {string[]} lines */
const hashOfLines = lines => sha256(utf8(lines.join("\n") + "\n")).subarray(0, 16)

/**
 * An object's part of the digest: 16 bytes.
 * @param {Entity} entity
 */
export const hashOf = entity => hashOfLines(linesOf(entity))

/**
 * A DeletedObject's part of the digest: 16 bytes.
 * @param {DeletedObject} deleted
 */
export const hashOfDeleted = ({uniqueID, mergedInto}) =>
  hashOfLines(mergedInto ? ["deleted", uniqueID, mergedInto] : ["deleted", uniqueID])

/** The digest of nothing. */
export const ZERO = "0".repeat(32)

/**
 * Two digests of 32 hex digits added, or one taken out of the other.
 * @param {string} a
 * @param {string} b
 */
export const xor = (a, b) => {
  let sum = ""
  for (let at = 0; at < 32; at += 8) {
    const part = (parseInt(a.slice(at, at + 8), 16) ^ parseInt(b.slice(at, at + 8), 16)) >>> 0
    sum += part.toString(16).padStart(8, "0")
  }
  return sum
}
