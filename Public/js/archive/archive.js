// Everything as one zip, as the server exports it, and in again; texts, as `hesper import` takes them.
import {
  ZERO, derivedID, emptyEntity, exists, fold, formatDate, hashOf, hashOfDeleted, hashOfFile, isID, makeClock, newID,
  parseDate, partsOf, readState, resolve, sectionOf, utf8, valueOf, writeState, xor,
} from "../model/entity.js"
import {foldName, titleOf} from "../model/text.js"
import {clockIn} from "../store/copy.js"

class ArchiveError extends Error {
  name = "ArchiveError"
  slug = this.message
}

const LARGEST = 0xffffffff, MOST_FILES = 0xffff, LONGEST_LIST = 64 << 20
const FILE = 0x04034b50, LISTED = 0x02014b50, END = 0x06054b50, DEFLATED = 8, UTF8 = 0x0800, ENCRYPTED = 1
// How many bytes each number has: in the head of a file, its line in the list, the end.
const HEAD = "4222444422", LINE = `42${HEAD.slice(1)}22244`, TAIL = "42222442"
const HEAD_SIZE = 30, LINE_SIZE = 46, TAIL_SIZE = 22
// Browsers unpack a deflated body between this and its CRC-32 and length.
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

// As MS-DOS has it: local, since 1980, in two seconds.
const packDate = ms => {
  const date = new Date(ms)
  return Math.max(date.getFullYear() - 1980, 0) << 25 | date.getMonth() + 1 << 21 | date.getDate() << 16
    | date.getHours() << 11 | date.getMinutes() << 5 | date.getSeconds() >> 1
}

const unpackDate = time => new Date((time >>> 25) + 1980, (time >>> 21 & 15) - 1, time >>> 16 & 31,
  time >>> 11 & 31, time >>> 5 & 63, (time & 31) * 2).getTime()

export class ZipWriter {
  #parts = []
  #list = []
  #size = 0

