// Zip files (APPNOTE 6.3.10) below 4 GB, never read whole. Browsers deflate as gzip: a deflated body between a head and
// its CRC-32 and length. So the stream makes what a zip needs, and checks it when it is read.

/** Why an archive cannot be made or read, in a sentence for people. */
export class ArchiveError extends Error {}

const TOO_LARGE = "A browser packs and unpacks at most 4 GB and 65,535 files. The server's `hesper` command does more."
const LARGEST = 0xffffffff, MOST_FILES = 0xffff, LONGEST_LIST = 64 << 20
/** What is smaller is stored: to begin a stream takes longer than it is worth. */
const SMALL = 4096
const FILE = 0x04034b50, LISTED = 0x02014b50, END = 0x06054b50, DEFLATED = 8, UTF8 = 0x0800, ENCRYPTED = 1
/** The head of a file, its line in the list, and the end: how many bytes each number has, and all. */
const HEAD = "4222444422", LINE = `42${HEAD.slice(1)}22244`, TAIL = "42222442"
const HEAD_SIZE = 30, LINE_SIZE = 46, TAIL_SIZE = 22
const GZIP_HEAD = Uint8Array.of(0x1f, 0x8b, DEFLATED, 0, 0, 0, 0, 0, 0, 255)

const pack = (layout, ...numbers) => Uint8Array.from([...layout].flatMap((size, i) =>
  [0, 8, 16, 24].slice(0, +size).map(shift => numbers[i] >>> shift)))

const unpack = (layout, bytes, at = 0) => [...layout].map(size => {
  let number = 0
  for (let i = 0; i < +size; i++) number += (bytes[at++] ?? 0) * 2 ** (8 * i)
  return number
})

const read = async (blob, start, end) => new Uint8Array(await blob.slice(start, end).arrayBuffer())

const table = Int32Array.from({length: 256}, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? byte >>> 1 ^ 0xedb88320 : byte >>> 1
  return byte
})

const crcOf = async blob => {
  let crc = -1
  for (let at = 0; at < blob.size; at += 1 << 20) {
    for (const byte of await read(blob, at, at + (1 << 20))) crc = crc >>> 8 ^ table[(crc ^ byte) & 255]
  }
  return ~crc >>> 0
}

/** As MS-DOS has it: local, since 1980, in two seconds. */
const packDate = ms => {
  const date = new Date(ms)
  return Math.max(date.getFullYear() - 1980, 0) << 25 | date.getMonth() + 1 << 21 | date.getDate() << 16
    | date.getHours() << 11 | date.getMinutes() << 5 | date.getSeconds() >> 1
}

const unpackDate = time => new Date((time >>> 25) + 1980, (time >>> 21 & 15) - 1, time >>> 16 & 31,
  time >>> 11 & 31, time >>> 5 & 63, (time & 31) * 2).getTime()

/** Makes a zip, file by file. What stays as it is, is not copied. */
export class ZipWriter {
  #parts = []
  #list = []
  #size = 0

  /** @param {string} path @param {Blob} blob @param {number} date in ms @param {boolean} isDeflated */
  async add(path, blob, date, isDeflated) {
    let packed = blob, crc
    if (isDeflated && blob.size > SMALL) {
      const gzip = await new Response(blob.stream().pipeThrough(new CompressionStream("gzip"))).blob()
      crc = unpack("4", await read(gzip, gzip.size - 8))[0]
      packed = gzip.slice(GZIP_HEAD.length, -8)
    }
    const name = new TextEncoder().encode(path)
    const head = [20, UTF8, packed === blob ? 0 : DEFLATED, packDate(date), crc ?? await crcOf(blob),
      packed.size, blob.size, name.length, 0]
    this.#list.push(new Blob([pack(LINE, LISTED, 20, ...head, 0, 0, 0, 0, this.#size), name]))
    this.#parts.push(pack(HEAD, FILE, ...head), name, packed)
    this.#size += HEAD_SIZE + name.length + packed.size
    if (this.#size > LARGEST || this.#list.length > MOST_FILES) throw new ArchiveError(TOO_LARGE)
  }

  finish() {
    const list = new Blob(this.#list), {length} = this.#list
    return new Blob([...this.#parts, list, pack(TAIL, END, 0, 0, length, length, list.size, this.#size, 0)],
      {type: "application/zip"})
  }
}

const broken = () => new ArchiveError("It is broken, or no zip. Make it anew.")

/** What its list says, less the folders. @type {(blob: Blob) => Promise<ZipEntry[]>} */
export const listZip = async blob => {
  const tail = await read(blob, Math.max(0, blob.size - TAIL_SIZE - MOST_FILES))
  let at = tail.length - TAIL_SIZE
  while (at >= 0 && unpack("4", tail, at)[0] !== END) at--
  if (at < 0) throw broken()
  const [, , , , count, length, start] = unpack(TAIL, tail, at)
  if (start === LARGEST || length > LONGEST_LIST) throw new ArchiveError(TOO_LARGE)
  const list = await read(blob, start, start + length), entries = []
  for (let i = 0, line = 0; i < count; i++) {
    const [mark, , , flags, method, time, crc, packed, size, name, extra, comment, , , , offset] = unpack(LINE, list, line)
    const path = new TextDecoder().decode(list.subarray(line + LINE_SIZE, line + LINE_SIZE + name)).normalize()
    line += LINE_SIZE + name + extra + comment
    if (mark !== LISTED || line > list.length) throw broken()
    if (!path.endsWith("/")) entries.push({path, size, date: unpackDate(time), flags, method, crc, packed, offset})
  }
  return entries
}

/** An ArchiveError if they are not the bytes that were packed. @param {Blob} blob @param {ZipEntry} entry */
export const readEntry = async (blob, {size, flags, method, crc, packed, offset}) => {
  if (flags & ENCRYPTED || ![0, DEFLATED].includes(method)) {
    throw new ArchiveError("It is encrypted or packed as browsers cannot unpack it. Unpack it, and import the files.")
  }
  const [mark, , , , , , , , name, extra] = unpack(HEAD, await read(blob, offset, offset + HEAD_SIZE))
  const start = offset + HEAD_SIZE + name + extra, body = blob.slice(start, start + packed)
  if (mark !== FILE || body.size !== packed) throw broken()
  if (!method) {
    if (packed !== size || await crcOf(body) !== crc) throw broken()
    return body
  }
  const pieces = []
  let left = size
  // What is more than it said, has another CRC, or is no deflated body ends here.
  await new Blob([GZIP_HEAD, body, pack("44", crc, size)]).stream().pipeThrough(new DecompressionStream("gzip"))
    .pipeTo(new WritableStream({write: piece => {
      pieces.push(piece)
      left -= piece.length
      if (left < 0) throw broken()
    }})).catch(() => { throw broken() })
  return new Blob(pieces)
}
