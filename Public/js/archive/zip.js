// Zip files (APPNOTE 6.3.10) below 4 GB, never read whole. Browsers deflate as gzip: a deflated body between a head and
// its CRC-32 and length. So the stream makes what a zip needs, and checks it when it is read.

/** Why an archive cannot be made or read, in a sentence for people. */
export class ArchiveError extends Error {}

/**
 * A file in a zip. `path` is what the archive says: a name, never a place to write to. `date` in ms since 1970.
 * @typedef {{path: string, size: number, date: number, flags: number, method: number, crc: number, packed: number,
 *   offset: number}} Entry
 */

const LARGEST = 0xffffffff, MOST_FILES = 0xffff, LONGEST_LIST = 64 << 20
const FILE = 0x04034b50, LISTED = 0x02014b50, END = 0x06054b50, TIME = 0x5455
/** The head of a file, its line in the list, and the end: how many bytes each number has. */
const HEAD = "4222444422", LINE = `42${HEAD.slice(1)}22244`, TAIL = "42222442"
const DEFLATED = 8, UTF8 = 0x0800, ENCRYPTED = 1
/** Deflate makes at most 1,032 bytes of one: where there are more, files share their bytes, to do harm. */
const GREATEST_RATIO = 1032
/** What is smaller is stored: to begin a stream takes longer than it is worth. */
const SMALL = 4096
const GZIP_HEAD = Uint8Array.of(0x1f, 0x8b, DEFLATED, 0, 0, 0, 0, 0, 0, 255)

/** @type {(layout: string) => number} */
const lengthOf = layout => [...layout].reduce((sum, size) => sum + Number(size), 0)

/** @type {(layout: string, ...numbers: number[]) => Uint8Array} */
const pack = (layout, ...numbers) => Uint8Array.from([...layout].flatMap((size, i) =>
  [0, 8, 16, 24].slice(0, Number(size)).map(shift => numbers[i] >>> shift)))

/** @type {(layout: string, bytes: Uint8Array, at?: number) => number[]} */
const unpack = (layout, bytes, at = 0) => [...layout].map(size => {
  let number = 0
  for (let i = 0; i < Number(size); i++) number += (bytes[at++] ?? 0) * 2 ** (8 * i)
  return number
})

/** @type {(blob: Blob, start: number, end?: number) => Promise<Uint8Array>} */
const read = async (blob, start, end) => new Uint8Array(await blob.slice(start, end).arrayBuffer())

const table = Int32Array.from({length: 256}, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? byte >>> 1 ^ 0xedb88320 : byte >>> 1
  return byte
})

/** @type {(blob: Blob) => Promise<number>} */
const crcOf = async blob => {
  let crc = -1
  for (let at = 0; at < blob.size; at += 1 << 20) {
    const bytes = await read(blob, at, at + (1 << 20))
    for (let i = 0; i < bytes.length; i++) crc = crc >>> 8 ^ table[(crc ^ bytes[i]) & 255]
  }
  return ~crc >>> 0
}

/** @type {(ms: number) => number} as MS-DOS has it: local, of the years 1980 to 2107 */
const dosTime = ms => {
  const date = new Date(ms), year = Math.min(Math.max(date.getFullYear() - 1980, 0), 127)
  return year << 25 | date.getMonth() + 1 << 21 | date.getDate() << 16
    | date.getHours() << 11 | date.getMinutes() << 5 | date.getSeconds() >> 1
}

/** Makes a zip, file by file. What stays as it is, is not copied. */
export class ZipWriter {
  /** @type {BlobPart[]} */
  #parts = []
  /** @type {Uint8Array[]} */
  #list = []
  #count = 0
  #size = 0

  /**
   * Adds a file; `date` in ms since 1970.
   * @param {string} path
   * @param {Blob} blob
   * @param {number} date
   * @param {boolean} isDeflated what is packed already gains nothing
   */
  async add(path, blob, date, isDeflated) {
    let packed = blob, crc
    if (isDeflated && blob.size > SMALL && "CompressionStream" in globalThis) {
      const gzip = await new Response(blob.stream().pipeThrough(new CompressionStream("gzip"))).blob()
      crc = unpack("4", await read(gzip, gzip.size - 8))[0]
      packed = gzip.slice(GZIP_HEAD.length, -8)
    }
    const name = new TextEncoder().encode(path)
    const seconds = Math.min(Math.max(Math.floor(date / 1000), 0), 2 ** 31 - 1)
    const extra = pack("2214", TIME, 5, 1, seconds) // to the second, and in UTC
    const head = [20, UTF8, packed === blob ? 0 : DEFLATED, dosTime(seconds * 1000), crc ?? await crcOf(blob),
      packed.size, blob.size, name.length, extra.length]
    this.#list.push(pack(LINE, LISTED, 0x0314, ...head, 0, 0, 0, 0o100644 << 16, this.#size), name, extra)
    this.#parts.push(pack(HEAD, FILE, ...head), name, extra, packed)
    this.#size += lengthOf(HEAD) + name.length + extra.length + packed.size
    if (this.#size > LARGEST || ++this.#count > MOST_FILES) {
      throw new ArchiveError("A browser packs at most 4 GB and 65,535 files. Use `hesper export` on the server.")
    }
  }

