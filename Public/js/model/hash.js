// SHA-256 and SHA-1 (FIPS 180-4), synchronous: `crypto.subtle` is not there without a secure context, and awaiting it
// would end a transaction of IndexedDB.

const encoder = new TextEncoder()
const BLOCK = 64
/** The message schedule of the block at work: one for all, as nothing here waits. */
const words = new Int32Array(80)
const rounds = new Int32Array(64)
const initial256 = new Int32Array(8)

// The constants: the first 32 bits of the fractions of roots of the first primes.
for (let number = 2, found = 0; found < 64; number++) {
  let divisor = 2
  while (number % divisor) divisor++
  if (divisor < number) continue
  if (found < 8) initial256[found] = Math.sqrt(number) * 2 ** 32
  rounds[found++] = Math.cbrt(number) * 2 ** 32
}

/**
 * Takes 64 bytes into the state of SHA-256.
 * @param {Int32Array} state
 * @param {Uint8Array} bytes
 * @param {number} at
 */
const mix256 = (state, bytes, at) => {
  const w = words
  for (let i = 0; i < 16; i++, at += 4) {
    w[i] = bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3]
  }
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
  state[0] += a
  state[1] += b
  state[2] += c
  state[3] += d
  state[4] += e
  state[5] += f
  state[6] += g
  state[7] += h
}

/**
 * Takes 64 bytes into the state of SHA-1.
 * @type {typeof mix256}
 */
const mix1 = (state, bytes, at) => {
  const w = words
  for (let i = 0; i < 16; i++, at += 4) {
    w[i] = bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3]
  }
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
  state[0] += a
  state[1] += b
  state[2] += c
  state[3] += d
  state[4] += e
}

/** A hash that takes its bytes piece by piece, and begins anew after each digest. */
class Hash {
  #initial
  #mix
  #state
  #count = 0
  #rest = new Uint8Array(BLOCK)
  #end = new DataView(this.#rest.buffer)

  /**
   * @param {Int32Array} initial
   * @param {typeof mix256} mix
   */
  constructor(initial, mix) {
    this.#initial = initial
    this.#mix = mix
    this.#state = initial.slice()
  }

  /**
   * Takes more bytes; itself.
   * @param {Uint8Array} bytes
   */
  update(bytes) {
    const held = this.#count % BLOCK
    let at = 0
    this.#count += bytes.length
    if (held) {
      at = Math.min(BLOCK - held, bytes.length)
      this.#rest.set(bytes.subarray(0, at), held)
      if (held + at < BLOCK) return this
      this.#mix(this.#state, this.#rest, 0)
    }
    for (; at + BLOCK <= bytes.length; at += BLOCK) this.#mix(this.#state, bytes, at)
    this.#rest.set(bytes.subarray(at))
    return this
  }

  /** The hash of all that was taken. */
  digest() {
    const state = this.#state, rest = this.#rest, count = this.#count
    const held = count % BLOCK
    rest[held] = 0x80
    rest.fill(0, held + 1)
    if (held >= BLOCK - 8) {
      this.#mix(state, rest, 0)
      rest.fill(0)
    }
    this.#end.setUint32(BLOCK - 8, count / 2 ** 29)
    this.#end.setUint32(BLOCK - 4, count << 3)
    this.#mix(state, rest, 0)
    const digest = new Uint8Array(4 * state.length)
    for (let i = 0; i < digest.length; i++) digest[i] = state[i >> 2] >> 24 - 8 * (i & 3)
    state.set(this.#initial)
    this.#count = 0
    return digest
  }
}

/** SHA-256, piece by piece: for files. */
export class SHA256 extends Hash {
  constructor() {
    super(initial256, mix256)
  }
}

const whole256 = new SHA256()
const whole1 = new Hash(new Int32Array([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]), mix1)

/**
 * The 32 bytes of SHA-256.
 * @param {Uint8Array} bytes
 */
export const sha256 = bytes => whole256.update(bytes).digest()

/**
 * The 20 bytes of SHA-1, which UUIDs of version 5 are made of.
 * @param {Uint8Array} bytes
 */
export const sha1 = bytes => whole1.update(bytes).digest()

/**
 * Text in UTF-8.
 * @param {string} text
 * @returns {Uint8Array}
 */
export const utf8 = text => encoder.encode(text)

const pairs = Array.from({length: 256}, (_, byte) => byte.toString(16).padStart(2, "0"))

/**
 * Bytes in hex, in lower case.
 * @param {Uint8Array} bytes
 */
export const hex = bytes => {
  let text = ""
  for (const byte of bytes) text += pairs[byte]
  return text
}

/**
 * Bytes in base64, as header fields have them.
 * @param {Uint8Array} bytes
 */
export const base64 = bytes => {
  let text = ""
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
