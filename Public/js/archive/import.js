// Importing exports, and texts as `hesper import` takes them (operating.md, Import).
import {formatDate, makeClock, parseDate, partsOf} from "../model/clock.js"
import {emptyEntity, exists, fold, readState, resolve, sectionOf, valueOf} from "../model/entity.js"
import {derivedID, hashOfFile, isID, newID} from "../model/hash.js"
import {foldName} from "../model/search.js"
import {clockIn} from "../store/records.js"
import {DOCUMENT, FORMAT, FORMAT_VERSION, SECTIONS} from "./export.js"
import {ArchiveError, listZip, readEntry} from "./zip.js"

/** How many objects one transaction takes in. */
const BATCH = 200
const MAX_DOCUMENT_BYTES = 256 << 20
// Namespaces of derived IDs, the same as those of `hesper import`.
const NOTES = "6d1f8a52-c3e0-4b7d-9e24-51b07f6ad318"
const TEXTS = "2b90e47c-15d8-4f03-a8c6-3d9f02b17e54"
const TAGS = "e1c407a9-8d36-4275-b58f-1e6093d24ca7"
const STORES = ["meta", "objects", "deleted", "deletions", "made", "unsent", "bytes"]
/** Files that systems hide. */
const HIDDEN = /(^|\/)(\.|__MACOSX\/)/

/** The result of `body`; whatever it throws becomes an ArchiveError. */
const refusing = (reason, body) => {
  try {
    return body()
  } catch {
    throw new ArchiveError(reason)
  }
}

/** A copy of the bytes: the file may change on the disk. */
const bytesIn = async ({size, read}, limit) => {
  if (size > limit) throw new ArchiveError("too-large")
  return (await read()).arrayBuffer()
}

/** The text of a file in UTF-8. */
const textIn = async (source, limit) => {
  const bytes = await bytesIn(source, limit)
  return refusing("no-text", () => {
    const text = new TextDecoder("utf-8", {fatal: true}).decode(bytes)
    if (text.includes("\0")) throw new RangeError()
    return text
  })
}

/** Whether a value has the type that this app expects of it. The server checks everything else. */
const isRight = (name, value) => {
  const [kind, key] = name.split(/\.(.*)/s)
  if (kind === "attributes") return value !== undefined && Object(value) !== value
  const isFlag = key || kind === "archived"
  const isNumber = /^(width|height|byteCount)$/.test(kind)
  return typeof value === (isFlag ? "boolean" : isNumber ? "number" : "string")
    && (!key || isID(key)) && (!kind.endsWith("Date") || parseDate(value) !== null)
}

/** An object of an export. Its tags that were merged are replaced by those that they were merged into. */
const readOne = (section, state, merged) => {
  const entity = readState(section, state)
  const {uniqueID, fixed, registers} = entity
  for (const [attribute, register] of Object.entries(registers)) {
    const tag = attribute.startsWith("tags.") && resolve(attribute.slice(5), merged, () => true)
    if (tag) fold(entity, {...entity, fixed: {}, registers: {[`tags.${tag}`]: register}})
  }
  const areRight = Object.entries(fixed).every(([name, value]) => isRight(name, value))
    && Object.entries(registers).every(([name, [value, clock]]) => partsOf(clock) && isRight(name, value))
  if (!isID(uniqueID) || !exists(entity) || !areRight) throw new RangeError()
  return entity
}

