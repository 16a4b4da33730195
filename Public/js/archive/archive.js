// Everything here as one zip, laid out as the server's GET /v1/export is: Markdown, attachments, and hesper.json; and in
// again, as often as one likes, with texts beside. IDs are those of the export, or derived from where a text lies as
// `hesper import` derives them: so nothing comes twice, here or there.
import {ZERO, clockOf, emptyEntity, exists, fold, formatDate, hashOf, hashOfDeleted, makeClock, parseDate, partsOf, readState, resolve, sectionOf, valueOf, writeState, xor} from "../model/entity.js"
import {derivedID, hashOfFile, hex, isID, newID} from "../model/hash.js"
import {foldName} from "../model/terms.js"
import {titleOf} from "../model/text.js"
import {clockIn} from "../store/records.js"
import {ArchiveError, ZipWriter, listZip, readEntry} from "./zip.js"

const DOCUMENT = "hesper.json", FORMAT = "hesper-export", VERSION = 1
const LARGEST_DOCUMENT = 256 << 20
const LONGEST_NAME = 60 // of at most 4 bytes each: with a number and an ending, what every system takes
const BATCH = 200 // objects of one transaction
// The namespaces of Sources/hesper/Import.
const NOTES = "6d1f8a52-c3e0-4b7d-9e24-51b07f6ad318", TEXTS = "2b90e47c-15d8-4f03-a8c6-3d9f02b17e54"
const TAGS = "e1c407a9-8d36-4275-b58f-1e6093d24ca7"
const STORES = ["meta", "objects", "deleted", "deletions", "made", "unsent", "bytes"]
/** Also what macOS adds for itself. */
const HIDDEN = /(^|\/)(\.|__MACOSX\/)/
const NOT_AS_EXPORTED = "It is not as an export has it, or made by a later Hesper. Reload the page, and try again."

