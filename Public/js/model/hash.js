// SHA-256 and SHA-1 (FIPS 180-4), synchronous: `crypto.subtle` is not there without a secure context, and awaiting it
// would end a transaction of IndexedDB. And the IDs that are made of them: UUIDs (RFC 9562) in lower case.

const BLOCK = 64
const words = new Int32Array(80) // the message schedule of the block at work: one for all, as nothing here waits
const rounds = new Int32Array(64), initial256 = new Int32Array(8)
const initial1 = new Int32Array([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0])

// The constants: the first 32 bits of the fractions of roots of the first primes.
for (let number = 2, found = 0; found < 64; number++) {
  let divisor = 2
  while (number % divisor) divisor++
  if (divisor < number) continue
  if (found < 8) initial256[found] = Math.sqrt(number) * 2 ** 32
  rounds[found++] = Math.cbrt(number) * 2 ** 32
}

const mix256 = (state, w) => {
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15], y = w[i - 2]
    w[i] = w[i - 16] + w[i - 7] + ((x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3)
      + ((y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10)
  }
  let a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7]
  for (let i = 0; i < 64; i++) {
    const t = h + ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7)) + (g ^ e & (f ^ g))
      + rounds[i] + w[i] | 0
    const u = ((a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10)) + (a & b | c & (a | b)) | 0
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
  for (let i = 16; i < 80; i++) {
    const x = w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16]
    w[i] = x << 1 | x >>> 31
  }
  let [a, b, c, d, e] = state
  for (let i = 0; i < 80; i++) {
    const chosen = i < 20 ? (d ^ b & (c ^ d)) + 0x5a827999
      : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1
        : i < 60 ? (b & c | d & (b | c)) + 0x8f1bbcdc : (b ^ c ^ d) + 0xca62c1d6
    const t = (a << 5 | a >>> 27) + chosen + e + w[i] | 0
    e = d
    d = c
    c = b << 30 | b >>> 2
    b = a
    a = t
  }
  return [a, b, c, d, e]
}

const digest = (bytes, initial, mix) => {
  const state = initial.slice(), whole = bytes.length - bytes.length % BLOCK, left = bytes.length - whole
  const rest = new Uint8Array(left < BLOCK - 8 ? BLOCK : 2 * BLOCK), end = new DataView(rest.buffer, rest.length - 8)
  rest.set(bytes.subarray(whole))
  rest[left] = 0x80
  end.setUint32(0, bytes.length / 2 ** 29)
  end.setUint32(4, bytes.length << 3)
  for (const part of [bytes.subarray(0, whole), rest]) {
    const view = new DataView(part.buffer, part.byteOffset)
    for (let at = 0; at < part.length; at += BLOCK) {
      for (let i = 0; i < 16; i++) words[i] = view.getInt32(at + 4 * i)
      const mixed = mix(state, words)
      for (let i = 0; i < mixed.length; i++) state[i] += mixed[i]
    }
  }
  return Uint8Array.from({length: 4 * state.length}, (_, i) => state[i >> 2] >> 24 - 8 * (i & 3))
}

/** @type {Model["sha256"]} */
export const sha256 = bytes => digest(bytes, initial256, mix256)

/** @type {Model["sha1"]} */
export const sha1 = bytes => digest(bytes, initial1, mix1)

/** @type {Model["hashOfFile"]} */
export const hashOfFile = async bytes => hex(crypto.subtle
  ? new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)) : sha256(new Uint8Array(bytes)))

const encoder = new TextEncoder()

/** @type {Model["utf8"]} */
export const utf8 = text => encoder.encode(text)

/** @type {Model["hex"]} */
export const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("")

/** @type {Model["base64"]} */
export const base64 = bytes => btoa(String.fromCharCode(...bytes))

/** @type {Model["isID"]} */
export const isID = text => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text)

const idOf = (bytes, version) => {
  bytes[6] = bytes[6] & 15 | version << 4
  bytes[8] = bytes[8] & 63 | 128
  return hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
}

/** @type {Model["newID"]} */
export const newID = () => idOf(crypto.getRandomValues(new Uint8Array(16)), 4)

/** @type {Model["derivedID"]} */
export const derivedID = (namespace, name) => {
  const digits = namespace.replaceAll("-", "").match(/../g) ?? []
  return idOf(sha1(Uint8Array.from([...digits.map(pair => parseInt(pair, 16)), ...utf8(name)])).slice(0, 16), 5)
}
