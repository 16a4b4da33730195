// Objects in registers: the fold, the digest, membership (merge.md), and their two shapes on the wire (protocol.md).
import {sha256, utf8} from "./hash.js"

/** What makes an object exist (merge.md, Edits). A map, as an app may call a type of its own "constructor". */
const NEEDED = new Map([["note", "creationDate"], ["tag", "name"], ["attachment", "mimeType"]])
const MEMBERS = ["tags", "attachments"]
const PROPERTIES = ["mimeType", "width", "height", "filename", "preview", "byteCount", "sha256"]
/** The digest of nothing. */
export const ZERO = "0".repeat(32)

/** The list of `changes` that objects of a type are in. @param {string} type */
export const sectionOf = type => NEEDED.has(type) ? `${type}s` : "objects"

/** Of which nothing is known yet. @type {(uniqueID: string, type: string) => Entity} */
export const emptyEntity = (uniqueID, type) => ({uniqueID, type, fixed: {}, registers: {}})

/** From what sync, changes and feeds show. @param {string} section @param {any} state */
export const readState = (section, state) => {
  const entity = emptyEntity(state.uniqueID, section === "objects" ? state.objectType : section.slice(0, -1))
  for (const name of section === "attachments" ? PROPERTIES : ["creationDate"]) {
    if (state[name] !== undefined) entity.fixed[name] = state[name]
  }
  for (const [name, clock] of Object.entries(state.clocks ?? {})) {
    if (typeof clock === "string") entity.registers[name] = [state[name], clock]
    else for (const [key, one] of Object.entries(clock)) {
      const value = MEMBERS.includes(name) ? state[name].includes(key) : state[name][key]
      entity.registers[`${name}.${key}`] = [value, one]
    }
  }
  return entity
}

/** An element of a push; `textBase` is the caller's. @param {Entity} entity */
export const writeChange = ({uniqueID, type, fixed, registers}) => {
  /** @type {Record<string, any>} */
  const change = {uniqueID, ...fixed}
  if (!NEEDED.has(type)) change.objectType = type
  for (const [attribute, [value, clock]] of Object.entries(registers)) {
    const [, name, key] = /^(\w+)\.?(.*)$/s.exec(attribute) ?? []
    const clocks = change.clocks ??= {}, isMember = MEMBERS.includes(name)
    if (key) clocks[name] = {...clocks[name], [key]: clock}
    else clocks[name] = clock
    if (!key) change[name] = value
    else if (!isMember) change[name] = {...change[name], [key]: value}
    else change[name] = [...change[name] ?? [], ...value ? [key] : []]
  }
  return change
}

/** As sync shows it, with its defaults and its members in order. @param {Entity} entity */
export const writeState = entity => {
  const state = writeChange(entity), {type} = entity
  if (type === "attachment") return state
  const clocks = state.clocks ??= {}
  state.attributes ??= {}
  clocks.attributes ??= {}
  if (type !== "note") return state
  for (const name of ["text", "archived", "sortDate"]) state[name] = valueOf(entity, name)
  for (const kind of MEMBERS) {
    state[kind] = membersOf(entity, kind, new Map(), () => true)
    clocks[kind] ??= {}
  }
  return state
}

/**
 * Folds `from`, of the same object, in (merge.md, The fold). Whether anything changed.
 * @param {Entity} into @param {Entity} from
 */
export const fold = (into, from) => {
  let changed = !into.type && from.type !== ""
  into.type ||= from.type
  for (const [name, value] of Object.entries(from.fixed)) {
    const standing = into.fixed[name]
    if (standing !== undefined && !(name === "creationDate" && value < standing)) continue
    into.fixed[name] = value
    changed = true
  }
  for (const [attribute, register] of Object.entries(from.registers)) {
    if (into.registers[attribute]?.[1] >= register[1]) continue
    into.registers[attribute] = register
    changed = true
  }
  return changed
}

/** Of one object (merge.md, The fold). @param {DeletedObject} a @param {DeletedObject} b */
export const foldDeleted = (a, b) => {
  const folded = {...b, ...a}
  for (const name of ["mergedInto", "deletionDate"]) if (b[name] < a[name]) folded[name] = b[name]
  return folded
}

/** Whether it is there yet: edits that come before what makes it exist wait. @param {Entity} entity */
export const exists = ({type, fixed, registers}) => {
  const needed = NEEDED.get(type)
  return needed ? needed in fixed || needed in registers : type !== ""
}

/** What an attribute is now, its default if nobody set it. @param {Entity} entity @param {string} attribute */
export const valueOf = ({fixed, registers}, attribute) => registers[attribute]
  ? registers[attribute][0] : {text: "", archived: false, sortDate: fixed.creationDate}[attribute]

/** Null if nobody set it. @param {Entity} entity @param {string} attribute */
export const clockOf = (entity, attribute) => entity.registers[attribute]?.[1] ?? null

/** What is hashed (merge.md, The digest). @param {Entity} entity */
export const linesOf = ({uniqueID, type, fixed, registers}) => {
  // Names of attributes are ASCII, so the order of JavaScript's strings is that of their bytes.
  const lines = Object.keys(registers).sort().map(attribute => `${attribute}=${registers[attribute][1]}`)
  const once = ["creationDate", "sha256"].filter(name => fixed[name] !== undefined).map(name => `${name}=${fixed[name]}`)
  return [type, uniqueID, ...lines, ...once]
}

const hashOfLines = lines => sha256(utf8(lines.join("\n") + "\n")).subarray(0, 16)

/** Its part of the digest, 16 bytes. @param {Entity} entity */
export const hashOf = entity => hashOfLines(linesOf(entity))

/** @param {DeletedObject} deleted */
export const hashOfDeleted = ({uniqueID, mergedInto}) =>
  hashOfLines(["deleted", uniqueID, ...mergedInto ? [mergedInto] : []])

/** Two digests in hex added, or one taken out of the other. @param {string} a @param {string} b */
export const xor = (a, b) => (BigInt(`0x${a}`) ^ BigInt(`0x${b}`)).toString(16).padStart(32, "0")

/**
 * The live object that an ID stands for; null if that is dead or unknown (merge.md, Membership).
 * @param {string} id @param {ReadonlyMap<string, DeletedObject>} deleted @param {(id: string) => boolean} isLive
 */
export const resolve = (id, deleted, isLive) => {
  // A ring, which only a faulty server could send, ends too.
  for (let steps = deleted.size; steps >= 0; steps--) {
    const gone = deleted.get(id)
    if (!gone) return isLive(id) ? id : null
    if (!gone.mergedInto) return null
    id = gone.mergedInto
  }
  return null
}

/**
 * A note's tags or attachments as a reader sees them, in the order of their clocks (merge.md, Membership).
 * @param {Entity} entity @param {string} kind @param {ReadonlyMap<string, DeletedObject>} deleted
 * @param {(id: string) => boolean} isLive
 */
export const membersOf = ({registers}, kind, deleted, isLive) => {
  /** @type {Map<string, Register>} */
  const decided = new Map()
  for (const attribute in registers) {
    const id = attribute.startsWith(`${kind}.`) && resolve(attribute.slice(kind.length + 1), deleted, isLive)
    if (!id) continue
    const register = registers[attribute], standing = decided.get(id)
    if (standing && (standing[1] > register[1] || standing[1] === register[1] && standing[0])) continue
    decided.set(id, register)
  }
  return [...decided].filter(([, [isIn]]) => isIn)
    .sort(([a, [, one]], [b, [, other]]) => one + a < other + b ? -1 : 1).map(([id]) => id)
}