/** What Windows takes for a device gets a line. */
const safeName = words => [...words.replace(/[/\\:|<>"?*\s\p{C}]+/gu, found => found.trim() ? "-" : " ")]
  .slice(0, LONGEST_NAME).join("").replace(/^[ .~-]+|[ .]+$/g, "").replace(/^(con|prn|aux|nul|com\d|lpt\d)$/i, "$&_")

/** A path for each file, also where upper and lower case are one. */
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

/** @type {(copy: Copy, how?: ExportOptions) => Promise<Exported>} */
export const exportAll = async (copy, {bytesOf = id => copy.bytes(id), progress = () => {}, now = Date.now()} = {}) => {
  const zip = new ZipWriter(), pathFor = namer(), files = {}, missing = []
  const ageOf = ({uniqueID, fixed}) => (fixed.creationDate ?? "") + uniqueID
  // The oldest first: names go to those that have had them for longest.
  const entities = [...copy.entities()].sort((a, b) => ageOf(a) < ageOf(b) ? -1 : 1)
  const of = section => entities.filter(({type}) => sectionOf(type) === section)
  const notes = of("notes"), attachments = of("attachments"), all = [...notes, ...attachments]
  for (const [done, entity] of all.entries()) {
    const {uniqueID, type, fixed} = entity
    if (type === "note") {
      const text = valueOf(entity, "text"), stem = safeName(titleOf(text)) || "Untitled"
      const path = files[uniqueID] = pathFor((valueOf(entity, "archived") ? "Archive/" : "") + stem, ".md")
      await zip.add(path, new Blob([text]), Date.parse((clockOf(entity, "text") ?? fixed.creationDate).slice(0, 24)), true)
    } else {
      const blob = await bytesOf(uniqueID).catch(() => undefined)
      const {filename = `${uniqueID}.${/\/(\w+)/.exec(fixed.mimeType)?.[1]}`} = fixed
      const [, stem, ending] = /^(.*?)(\.\w{1,10})?$/s.exec(filename) ?? []
      if (!blob) missing.push(entity)
      else await zip.add(files[uniqueID] = pathFor(`Attachments/${safeName(stem) || uniqueID}`, ending ?? ""), blob, now, false)
    }
    progress(done + 1, all.length)
  }
  const deletedObjects = [...copy.memory.deleted.values()]
    .map(({uniqueID, objectType, mergedInto, deletionDate}) => ({uniqueID, objectType, mergedInto, deletionDate}))
  const hashes = [...deletedObjects.map(hashOfDeleted), ...entities.map(hashOf)]
  const exportDate = formatDate(now), lists = ["tags", "attachments", "objects", "notes"].map(name => [name, of(name).map(writeState)])
  const document = {
    format: FORMAT, formatVersion: VERSION, exportDate, digest: hashes.reduce((sum, hash) => xor(sum, hex(hash)), ZERO),
    missing: missing.map(one => one.uniqueID), files, deletedObjects, ...Object.fromEntries(lists),
  }
  await zip.add(DOCUMENT, new Blob([JSON.stringify(document)]), now, true)
  return {
    blob: zip.finish(), name: `hesper-${exportDate.slice(0, 10)}.zip`, notes: notes.length,
    attachments: attachments.length - missing.length,
    missing: missing.map(({uniqueID, fixed}) => `${fixed.filename ?? uniqueID}: its bytes are not here.`),
  }
}

const refusing = (reason, body) => {
  try {
    return body()
  } catch {
    throw new ArchiveError(reason)
  }
}

const bytesOf = async ({size, read}, limit) => {
  if (size > limit) throw new ArchiveError(`It has more than ${limit} bytes.`)
  // Read, so that what is kept is no part of a file that may change on the disk.
  return (await read()).arrayBuffer()
}

const textOf = async (source, limit) => {
  const bytes = await bytesOf(source, limit)
  const text = refusing("It is not UTF-8.", () => new TextDecoder("utf-8", {fatal: true}).decode(bytes))
  if (text.includes("\0")) throw new ArchiveError("It holds U+0000, no text.")
  return text
}

const KINDS = new Map(Object.entries({archived: "boolean", tags: "boolean", attachments: "boolean", width: "number", height: "number", byteCount: "number"}))

/**
 * Whether nothing here stumbles over it; the rest of what is wrong the server refuses.
 * @param {any[]} attribute name and value
 */
const isRight = ([name, value]) => {
  const [, kind, key] = /^(\w+)\.?(.*)$/s.exec(name) ?? []
  if (kind === "attributes") return value !== undefined && Object(value) !== value
  return typeof value === (KINDS.get(kind) ?? "string") && (!key || isID(key)) && (!/Date$/.test(kind) || parseDate(value) !== null)
}

const readOne = (section, state, merged) => {
  const entity = readState(section, state), {uniqueID, fixed, registers} = entity
  // An import deletes nothing. But it follows tags that were merged into others before.
  for (const [attribute, register] of Object.entries(registers)) {
    const tag = attribute.startsWith("tags.") && resolve(attribute.slice(5), merged, () => true)
    if (tag) fold(entity, {...entity, fixed: {}, registers: {[`tags.${tag}`]: register}})
  }
  const values = Object.entries(registers).map(([name, [value, clock]]) => partsOf(clock) && [name, value])
  if (!isID(uniqueID) || !exists(entity) || ![...Object.entries(fixed), ...values].every(isRight)) throw new RangeError()
  return entity
}

/** Makes objects of files, and takes them in. */
class Import {
  /** @type {ImportReport} */
  report = {notes: 0, tags: 0, attachments: 0, objects: 0, changed: 0, unchanged: 0, deleted: 0, passedOver: 0, refused: []}
  /** What is to be made, by its path. */
  #tasks = []
  /** What is to be taken in. @type {ImportItem[]} */
  #items = []
  /** The tags that it made, by their folded names. */
  #tags = new Map()

  constructor(copy) {
    this.copy = copy
  }

  /** What is wrong with a file is in the report, what is wrong with the copy is thrown. */
  async #try(path, body) {
    try {
      await body()
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error
      this.report.refused.push({path, reason: error.message})
    }
  }

  async run(files, progress) {
    for (const file of files) {
      const path = file.webkitRelativePath || file.name
      if (/\.zip$/i.test(path)) await this.#try(path, () => this.#addZip(file))
      else this.#addText({path, date: file.lastModified, size: file.size, read: () => file})
    }
    const tasks = this.#tasks, items = this.#items
    for (const [i, [path, make]] of tasks.entries()) {
      await this.#try(path, make)
      if (items.length >= BATCH || items[items.length - 1]?.blob || i === tasks.length - 1) await this.#takeIn()
      progress(i + 1, tasks.length)
    }
    return this.report
  }

  #addText(source) {
    const {path, size} = source
    if (HIDDEN.test(path) || !/\.(md|markdown|txt|text)$/i.test(path) || !size) this.report.passedOver++
    else this.#tasks.push([path, () => this.#makeNote(source)])
  }

  async #addZip(zip) {
    const entries = await listZip(zip)
    const sources = entries.map(entry => ({...entry, read: () => readEntry(zip, entry)}))
    const document = sources.find(({path}) => path.split("/").pop() === DOCUMENT)
    if (document) return this.#restore(document, sources)
    // A zip of a folder is that folder.
    const [top, ...others] = new Set(entries.flatMap(({path}) => HIDDEN.test(path) ? [] : path.replace(/[^/]*$/, "").split("/")[0]))
    const folder = top && !others.length ? "" : zip.name.replace(/\.[^.]*$/, "/")
    for (const source of sources) this.#addText({...source, path: folder + source.path})
  }

  async #restore(found, sources) {
    const {limits, memory} = this.copy, text = await textOf(found, LARGEST_DOCUMENT)
    refusing(NOT_AS_EXPORTED, () => {
      const {format, formatVersion, deletedObjects, files, ...lists} = JSON.parse(text)
      if (format !== FORMAT || formatVersion !== VERSION) throw new RangeError()
      const merged = new Map(deletedObjects.filter(gone => !memory.deleted.has(gone.uniqueID)).map(gone => [gone.uniqueID, gone]))
      const folder = found.path.slice(0, -DOCUMENT.length)
      for (const section of ["tags", "attachments", "objects", "notes"]) for (const state of lists[section]) {
        this.#tasks.push([`${section} ${state?.uniqueID}`, async () => {
          const entity = refusing(NOT_AS_EXPORTED, () => readOne(section, state, merged)), {uniqueID, type, fixed} = entity
          if (type !== "attachment" || this.copy.known(uniqueID)) return this.#items.push({entity})
          const source = sources.find(({path}) => path === (folder + files[uniqueID]).normalize())
          const bytes = source && await bytesOf(source, limits.attachmentBytes)
          if (!bytes || await hashOfFile(bytes) !== fixed.sha256) throw new ArchiveError("The archive does not have its bytes.")
          this.#items.push({entity, blob: new Blob([bytes], {type: fixed.mimeType})})
        }])
      }
    })
  }

  /**
   * To the merge, a file is a device of its own: its node is half of the note's ID, its clock says when it was last
   * changed, with a counter from the text. A file in no folder is known by name and text.
   */
  async #makeNote({path, date, ...source}) {
    const {limits, memory} = this.copy, text = await textOf(source, limits.textBytes)
    const id = derivedID(NOTES, (path.includes("/") ? path : `${path}\n${text}`).normalize())
    const moment = Math.min(Math.max(date, 0), Date.now()), creationDate = formatDate(moment)
    const clock = makeClock(moment, parseInt(derivedID(TEXTS, text).slice(-4), 16), id.slice(19).replace("-", ""))
    const entity = {...emptyEntity(id, "note"), fixed: {creationDate}}, {registers} = entity, known = this.copy.known(id)
    // Of a note that is there, the text alone: an import undoes nothing that was done to it since the first one.
    if (!known || valueOf(known, "text") !== text) registers.text = [text, clock]
    if (!known && !memory.deleted.has(id)) {
      registers.sortDate = [creationDate, clock]
      for (const name of path.split("/").slice(1, -1).filter(foldName)) registers[`tags.${this.#tagNamed(name)}`] = [true, clock]
    }
    this.#items.push({entity})
  }

  /** The live tag of a folder's name, else one whose ID comes from it. */
  #tagNamed(name) {
    const {memory} = this.copy, folded = foldName(name), derived = derivedID(TAGS, folded)
    const standing = this.#tags.get(folded) ?? this.copy.tagNamed(name)
    if (standing) return standing
    // A deleted tag does not come back, and one that has another name is another tag by now.
    const id = this.copy.known(derived) || memory.deleted.has(derived) ? newID() : derived
    this.#tags.set(folded, id)
    this.#items.push({entity: {...emptyEntity(id, "tag"), registers: {name: [name, ""]}}})
    return id
  }

  /** Under their own clocks, as what is to be sent: what is here and newer, or unsent, stays. */
  async #takeIn() {
    const items = this.#items.splice(0), {report} = this
    const outcomes = await this.copy.transaction(STORES, "readwrite", async tx => {
      const outcomes = []
      for (const item of items) outcomes.push(await takeOne(tx, item))
      return outcomes
    }, "here")
    for (const [i, {entity: {type}}] of items.entries()) {
      if (outcomes[i] === "new") report[sectionOf(type)]++
      else if (type === "note") report[outcomes[i]]++
    }
  }
}

