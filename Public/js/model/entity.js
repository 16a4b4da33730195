// Clocks and dates, which sort as texts; hashes and IDs; objects in registers, their fold and digest (merge.md).

const CLOCK = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)-([\da-f]{4})-([\da-f]{16})$/i
const LAST = 253402300799999, MOST = 0xffff

/** @type {Model["formatDate"]} */
export const formatDate = ms => new Date(Math.min(ms, LAST)).toISOString()

/** @type {Model["parseDate"]} */
export const parseDate = text => {
  const ms = Date.parse(text)
  // Date.parse takes 31 November for another day.
  return text.length === 24 && ms <= LAST && formatDate(ms) === text ? ms : null
}

/** @type {Model["makeClock"]} */
export const makeClock = (ms, counter, node) =>
  `${formatDate(Math.max(0, ms))}-${counter.toString(16).padStart(4, "0")}-${node.toLowerCase()}`

/** @type {Model["partsOf"]} */
export const partsOf = clock => {
  const [, date = "", counter, node] = CLOCK.exec(clock) ?? []
  const milliseconds = parseDate(date) ?? -1
  if (milliseconds < 0) throw new RangeError(`not a clock: ${clock}`)
  return {milliseconds, counter: parseInt(counter, 16), node: node.toLowerCase()}
}

export class ClockSource {
  /** @param {SavedClock} [saved] */
  constructor(node, saved) {
    this.node = node
    this.saved = {greatest: "", agreed: "", offset: 0, ...saved}
  }

  now(wallMs) {
    return wallMs + this.saved.offset
  }

  tick(wallMs) {
    const {node, saved: {greatest}} = this
    let made = makeClock(this.now(wallMs), 0, node)
    if (made.slice(0, 24) <= greatest.slice(0, 24)) {
      const {milliseconds, counter} = partsOf(greatest)
      const carries = counter === MOST && milliseconds < LAST
      made = carries ? makeClock(milliseconds + 1, 0, node) : makeClock(milliseconds, Math.min(counter + 1, MOST), node)
    }
    return this.saved.greatest = made
  }

  observe(clock) {
    for (const name of ["agreed", "greatest"]) if (clock > this.saved[name] && partsOf(clock)) this.saved[name] = clock
  }

  learn(serverClock, wallMs) {
    this.saved.offset = partsOf(serverClock).milliseconds - wallMs
    this.observe(serverClock)
  }

  setBack() {
    this.saved.greatest = this.saved.agreed
  }
}

// Synchronous: to await crypto.subtle would end a transaction, and without a secure context there is none.

const BLOCK = 64
const words = new Int32Array(80), rounds = new Int32Array(64), initial256 = new Int32Array(8)
const initial1 = new Int32Array([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0])

// Of the roots of the first primes.
for (let number = 2, found = 0; found < 64; number++) {
  let divisor = 2
  while (number % divisor) divisor++
  if (divisor < number) continue
  if (found < 8) initial256[found] = Math.sqrt(number) * 2 ** 32
  rounds[found++] = Math.cbrt(number) * 2 ** 32
}

const right = (word, bits) => word >>> bits | word << 32 - bits

const mix256 = (state, w) => {
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15], y = w[i - 2]
    w[i] = w[i - 16] + w[i - 7] + (right(x, 7) ^ right(x, 18) ^ x >>> 3) + (right(y, 17) ^ right(y, 19) ^ y >>> 10)
  }
  let [a, b, c, d, e, f, g, h] = state
  for (let i = 0; i < 64; i++) {
    const t = h + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + (g ^ e & (f ^ g)) + rounds[i] + w[i] | 0
    const u = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + (a & b | c & (a | b)) | 0
    h = g
    g = f
    f = e
    e = d + t | 0
    d = c
    c = b
    b = a
    a = t + u | 0
  }
  return [a, b, c, d, e, f, g, h]
}

const mix1 = (state, w) => {
  for (let i = 16; i < 80; i++) w[i] = right(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 31)
  let [a, b, c, d, e] = state
  for (let i = 0; i < 80; i++) {
    const chosen = [
      (d ^ b & (c ^ d)) + 0x5a827999, (b ^ c ^ d) + 0x6ed9eba1, (b & c | d & (b | c)) + 0x8f1bbcdc,
      (b ^ c ^ d) + 0xca62c1d6,
    ][Math.trunc(i / 20)]
    void ([a, b, c, d, e] = [right(a, 27) + chosen + e + w[i] | 0, a, right(b, 2), c, d])
  }
  return [a, b, c, d, e]
}

const digest = (bytes, initial, mix) => {
  const state = initial.slice(), {length} = bytes, padded = new Uint8Array(Math.ceil((length + 9) / BLOCK) * BLOCK)
  const view = new DataView(padded.buffer)
  padded.set(bytes)
  padded[length] = 0x80
  view.setUint32(padded.length - 8, length / 2 ** 29)
  view.setUint32(padded.length - 4, length << 3)
  for (let at = 0; at < padded.length; at += BLOCK) {
    for (let i = 0; i < 16; i++) words[i] = view.getInt32(at + 4 * i)
    mix(state, words).forEach((word, i) => { state[i] += word })
  }
  return Array.from(state, word => (word >>> 0).toString(16).padStart(8, "0")).join("")
}

/** @type {Model["sha256"]} */
export const sha256 = bytes => digest(bytes, initial256, mix256)

/** @type {Model["sha1"]} */
export const sha1 = bytes => digest(bytes, initial1, mix1)

/** @type {Model["hashOfFile"]} */
export const hashOfFile = async bytes => crypto.subtle
  ? hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))) : sha256(new Uint8Array(bytes))

/** @type {Model["utf8"]} */
export const utf8 = text => new TextEncoder().encode(text)

