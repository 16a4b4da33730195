// IDs of objects: UUIDs (RFC 9562) in lower case.
import {hex, sha1, utf8} from "./hash.js"

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Whether `text` is a UUID in lower case, as IDs are written.
 * @param {string} text
 */
export const isID = text => UUID.test(text)

/**
 * 16 bytes as an ID of this version.
 * @param {Uint8Array} bytes
 * @param {number} version
 */
const idOf = (bytes, version) => {
  bytes[6] = (bytes[6] & 15) | (version << 4)
  bytes[8] = (bytes[8] & 63) | 128
  return hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
}

/** A random ID (version 4). `crypto.randomUUID` is not there without a secure context; `getRandomValues` is. */
export const newID = () => idOf(crypto.getRandomValues(new Uint8Array(16)), 4)

/**
 * The ID that `name` has in a namespace (version 5): the same everywhere.
 * @param {string} namespace an ID
 * @param {string} name any text
 */
export const derivedID = (namespace, name) => {
  const digits = namespace.replaceAll("-", "")
  const text = utf8(name)
  const bytes = new Uint8Array(16 + text.length)
  for (let i = 0; i < 16; i++) bytes[i] = parseInt(digits.slice(2 * i, 2 * i + 2), 16)
  bytes.set(text, 16)
  return idOf(sha1(bytes).slice(0, 16), 5)
}