  async add(path, blob, date) {
    const name = utf8(path), {size} = blob
    const head = [20, UTF8, 0, packDate(date), await crcOf(blob), size, size, name.length, 0]
    this.#list.push(new Blob([pack(LINE, LISTED, 20, ...head, 0, 0, 0, 0, this.#size), name]))
    this.#parts.push(pack(HEAD, FILE, ...head), name, blob)
    this.#size += HEAD_SIZE + name.length + size
    if (this.#size > LARGEST || this.#list.length > MOST_FILES) throw new ArchiveError("zip-too-large")
  }

  finish() {
    const list = new Blob(this.#list), {length} = this.#list
    const tail = pack(TAIL, END, 0, 0, length, length, list.size, this.#size, 0)
    return new Blob([...this.#parts, list, tail], {type: "application/zip"})
  }
}

const broken = () => new ArchiveError("broken")

/** @type {Archive["listZip"]} */
export const listZip = async blob => {
  const tail = await read(blob, Math.max(0, blob.size - TAIL_SIZE - MOST_FILES))
  let at = tail.length - TAIL_SIZE
  while (at >= 0 && unpack("4", tail, at)[0] !== END) at--
  if (at < 0) throw broken()
  const [, , , , count, length, start] = unpack(TAIL, tail, at)
  if (start === LARGEST || length > LONGEST_LIST) throw new ArchiveError("zip-too-large")
  const list = await read(blob, start, start + length), entries = []
  for (let i = 0, line = 0; i < count; i++) {
    const [mark, , , flags, method, time, crc, packed, size, name, extra, comment, , , , offset] =
      unpack(LINE, list, line)
    const path = new TextDecoder().decode(list.subarray(line + LINE_SIZE, line + LINE_SIZE + name)).normalize()
    line += LINE_SIZE + name + extra + comment
    if (mark !== LISTED || line > list.length) throw broken()
    if (!path.endsWith("/")) entries.push({path, size, date: unpackDate(time), flags, method, crc, packed, offset})
  }
  return entries
}

/** @type {Archive["readEntry"]} */
export const readEntry = async (blob, {size, flags, method, crc, packed, offset}) => {
  if (flags & ENCRYPTED || ![0, DEFLATED].includes(method)) throw new ArchiveError("packed-otherwise")
  const [mark, , , , , , , , name, extra] = unpack(HEAD, await read(blob, offset, offset + HEAD_SIZE))
  const start = offset + HEAD_SIZE + name + extra, body = blob.slice(start, start + packed)
  if (mark !== FILE || body.size !== packed) throw broken()
  if (!method) {
    if (packed !== size || await crcOf(body) !== crc) throw broken()
    return body
  }
  const pieces = []
  let left = size
  const write = piece => {
    if ((left -= piece.length) < 0) throw broken()
    pieces.push(piece)
  }
  await new Blob([GZIP_HEAD, body, pack("44", crc, size)]).stream().pipeThrough(new DecompressionStream("gzip"))
    .pipeTo(new WritableStream({write})).catch(() => { throw broken() })
  return new Blob(pieces)
}

const DOCUMENT = "hesper.json", FORMAT = "hesper-export", VERSION = 1, LARGEST_DOCUMENT = 256 << 20
const SECTIONS = ["tags", "attachments", "objects", "notes"]
const LONGEST_NAME = 60 // of at most 4 bytes each

const nameOf = words => [...words.replace(/[/\\:|<>"?*\s\p{C}]+/gu, found => found.trim() ? "-" : " ")]
  .slice(0, LONGEST_NAME).join("").replace(/^[ .~-]+|[ .]+$/g, "").replace(/^(con|prn|aux|nul|com\d|lpt\d)$/i, "$&_")

const namer = () => {
  const taken = new Map()
  return (stem, ending) => {
    const wanted = foldName(stem + ending)
    let path = stem + ending, number = taken.get(wanted) ?? 1
    while (taken.has(foldName(path))) path = `${stem} ${++number}${ending}`
    taken.set(foldName(path), 1).set(wanted, number)
    return path
  }
}

/** @type {Archive["exportAll"]} */
export const exportAll = async (copy, {bytesOf = id => copy.bytes(id), progress = () => {}, now = Date.now()} = {}) => {
  const zip = new ZipWriter(), pathFor = namer(), files = {}, missing = [], exportDate = formatDate(now)
  const ageOf = ({uniqueID, fixed: {creationDate = ""}}) => creationDate + uniqueID
  const entities = [...copy.entities()].sort((a, b) => ageOf(a) < ageOf(b) ? -1 : 1)
  const of = section => entities.filter(({type}) => sectionOf(type) === section)
  const notes = of("notes"), attachments = of("attachments"), all = [...notes, ...attachments]
  for (const [done, entity] of all.entries()) {
    const {uniqueID, type, fixed, registers} = entity
    if (type === "note") {
      const text = valueOf(entity, "text"), folder = valueOf(entity, "archived") ? "Archive/" : ""
      const path = files[uniqueID] = pathFor(folder + (nameOf(titleOf(text)) || "Untitled"), ".md")
      const date = (registers.text?.[1] ?? fixed.creationDate).slice(0, 24)
      await zip.add(path, new Blob([text]), Date.parse(date))
    } else {
      const {filename = `${uniqueID}.${fixed.mimeType.replace(/.*\/|\W.*/g, "")}`} = fixed
      const [, stem, ending = ""] = /^(.*?)(\.\w{1,10})?$/s.exec(filename) ?? []
      const blob = await bytesOf(uniqueID).catch(() => undefined)
      if (!blob) missing.push(entity)
      else await zip.add(files[uniqueID] = pathFor(`Attachments/${nameOf(stem) || uniqueID}`, ending), blob, now)
    }
    progress(done + 1, all.length)
  }
  const deletedObjects = [...copy.memory.deleted.values()].map(one => ({...one, hash: undefined}))
  const hashes = [...deletedObjects.map(hashOfDeleted), ...entities.map(hashOf)]
  const contents = JSON.stringify({
    format: FORMAT, formatVersion: VERSION, exportDate, digest: hashes.reduce(xor, ZERO), files, deletedObjects,
    missing: missing.map(one => one.uniqueID),
    ...Object.fromEntries(SECTIONS.map(name => [name, of(name).map(writeState)])),
  })
  await zip.add(DOCUMENT, new Blob([contents]), now)
  return {
    blob: zip.finish(), name: `hesper-${exportDate.slice(0, 10)}.zip`, notes: notes.length,
    attachments: attachments.length - missing.length,
    missing: missing.map(({uniqueID, fixed}) => fixed.filename ?? uniqueID),
  }
}

const BATCH = 200
// The namespaces of Sources/hesper/Import.
const NOTES = "6d1f8a52-c3e0-4b7d-9e24-51b07f6ad318", TEXTS = "2b90e47c-15d8-4f03-a8c6-3d9f02b17e54"
const TAGS = "e1c407a9-8d36-4275-b58f-1e6093d24ca7"
const STORES = ["meta", "objects", "deleted", "deletions", "made", "unsent", "bytes"]
const HIDDEN = /(^|\/)(\.|__MACOSX\/)/

const refusing = (reason, body) => {
  try {
    return body()
  } catch {
    throw new ArchiveError(reason)
  }
}

/** Read, so that what is kept is no part of a file that may change on the disk. */
const bytesIn = async ({size, read}, limit) => {
  if (size > limit) throw new ArchiveError("too-large")
  return (await read()).arrayBuffer()
}

const textIn = async (source, limit) => {
  const bytes = await bytesIn(source, limit)
  return refusing("no-text", () => {
    const text = new TextDecoder("utf-8", {fatal: true}).decode(bytes)
    if (text.includes("\0")) throw new RangeError()
    return text
  })
}

/** Whether nothing here stumbles: the server says what else is wrong. */
const isRight = (name, value) => {
  const [kind, key] = name.split(/\.(.*)/s)
  if (kind === "attributes") return value !== undefined && Object(value) !== value
  const isFlag = key || kind === "archived", isNumber = /^(width|height|byteCount)$/.test(kind)
  return typeof value === (isFlag ? "boolean" : isNumber ? "number" : "string")
    && (!key || isID(key)) && (!kind.endsWith("Date") || parseDate(value) !== null)
}

const readOne = (section, state, merged) => {
  const entity = readState(section, state), {uniqueID, fixed, registers} = entity
  for (const [attribute, register] of Object.entries(registers)) {
    const tag = attribute.startsWith("tags.") && resolve(attribute.slice(5), merged, () => true)
    if (tag) fold(entity, {...entity, fixed: {}, registers: {[`tags.${tag}`]: register}})
  }
  const areRight = Object.entries(fixed).every(([name, value]) => isRight(name, value))
    && Object.entries(registers).every(([name, [value, clock]]) => partsOf(clock) && isRight(name, value))
  if (!isID(uniqueID) || !exists(entity) || !areRight) throw new RangeError()
  return entity
}

const restoring = async (copy, found, sources) => {
  const text = await textIn(found, LARGEST_DOCUMENT), folder = found.path.slice(0, -DOCUMENT.length)
  return refusing("not-as-exported", () => {
    const document = JSON.parse(text), {format, formatVersion, deletedObjects, files} = document
    if (format !== FORMAT || formatVersion !== VERSION) throw new RangeError()
    const gone = deletedObjects.filter(one => !copy.memory.deleted.has(one.uniqueID))
    const merged = new Map(gone.map(one => [one.uniqueID, one]))
    return SECTIONS.flatMap(section => document[section].map(state => [`${section} ${state?.uniqueID}`, async () => {
      const entity = refusing("not-as-exported", () => readOne(section, state, merged)), {uniqueID, fixed} = entity
      if (section !== "attachments" || copy.known(uniqueID)) return [{entity}]
      const source = sources.find(({path}) => path === (folder + files[uniqueID]).normalize())
      const bytes = source && await bytesIn(source, copy.limits.attachmentBytes)
      const isThere = bytes && await hashOfFile(bytes) === fixed.sha256
      if (!isThere) throw new ArchiveError("bytes-missing")
      return [{entity, blob: new Blob([bytes], {type: fixed.mimeType})}]
    }]))
  })
}

const noteFrom = async (copy, {path, date, ...source}, made) => {
  const text = await textIn(source, copy.limits.textBytes), isDead = id => copy.memory.deleted.has(id)
  const id = derivedID(NOTES, (path.includes("/") ? path : `${path}\n${text}`).normalize())
  const moment = Math.min(Math.max(date, 0), Date.now()), creationDate = formatDate(moment)
  const clock = makeClock(moment, parseInt(derivedID(TEXTS, text).slice(-4), 16), id.slice(19).replace("-", ""))
  const entity = {...emptyEntity(id, "note"), fixed: {creationDate}}, {registers} = entity, known = copy.known(id)
  if (!known || valueOf(known, "text") !== text) registers.text = [text, clock]
  if (known || isDead(id)) return [{entity}]
  registers.sortDate = [creationDate, clock]
  const tags = path.split("/").slice(1, -1).filter(foldName).map(name => {
    const folded = foldName(name), derived = derivedID(TAGS, folded)
    // A deleted tag does not come back, and one that has another name is another tag by now.
    const free = copy.known(derived) || isDead(derived) ? newID() : derived
    const uniqueID = made.get(folded) ?? copy.tagNamed(name) ?? free
    registers[`tags.${uniqueID}`] = [true, clock]
    made.set(folded, uniqueID)
    return {...emptyEntity(uniqueID, "tag"), registers: {name: [name, ""]}}
  })
  return [...tags.filter(tag => !copy.known(tag.uniqueID)).map(entity => ({entity})), {entity}]
}

const takeIn = async (tx, {entity: {uniqueID, type, fixed, registers}, blob}) => {
  const source = await clockIn(tx), now = Date.now(), stores = ["objects", "made", "deleted", "deletions"]
  const [standing, made, ...dead] = await Promise.all(stores.map(store => tx.get(store, uniqueID)))
  if (dead.some(Boolean)) return "deleted"
  const isNew = !made && !(standing && exists(standing))
  if (isNew) tx.put("made", {uniqueID, type, fixed, needsBytes: !!blob})
  if (isNew && blob) tx.put("bytes", {uniqueID, blob, lastUse: now})
  const unsent = (await tx.getAllBy("unsent", "uniqueID", uniqueID)).map(edit => edit.attribute)
  let outcome = isNew ? "new" : "unchanged"
  for (const [attribute, [value, clock]] of Object.entries(registers)) {
    if (unsent.includes(attribute) || standing?.registers[attribute]?.[1] >= clock) continue
    tx.put("unsent", {uniqueID, attribute, type, value, clock: clock || source.tick(now)})
    if (!isNew) outcome = "changed"
  }
  return outcome
}

/** @type {Archive["importFiles"]} */
export const importFiles = async (copy, files, progress = () => {}) => {
  /** @type {ImportReport} */
  const report = {
    notes: 0, tags: 0, attachments: 0, objects: 0, changed: 0, unchanged: 0, deleted: 0, passedOver: 0, refused: [],
  }
  const tasks = [], madeTags = new Map()
  const trying = (path, body) => body().catch(error => {
    if (!(error instanceof ArchiveError)) throw error
    report.refused.push({path, reason: error.message})
  })
  const addText = source => {
    const {path, size} = source
    if (HIDDEN.test(path) || !/\.(md|markdown|txt|text)$/i.test(path) || !size) report.passedOver++
    else tasks.push([path, () => noteFrom(copy, source, madeTags)])
  }
  const addZip = async zip => {
    const sources = (await listZip(zip)).map(entry => ({...entry, read: () => readEntry(zip, entry)}))
    const found = sources.find(({path}) => path.split("/").pop() === DOCUMENT)
    if (found) return tasks.push(...await restoring(copy, found, sources))
    // A zip of a folder is that folder.
    const tops = new Set(sources.filter(({path}) => !HIDDEN.test(path)).map(({path}) => /^[^/]*\/|/.exec(path)?.[0]))
    const folder = tops.size === 1 && !tops.has("") ? "" : zip.name.replace(/\.[^.]*$/, "/")
    for (const source of sources) addText({...source, path: folder + source.path})
  }
  for (const file of files) {
    const path = file.webkitRelativePath || file.name
    if (/\.zip$/i.test(path)) await trying(path, () => addZip(file))
    else addText({path, date: file.lastModified, size: file.size, read: () => file})
  }
  let items = []
  for (const [i, [path, make]] of tasks.entries()) {
    await trying(path, async () => items.push(...await make()))
    if (items.length < BATCH && !items[items.length - 1]?.blob && i < tasks.length - 1) continue
    await copy.transaction(STORES, "readwrite", async tx => {
      for (const item of items) item.outcome = await takeIn(tx, item)
    }, "here")
    for (const {entity: {type}, outcome} of items) {
      if (outcome === "new") report[sectionOf(type)]++
      else if (type === "note") report[outcome]++
    }
    items = []
    progress(i + 1, tasks.length)
  }
  return report
}