const takeOne = async (tx, {entity: {uniqueID, type, fixed, registers}, blob}) => {
  const source = await clockIn(tx), now = Date.now()
  const [standing, made, ...dead] = await Promise.all(["objects", "made", "deleted", "deletions"].map(store => tx.get(store, uniqueID)))
  if (dead.some(Boolean)) return "deleted"
  const isNew = !made && !(standing && exists(standing))
  if (isNew) tx.put("made", {uniqueID, type, fixed, ...blob && {needsBytes: true}})
  if (isNew && blob) tx.put("bytes", {uniqueID, blob, lastUse: now})
  const unsent = (await tx.getAllBy("unsent", "uniqueID", uniqueID)).map(edit => edit.attribute)
  const edits = Object.entries(registers).filter(([attribute, [, clock]]) =>
    !unsent.includes(attribute) && !(standing?.registers[attribute]?.[1] >= clock))
  for (const [attribute, [value, clock]] of edits) {
    tx.put("unsent", {uniqueID, attribute, type, value, clock: clock || source.tick(now)})
  }
  return isNew ? "new" : edits.length ? "changed" : "unchanged"
}

/**
 * Takes in files: exports, zips of texts, texts, folders of them (`webkitRelativePath`).
 * @type {(copy: Copy, files: File[], progress?: OnProgress) => Promise<ImportReport>}
 */
export const importFiles = (copy, files, progress = () => {}) => new Import(copy).run(files, progress)