/** @type {Model["hex"]} */
export const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("")

/** @type {Model["unhex"]} */
export const unhex = digits => Uint8Array.from(digits.match(/../g) ?? [], pair => parseInt(pair, 16))

/** @type {Model["isID"]} */
export const isID = text => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text)

const idOf = (digits, version) => {
  const variant = "89ab"[parseInt(digits[16], 16) & 3]
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, `$1-$2-${version}$3-${variant}$4-$5`)
}

/** @type {Model["newID"]} */
export const newID = () => idOf(hex(crypto.getRandomValues(new Uint8Array(16))), 4)

/** @type {Model["derivedID"]} */
export const derivedID = (namespace, name) =>
  idOf(sha1(Uint8Array.from([...unhex(namespace.replaceAll("-", "")), ...utf8(name)])), 5)

// No object, as an app may call a type of its own "constructor".
const NEEDED = new Map([["note", "creationDate"], ["tag", "name"], ["attachment", "mimeType"]])
const MEMBERS = ["tags", "attachments"]
const FIXED = {attachments: ["mimeType", "width", "height", "filename", "preview", "byteCount", "sha256"]}
export const ZERO = "0".repeat(32)

/** @type {Model["sectionOf"]} */
export const sectionOf = type => NEEDED.has(type) ? `${type}s` : "objects"

/** @type {Model["emptyEntity"]} */
export const emptyEntity = (uniqueID, type) => ({uniqueID, type, fixed: {}, registers: {}})

/** @type {Model["registersOf"]} */
export const registersOf = edits =>
  Object.fromEntries(edits.map(({attribute, value, clock}) => [attribute, [value, clock]]))

/** @type {Model["readState"]} */
export const readState = (section, state) => {
  const entity = emptyEntity(state.uniqueID, section === "objects" ? state.objectType : section.slice(0, -1))
  for (const name of FIXED[section] ?? ["creationDate"]) if (name in state) entity.fixed[name] = state[name]
  for (const [name, clocks] of Object.entries(state.clocks ?? {})) {
    if (typeof clocks === "string") entity.registers[name] = [state[name], clocks]
    else for (const [key, clock] of Object.entries(clocks)) {
      const value = MEMBERS.includes(name) ? state[name].includes(key) : state[name][key]
      entity.registers[`${name}.${key}`] = [value, clock]
    }
  }
  return entity
}

/** @type {Model["writeChange"]} */
export const writeChange = ({uniqueID, type, fixed, registers}) => {
  /** @type {any} */
  const change = {uniqueID, ...fixed}
  if (!NEEDED.has(type)) change.objectType = type
  for (const [attribute, [value, clock]] of Object.entries(registers)) {
    const [name, key] = attribute.split(/\.(.*)/s)
    const clocks = change.clocks ??= {}
    clocks[name] = key ? {...clocks[name], [key]: clock} : clock
    if (!key) change[name] = value
    else if (!MEMBERS.includes(name)) change[name] = {...change[name], [key]: value}
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
  for (const name of Object.keys(defaultsOf(entity))) state[name] = valueOf(entity, name)
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
    if (name in into.fixed && !(name === "creationDate" && value < into.fixed[name])) continue
    into.fixed[name] = value
    changed = true
  }
  for (const [name, value] of Object.entries(from.registers)) {
    if (into.registers[name]?.[1] >= value[1]) continue
    into.registers[name] = value
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

/** What registers of a note have that were never set. */
const defaultsOf = ({fixed}) => ({text: "", archived: false, sortDate: fixed.creationDate})

/** @type {Model["valueOf"]} */
export const valueOf = (entity, attribute) => (entity.registers[attribute] ?? [defaultsOf(entity)[attribute]])[0]

/** @type {Model["linesOf"]} */
export const linesOf = ({uniqueID, type, fixed, registers}) => {
  const lines = Object.keys(registers).sort().map(name => `${name}=${registers[name][1]}`)
  const once = ["creationDate", "sha256"].filter(name => name in fixed).map(name => `${name}=${fixed[name]}`)
  return [type, uniqueID, ...lines, ...once]
}

const hashOfLines = lines => sha256(utf8(lines.join("\n") + "\n")).slice(0, 32)

/** @type {Model["hashOf"]} */
export const hashOf = entity => hashOfLines(linesOf(entity))

/** @type {Model["hashOfDeleted"]} */
export const hashOfDeleted = ({uniqueID, mergedInto}) =>
  hashOfLines(["deleted", uniqueID, ...mergedInto ? [mergedInto] : []])

/** @type {Model["xor"]} */
export const xor = (a, b) => (BigInt(`0x${a}`) ^ BigInt(`0x${b}`)).toString(16).padStart(32, "0")

/** @type {Model["resolve"]} */
export const resolve = (id, deleted, isLive) => {
  // A ring ends, too.
  for (let steps = deleted.size; deleted.has(id) && steps; steps--) id = deleted.get(id)?.mergedInto ?? ""
  return !deleted.has(id) && isLive(id) ? id : null
}

/** @type {Model["rawMembers"]} */
export const rawMembers = ({registers}, kind) => Object.keys(registers).filter(name => name.startsWith(`${kind}.`))
  .map(name => ({id: name.slice(kind.length + 1), isIn: registers[name][0], clock: registers[name][1]}))

/** @type {Model["membersOf"]} */
export const membersOf = (entity, kind, deleted, isLive) => {
  const members = new Set()
  // Of equal clocks, in stands.
  const found = rawMembers(entity, kind).map(one => [one.clock, one.isIn, resolve(one.id, deleted, isLive)])
  for (const [, isIn, id] of found.sort((a, b) => `${a}` < `${b}` ? -1 : 1)) {
    members.delete(id)
    if (id && isIn) members.add(id)
  }
  return [...members]
}
