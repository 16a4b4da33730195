// The digest of a copy: the XOR of the hashes of its objects and DeletedObjects. Two copies with the same digest are
// identical (merge.md, The digest).
import {sha256, utf8} from "./hash.js"

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
