// Writes zip files (APPNOTE 6.3.10).
import {utf8} from "../model/hash.js"

/** What is wrong with an archive or a file in it: index.html has words for each slug. */
export class ArchiveError extends Error {
  name = "ArchiveError"
  slug = this.message
}

/** Without ZIP64, sizes and places have 32 bits, counts 16. */
const MAX_SIZE = 0xffffffff
const MAX_FILES = 0xffff

// Signatures, methods and flags.
const LOCAL_HEADER = 0x04034b50
const DIRECTORY_ENTRY = 0x02014b50
const END_OF_DIRECTORY = 0x06054b50
const STORED = 0
const UTF8 = 0x0800
const VERSION = 20

/** How many bytes each number of a local file header has; of an entry of the central directory; of the end record. */
const HEADER_LAYOUT = "4222444422"
const ENTRY_LAYOUT = `42${HEADER_LAYOUT.slice(1)}22244`
const END_LAYOUT = "42222442"
const HEADER_SIZE = 30

/** Numbers in little-endian bytes. */
const pack = (layout, ...numbers) => Uint8Array.from([...layout].flatMap((size, i) =>
  [0, 8, 16, 24].slice(0, +size).map(shift => numbers[i] >>> shift)))

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

/** The extra field with the date in seconds since 1970 ("UT"), which does not depend on the time zone. */
const EXTRA_LAYOUT = "2214"
const EXTRA_SIZE = 9
const TIMESTAMP = 0x5455
const HAS_MODIFICATION = 1
const packExtra = ms => pack(EXTRA_LAYOUT, TIMESTAMP, EXTRA_SIZE - 4, HAS_MODIFICATION, Math.max(0, Math.floor(ms / 1000)))

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
    const extra = packExtra(date)
    const header = [VERSION, UTF8, STORED, packDate(date), await crcOf(blob), size, size, name.length, EXTRA_SIZE]
    this.#directory.push(
      new Blob([pack(ENTRY_LAYOUT, DIRECTORY_ENTRY, VERSION, ...header, 0, 0, 0, 0, this.#size), name, extra]))
    this.#parts.push(pack(HEADER_LAYOUT, LOCAL_HEADER, ...header), name, extra, blob)
    this.#size += HEADER_SIZE + name.length + EXTRA_SIZE + size
    if (this.#size > MAX_SIZE || this.#directory.length > MAX_FILES) throw new ArchiveError("zip-too-large")
  }

  finish() {
    const directory = new Blob(this.#directory)
    const count = this.#directory.length
    const end = pack(END_LAYOUT, END_OF_DIRECTORY, 0, 0, count, count, directory.size, this.#size, 0)
    return new Blob([...this.#parts, directory, end], {type: "application/zip"})
  }
}
