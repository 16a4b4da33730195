// SHA-256 and SHA-1 (FIPS 180-4), and UUIDs (RFC 9562).
//
// The hashes are synchronous: waiting for crypto.subtle would end an IndexedDB transaction, and without a secure context
// there is no crypto.subtle.

const BLOCK = 64 // bytes
/** The message schedule of the block being hashed, used again for each block. */
const schedule = new Int32Array(80)

/** FIPS 180-4, 4.2.2 and 5.3.3: fractional parts of the cube and square roots of the first 64 and 8 primes. */
const roundConstants256 = new Int32Array(64)
const initialState256 = new Int32Array(8)
for (let number = 2, found = 0; found < 64; number++) {
  let divisor = 2
  while (number % divisor) divisor++
  if (divisor < number) continue // not a prime
  if (found < 8) initialState256[found] = Math.sqrt(number) * 2 ** 32
  roundConstants256[found++] = Math.cbrt(number) * 2 ** 32
}

/** FIPS 180-4, 4.2.1 and 5.3.1. */
const roundConstants1 = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6]
const initialState1 = new Int32Array([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0])

const rotateRight = (word, bits) => word >>> bits | word << 32 - bits

/** One block of SHA-256 (6.2.2), whose 16 words are the beginning of `w`: what is to be added to the state. */
const compress256 = (state, w) => {
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15]
    const y = w[i - 2]
    const sigma0 = rotateRight(x, 7) ^ rotateRight(x, 18) ^ x >>> 3
    const sigma1 = rotateRight(y, 17) ^ rotateRight(y, 19) ^ y >>> 10
    w[i] = w[i - 16] + w[i - 7] + sigma0 + sigma1
  }
  let [a, b, c, d, e, f, g, h] = state
  for (let i = 0; i < 64; i++) {
    const sum1 = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25)
    const choice = g ^ e & (f ^ g)
    const t1 = h + sum1 + choice + roundConstants256[i] + w[i] | 0
    const sum0 = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22)
    const majority = a & b | c & (a | b)
    const t2 = sum0 + majority | 0
    h = g
    g = f
    f = e
    e = d + t1 | 0
    d = c
    c = b
    b = a
    a = t1 + t2 | 0
  }
  return [a, b, c, d, e, f, g, h]
}

/** The same for SHA-1 (6.1.2). */
const compress1 = (state, w) => {
  for (let i = 16; i < 80; i++) w[i] = rotateRight(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 31)
  let [a, b, c, d, e] = state
  for (let i = 0; i < 80; i++) {
    const phase = Math.trunc(i / 20)
    const mixed = [d ^ b & (c ^ d), b ^ c ^ d, b & c | d & (b | c), b ^ c ^ d][phase]
    const next = rotateRight(a, 27) + mixed + roundConstants1[phase] + e + w[i] | 0
    e = d
    d = c
    c = rotateRight(b, 2)
    b = a
    a = next
  }
  return [a, b, c, d, e]
}

const digest = (bytes, initialState, compress) => {
  const state = initialState.slice()
  const {length} = bytes
  // Padding (5.1.1): the bit 1, zeros, and the length in bits as a 64-bit number.
  const padded = new Uint8Array(Math.ceil((length + 9) / BLOCK) * BLOCK)
  const view = new DataView(padded.buffer)
  padded.set(bytes)
  padded[length] = 0x80
  view.setUint32(padded.length - 8, length / 2 ** 29)
  view.setUint32(padded.length - 4, length << 3)
  for (let at = 0; at < padded.length; at += BLOCK) {
    for (let i = 0; i < 16; i++) schedule[i] = view.getInt32(at + 4 * i)
    const words = compress(state, schedule)
    for (let i = 0; i < words.length; i++) state[i] += words[i]
  }
  return Array.from(state, word => (word >>> 0).toString(16).padStart(8, "0")).join("")
}

/**
 * @param {Uint8Array} bytes
 * @returns {string} 64 hex digits
 */
export const sha256 = bytes => digest(bytes, initialState256, compress256)

/**
 * @param {Uint8Array} bytes
 * @returns {string} 40 hex digits
 */
export const sha1 = bytes => digest(bytes, initialState1, compress1)

/**
 * The SHA-256 of a file, computed by the browser where it may: that is faster for large files.
 *
 * @param {ArrayBuffer} bytes
 * @returns {Promise<string>} 64 hex digits
 */
export const hashOfFile = async bytes => crypto.subtle
  ? hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)))
  : sha256(new Uint8Array(bytes))

const encoder = new TextEncoder()

/** @type {(text: string) => Uint8Array} */
export const utf8 = text => encoder.encode(text)

/** @type {(bytes: Uint8Array) => string} */
export const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("")

/** @type {(digits: string) => Uint8Array} */
export const unhex = digits => Uint8Array.from(digits.match(/../g) ?? [], pair => parseInt(pair, 16))

/** The UUID of 32 or more hex digits, with its version and the variant of RFC 9562 set. */
const formatID = (digits, version) => {
  const variant = "89ab"[parseInt(digits[16], 16) & 3]
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, `$1-$2-${version}$3-${variant}$4-$5`)
}

const randomDigits = () => hex(crypto.getRandomValues(new Uint8Array(16)))

/**
 * A random UUID, version 4. (Without a secure context there is no crypto.randomUUID.)
 *
 * @type {() => string}
 */
export const randomID = () => formatID(randomDigits(), 4)

/**
 * A UUID for a new note or tag, version 7: it begins with the time in ms, so that the server's database adds it at the end of its
 * indexes.
 *
 * @type {() => string}
 */
export const newID = () => formatID(Math.max(Date.now(), 0).toString(16).padStart(12, "0") + randomDigits(), 7)

/**
 * The UUID of a name in a namespace, version 5: the same on every device.
 *
 * @param {string} namespace a UUID
 * @param {string} name
 * @returns {string}
 */
export const derivedID = (namespace, name) =>
  formatID(sha1(Uint8Array.from([...unhex(namespace.replaceAll("-", "")), ...utf8(name)])), 5)
