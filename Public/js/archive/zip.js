// Zip files (APPNOTE 6.3.10). They are never read as a whole: a blob is a file on the disk.
import {utf8} from "../model/hash.js"

/** What is wrong with an archive or a file in it: index.html has words for each slug. */
export class ArchiveError extends Error {
  name = "ArchiveError"
  slug = this.message
}

/** Without ZIP64, sizes and places have 32 bits, counts 16. */
const MAX_SIZE = 0xffffffff
const MAX_FILES = 0xffff
/** The maximum size of the central directory that is read, in bytes. */
const MAX_DIRECTORY_SIZE = 64 << 20

// Signatures, methods and flags.
const LOCAL_HEADER = 0x04034b50
const DIRECTORY_ENTRY = 0x02014b50
const END_OF_DIRECTORY = 0x06054b50
const STORED = 0
const DEFLATED = 8
const ENCRYPTED = 1
const UTF8 = 0x0800
const VERSION = 20

/** How many bytes each number of a local file header has; of an entry of the central directory; of the end record. */
const HEADER_LAYOUT = "4222444422"
const ENTRY_LAYOUT = `42${HEADER_LAYOUT.slice(1)}22244`
const END_LAYOUT = "42222442"
const HEADER_SIZE = 30
const ENTRY_SIZE = 46
const END_SIZE = 22

/** A gzip header. Between it and a CRC-32 and length, browsers inflate a deflated body. */
const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, DEFLATED, 0, 0, 0, 0, 0, 0, 255)

/** Numbers in little-endian bytes. */
const pack = (layout, ...numbers) => Uint8Array.from([...layout].flatMap((size, i) =>
  [0, 8, 16, 24].slice(0, +size).map(shift => numbers[i] >>> shift)))

/** The numbers that are packed at a place. */
const unpack = (layout, bytes, at = 0) => [...layout].map(size => {
  let number = 0
  for (let i = 0; i < +size; i++) number += (bytes[at++] ?? 0) * 2 ** (8 * i)
  return number
})

const read = async (blob, start, end) => new Uint8Array(await blob.slice(start, end).arrayBuffer())

const crcTable = Int32Array.from({length: 256}, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? byte >>> 1 ^ 0xedb88320 : byte >>> 1
  return byte
})

/** The CRC-32 of a blob, which is read 1 MiB at a time. */
const crcOf = async blob => {
  let crc = -1
  for (let at = 0; at < blob.size; at += 1 << 20) {
    for (const byte of await read(blob, at, at + (1 << 20))) crc = crc >>> 8 ^ crcTable[(crc ^ byte) & 255]
  }
  return ~crc >>> 0
}

/** A date as in MS-DOS: local time since 1980, in units of two seconds. */
const packDate = ms => {
  const date = new Date(ms)
  return Math.max(date.getFullYear() - 1980, 0) << 25 | date.getMonth() + 1 << 21 | date.getDate() << 16
    | date.getHours() << 11 | date.getMinutes() << 5 | date.getSeconds() >> 1
}

const unpackDate = time => new Date((time >>> 25) + 1980, (time >>> 21 & 15) - 1, time >>> 16 & 31,
  time >>> 11 & 31, time >>> 5 & 63, (time & 31) * 2).getTime()

/** Writes a zip. Files are stored without compression: most of the bytes are pictures. */
export class ZipWriter {
  #parts = []
  #directory = []
  #size = 0

  /**
   * @param {string} path
   * @param {Blob} blob
   * @param {number} date in ms since 1970
   * @throws {ArchiveError} "zip-too-large"
   */
  async add(path, blob, date) {
    const name = utf8(path)
    const {size} = blob
    const header = [VERSION, UTF8, STORED, packDate(date), await crcOf(blob), size, size, name.length, 0]
    this.#directory.push(
      new Blob([pack(ENTRY_LAYOUT, DIRECTORY_ENTRY, VERSION, ...header, 0, 0, 0, 0, this.#size), name]))
    this.#parts.push(pack(HEADER_LAYOUT, LOCAL_HEADER, ...header), name, blob)
    this.#size += HEADER_SIZE + name.length + size
    if (this.#size > MAX_SIZE || this.#directory.length > MAX_FILES) throw new ArchiveError("zip-too-large")
  }

  finish() {
    const directory = new Blob(this.#directory)
    const count = this.#directory.length
    const end = pack(END_LAYOUT, END_OF_DIRECTORY, 0, 0, count, count, directory.size, this.#size, 0)
    return new Blob([...this.#parts, directory, end], {type: "application/zip"})
  }
}

const broken = () => new ArchiveError("broken")

/**
 * The files of a zip, without its folders. Only its central directory is read.
 *
 * @param {Blob} blob
 * @returns {Promise<ZipEntry[]>}
 * @throws {ArchiveError} "broken", "zip-too-large"
 */
export const listZip = async blob => {
  // The end record is followed by a comment of at most 65,535 bytes.
  const tail = await read(blob, Math.max(0, blob.size - END_SIZE - MAX_FILES))
  let at = tail.length - END_SIZE
  while (at >= 0 && unpack("4", tail, at)[0] !== END_OF_DIRECTORY) at--
  if (at < 0) throw broken()
  const [, , , , count, length, start] = unpack(END_LAYOUT, tail, at)
  if (start === MAX_SIZE || length > MAX_DIRECTORY_SIZE) throw new ArchiveError("zip-too-large")
  const list = await read(blob, start, start + length)
  const entries = []
  for (let i = 0, line = 0; i < count; i++) {
    const [mark, , , flags, method, time, crc, packed, size, name, extra, comment, , , , offset] =
      unpack(ENTRY_LAYOUT, list, line)
    const path = new TextDecoder().decode(list.subarray(line + ENTRY_SIZE, line + ENTRY_SIZE + name)).normalize()
    line += ENTRY_SIZE + name + extra + comment
    if (mark !== DIRECTORY_ENTRY || line > list.length) throw broken()
    if (!path.endsWith("/")) entries.push({path, size, date: unpackDate(time), flags, method, crc, packed, offset})
  }
  return entries
}

/**
 * The bytes of a file in a zip.
 *
 * @param {Blob} blob the zip
 * @param {ZipEntry} entry
 * @returns {Promise<Blob>}
 * @throws {ArchiveError} "packed-otherwise"; "broken" if they do not have the size and CRC-32 of the entry
 */
export const readEntry = async (blob, {size, flags, method, crc, packed, offset}) => {
  if (flags & ENCRYPTED || ![STORED, DEFLATED].includes(method)) throw new ArchiveError("packed-otherwise")
  const [mark, , , , , , , , name, extra] = unpack(HEADER_LAYOUT, await read(blob, offset, offset + HEADER_SIZE))
  const start = offset + HEADER_SIZE + name + extra
  const body = blob.slice(start, start + packed)
  if (mark !== LOCAL_HEADER || body.size !== packed) throw broken()
  if (method === STORED) {
    if (packed !== size || await crcOf(body) !== crc) throw broken()
    return body
  }
  const pieces = []
  let left = size
  const write = piece => {
    // Stops at once if there is more than the entry says: a small zip may inflate to any size.
    if ((left -= piece.length) < 0) throw broken()
    pieces.push(piece)
  }
  await new Blob([GZIP_HEADER, body, pack("44", crc, size)]).stream().pipeThrough(new DecompressionStream("gzip"))
    .pipeTo(new WritableStream({write})).catch(() => { throw broken() })
  return new Blob(pieces)
}