/** The tasks that import an export: for each object its path in the report, and a function that reads it. */
const restoring = async (copy, found, sources) => {
  const text = await textIn(found, MAX_DOCUMENT_BYTES)
  const folder = found.path.slice(0, -DOCUMENT.length)
  return refusing("not-as-exported", () => {
    const document = JSON.parse(text)
    const {format, formatVersion, deletedObjects, files} = document
    if (format !== FORMAT || formatVersion !== FORMAT_VERSION) throw new RangeError()
    const gone = deletedObjects.filter(one => !copy.memory.deleted.has(one.uniqueID))
    const merged = new Map(gone.map(one => [one.uniqueID, one]))
    return SECTIONS.flatMap(section => document[section].map(state => [`${section} ${state?.uniqueID}`, async () => {
      const entity = refusing("not-as-exported", () => readOne(section, state, merged))
      const {uniqueID, fixed} = entity
      if (section !== "attachments" || copy.known(uniqueID)) return [{entity}]
      const source = sources.find(({path}) => path === (folder + files[uniqueID]).normalize())
      const bytes = source && await bytesIn(source, copy.limits.attachmentBytes)
      const isThere = bytes && await hashOfFile(bytes) === fixed.sha256
      if (!isThere) throw new ArchiveError("bytes-missing")
      return [{entity, blob: new Blob([bytes], {type: fixed.mimeType})}]
    }]))
  })
}

/**
 * A note of a text file, with tags of its folders. Its ID is derived from the path, or from name and text of a file without a
 * folder; its clock from the file's date and text: importing it again, here or on another device, changes nothing.
 */
const noteFrom = async (copy, {path, date, ...source}, made) => {
  const text = await textIn(source, copy.limits.textBytes)
  const isDeleted = id => copy.memory.deleted.has(id)
  const id = derivedID(NOTES, (path.includes("/") ? path : `${path}\n${text}`).normalize())
  const moment = Math.min(Math.max(date, 0), Date.now())
  const creationDate = formatDate(moment)
  const clock = makeClock(moment, parseInt(derivedID(TEXTS, text).slice(-4), 16), id.slice(19).replace("-", ""))
  const entity = {...emptyEntity(id, "note"), fixed: {creationDate}}
  const {registers} = entity
  const known = copy.known(id)
  if (!known || valueOf(known, "text") !== text) registers.text = [text, clock]
  if (known || isDeleted(id)) return [{entity}]
  registers.sortDate = [creationDate, clock]
  const tags = path.split("/").slice(1, -1).filter(foldName).map(name => {
    const folded = foldName(name)
    const derived = derivedID(TAGS, folded)
    // A deleted tag does not come back, and a tag of this ID that was renamed is another tag now.
    const free = copy.known(derived) || isDeleted(derived) ? newID() : derived
    const uniqueID = made.get(folded) ?? copy.tagNamed(name) ?? free
    registers[`tags.${uniqueID}`] = [true, clock]
    made.set(folded, uniqueID)
    return {...emptyEntity(uniqueID, "tag"), registers: {name: [name, ""]}}
  })
  return [...tags.filter(tag => !copy.known(tag.uniqueID)).map(entity => ({entity})), {entity}]
}

/** Takes in an object. What is newer here, or unsent, stays. "new", "changed", "unchanged" or "deleted". */
const takeIn = async (tx, {entity: {uniqueID, type, fixed, registers}, blob}) => {
  const source = await clockIn(tx)
  const now = Date.now()
  const stores = ["objects", "made", "deleted", "deletions"]
  const [standing, made, ...deletions] = await Promise.all(stores.map(store => tx.get(store, uniqueID)))
  if (deletions.some(Boolean)) return "deleted"
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

/**
 * Imports files: exports, zips of texts, texts, folders of them (`webkitRelativePath`). Nothing is deleted, and nothing is
 * imported twice.
 *
 * @param {Copy} copy
 * @param {File[]} files
 * @param {OnProgress} [progress]
 * @returns {Promise<ImportReport>}
 */
export const importFiles = async (copy, files, progress = () => {}) => {
  /** @type {ImportReport} */
  const report = {
    notes: 0, tags: 0, attachments: 0, objects: 0, changed: 0, unchanged: 0, deleted: 0, skipped: 0, refused: [],
  }
  const tasks = []
  const madeTags = new Map()
  /** What is wrong with a file or object is reported; the others are imported. */
  const trying = (path, body) => body().catch(error => {
    if (!(error instanceof ArchiveError)) throw error
    report.refused.push({path, reason: error.message})
  })
  const addText = source => {
    const {path, size} = source
    if (HIDDEN.test(path) || !/\.(md|markdown|txt|text)$/i.test(path) || !size) report.skipped++
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
