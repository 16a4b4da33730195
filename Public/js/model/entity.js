// Clocks, and objects in registers: the fold, the digest, membership (merge.md), the two shapes on the wire (protocol.md).
// A clock is its text, which sorts as its bytes do; a date likewise.
import {sha256, utf8} from "./hash.js"

const CLOCK = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)-([\da-f]{4})-([\da-f]{16})$/i
const LAST = 253402300799999 // the end of the year 9999, where time stands still
const MOST = 0xffff

/** @type {Model["formatDate"]} */
export const formatDate = ms => new Date(Math.min(ms, LAST)).toISOString()

/** @type {Model["parseDate"]} */
export const parseDate = text => {
  const ms = text.length === 24 ? Date.parse(text) : NaN
  // Date.parse takes some days that are not there, such as 31 November, for others.
  return ms <= LAST && formatDate(ms) === text ? ms : null
}

/** @type {Model["makeClock"]} */
export const makeClock = (ms, counter, node) =>
  `${formatDate(Math.max(0, Math.trunc(ms)))}-${counter.toString(16).padStart(4, "0")}-${node.toLowerCase()}`

/** @type {Model["partsOf"]} */
export const partsOf = clock => {
  const [, date = "", counter, node] = CLOCK.exec(clock) ?? []
  const milliseconds = parseDate(date) ?? -1
  if (milliseconds < 0) throw new RangeError(`not a clock: ${clock}`)
  return {milliseconds, counter: parseInt(counter, 16), node: node.toLowerCase()}
}

/** The clock of one device. What it says is greater than all it said or saw before. */
export class ClockSource {
  #kept

  /** @param {string} node @param {SavedClock} [saved] */
  constructor(node, saved) {
    this.node = node
    this.#kept = {greatest: "", agreed: "", offset: 0, ...saved}
  }

  /** Put right by the server's. @param {number} wallMs */
  now(wallMs) {
    return wallMs + this.#kept.offset
  }

  /** @param {number} wallMs @param {string} [node] another's to stamp with */
  tick(wallMs, node = this.node) {
    const {greatest} = this.#kept
    let made = makeClock(this.now(wallMs), 0, node)
    if (made.slice(0, 24) <= greatest.slice(0, 24)) {
      const {milliseconds, counter} = partsOf(greatest)
      const carries = counter === MOST && milliseconds < LAST
      made = carries ? makeClock(milliseconds + 1, 0, node) : makeClock(milliseconds, Math.min(counter + 1, MOST), node)
    }
    return this.#kept.greatest = made
  }

  /** @param {string} clock that the server accepted or sent */
  observe(clock) {
    // Taken in, nothing could be ticked after it any more.
    if (!CLOCK.test(clock)) throw new RangeError(`not a clock: ${clock}`)
    const kept = this.#kept
    if (clock > kept.agreed) kept.agreed = clock
    if (clock > kept.greatest) kept.greatest = clock
  }

  /** @param {string} serverClock @param {number} wallMs */
  learn(serverClock, wallMs) {
    this.#kept.offset = partsOf(serverClock).milliseconds - wallMs
    this.observe(serverClock)
  }

  /** Forgets what only this device said (merge.md, Ahead). */
  setBack() {
    this.#kept.greatest = this.#kept.agreed
  }

  saved() {
    return {...this.#kept}
  }
}

/** What makes an object exist (merge.md, Edits). A map, as an app may call a type of its own "constructor". */
const NEEDED = new Map([["note", "creationDate"], ["tag", "name"], ["attachment", "mimeType"]])
const MEMBERS = ["tags", "attachments"]
const PROPERTIES = ["mimeType", "width", "height", "filename", "preview", "byteCount", "sha256"]
/** The digest of nothing. */
export const ZERO = "0".repeat(32)

/** @type {Model["sectionOf"]} */
export const sectionOf = type => NEEDED.has(type) ? `${type}s` : "objects"

/** @type {Model["emptyEntity"]} */
export const emptyEntity = (uniqueID, type) => ({uniqueID, type, fixed: {}, registers: {}})

/** @type {Model["readState"]} */
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

/** @type {Model["writeChange"]} */
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

/** @type {Model["writeState"]} */
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

/** @type {Model["fold"]} */
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

/** @type {Model["foldDeleted"]} */
export const foldDeleted = (a, b) => {
  const folded = {...b, ...a}
  for (const name of ["mergedInto", "deletionDate"]) if (b[name] < a[name]) folded[name] = b[name]
  return folded
}

/** @type {Model["exists"]} */
export const exists = ({type, fixed, registers}) => {
  const needed = NEEDED.get(type)
  return needed ? needed in fixed || needed in registers : type !== ""
}

/** @type {Model["valueOf"]} */
export const valueOf = ({fixed, registers}, attribute) => registers[attribute]
  ? registers[attribute][0] : {text: "", archived: false, sortDate: fixed.creationDate}[attribute]

/** @type {Model["clockOf"]} */
export const clockOf = (entity, attribute) => entity.registers[attribute]?.[1] ?? null

/** @type {Model["linesOf"]} */
export const linesOf = ({uniqueID, type, fixed, registers}) => {
  // Names of attributes are ASCII, so the order of JavaScript's strings is that of their bytes.
  const lines = Object.keys(registers).sort().map(attribute => `${attribute}=${registers[attribute][1]}`)
  const once = ["creationDate", "sha256"].filter(name => fixed[name] !== undefined).map(name => `${name}=${fixed[name]}`)
  return [type, uniqueID, ...lines, ...once]
}

const hashOfLines = lines => sha256(utf8(lines.join("\n") + "\n")).subarray(0, 16)

/** @type {Model["hashOf"]} */
export const hashOf = entity => hashOfLines(linesOf(entity))

/** @type {Model["hashOfDeleted"]} */
export const hashOfDeleted = ({uniqueID, mergedInto}) =>
  hashOfLines(["deleted", uniqueID, ...mergedInto ? [mergedInto] : []])

/** @type {Model["xor"]} */
export const xor = (a, b) => (BigInt(`0x${a}`) ^ BigInt(`0x${b}`)).toString(16).padStart(32, "0")

/** @type {Model["resolve"]} */
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

/** @type {Model["membersOf"]} */
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