  /** The whole archive. */
  finish() {
    const size = this.#list.reduce((sum, {length}) => sum + length, 0)
    const end = pack(TAIL, END, 0, 0, this.#count, this.#count, size, this.#size, 0)
    return new Blob([...this.#parts, ...this.#list, end], {type: "application/zip"})
  }
}

const broken = () => new ArchiveError("It is broken, or no zip. Make it anew.")

/**
 * The files of a zip, in the order of its list; folders are passed over.
 * @param {Blob} blob
 */
export const listZip = async blob => {
  const tail = await read(blob, Math.max(0, blob.size - lengthOf(TAIL) - MOST_FILES))
  let at = tail.length - lengthOf(TAIL)
  while (at >= 0 && unpack("4", tail, at)[0] !== END) at--
  if (at < 0) throw broken()
  const [, , , , count, length, start] = unpack(TAIL, tail, at)
  if (start === LARGEST || length > LONGEST_LIST) throw new ArchiveError("A browser reads zips of at most 4 GB.")
  const list = await read(blob, start, start + length)
  /** @type {Entry[]} */
  const entries = []
  let unpacked = 0
  for (let i = 0, line = 0; i < count; i++) {
    const numbers = unpack(LINE, list, line)
    const [mark, , , flags, method, time, crc, packed, size, name, more, comment, , , attributes, offset] = numbers
    const place = line + lengthOf(LINE), extra = place + name
    line = extra + more + comment
    if (mark !== LISTED || line > list.length) throw broken()
    const path = new TextDecoder().decode(list.subarray(place, extra)).normalize()
    // Kinds of files as Unix knows them: those that are none are folders, links and the like.
    if (path.endsWith("/") || ![0, 8].includes(attributes >>> 28)) continue
    unpacked += size
    const date = dateOf(list.subarray(extra, extra + more), time)
    entries.push({path, size, date, flags, method, crc, packed, offset})
  }
  if (unpacked > blob.size * GREATEST_RATIO) throw new ArchiveError("It unpacks to more than its size can hold.")
  return entries
}

// By the extended timestamp, which is in UTC; else as MS-DOS had it.
/** @type {(extra: Uint8Array, time: number) => number} */
const dateOf = (extra, time) => {
  for (let at = 0; at + 4 <= extra.length;) {
    const [id, size, flags, seconds] = unpack("2214", extra, at)
    if (id === TIME && flags & 1) return (seconds | 0) * 1000
    at += 4 + size
  }
  return new Date((time >>> 25) + 1980, (time >>> 21 & 15) - 1, time >>> 16 & 31, time >>> 11 & 31, time >>> 5 & 63,
    (time & 31) * 2).getTime()
}

/**
 * The bytes of a file in a zip. An ArchiveError if they are not those that were packed.
 * @param {Blob} blob
 * @param {Entry} entry
 */
export const readEntry = async (blob, {size, flags, method, crc, packed, offset}) => {
  if (flags & ENCRYPTED) throw new ArchiveError("It is encrypted. Unpack it, and import the files.")
  const start = offset + lengthOf(HEAD)
  const [mark, , , , , , , , name, extra] = unpack(HEAD, await read(blob, offset, start))
  const body = blob.slice(start + name + extra, start + name + extra + packed)
  if (mark !== FILE || body.size !== packed) throw broken()
  if (!method) {
    if (packed !== size || await crcOf(body) !== crc) throw broken()
    return body
  }
  if (method !== DEFLATED || !("DecompressionStream" in globalThis)) {
    throw new ArchiveError("This browser cannot unpack it.")
  }
  const gzip = new Blob([GZIP_HEAD, body, pack("44", crc, size)])
  const reader = gzip.stream().pipeThrough(new DecompressionStream("gzip")).getReader()
  const pieces = []
  for (let left = size; ;) {
    // What is more than it said, has another CRC, or is no deflated body ends here.
    const {done, value} = await reader.read().catch(() => { throw broken() })
    if (done) return new Blob(pieces)
    left -= value.length
    if (left < 0) {
      reader.cancel().catch(() => {})
      throw broken()
    }
    pieces.push(value)
  }
}
