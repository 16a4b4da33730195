// Brings back an export, made here or by a server, and takes in texts, as often as one likes: IDs are those of the export,
// or derived from where a text lies, exactly as `hesper import` derives them; so nothing comes twice, here or there.
import {formatDate, isClock, makeClock, parseDate, partsOf} from "../model/clock.js"
import {emptyEntity, exists, readState, valueOf} from "../model/entity.js"
import {hex, sha256, utf8} from "../model/hash.js"
import {foldName} from "../model/names.js"
import {derivedID, isID, newID} from "../model/uuid.js"
import {clockIn} from "../store/records.js"
import {ArchiveError, isZip, listZip, readEntry} from "./zip.js"

/** @typedef {import("../model/entity.js").Entity} Entity */
/** @typedef {import("../store/copy.js").Copy} Copy */
/** @typedef {{entity: Entity, path: string, blob?: Blob}} Item */
/** @typedef {{folder: string | null, folders: string[], name: string, date: number, size: number, read: () => Promise<Blob>}} Text */
/**
 * What became of it: `new` ones by section, notes that changed, that had all of it already, that were deleted and stay so,
 * what was refused and why, and files that are no texts.
 * @typedef {{notes: number, tags: number, attachments: number, objects: number, changed: number, unchanged: number,
 *   deleted: number, refused: {path: string, reason: string}[], passedOver: number}} Report
 */

const NOTES = "6d1f8a52-c3e0-4b7d-9e24-51b07f6ad318", TEXTS = "2b90e47c-15d8-4f03-a8c6-3d9f02b17e54"
const TAGS = "e1c407a9-8d36-4275-b58f-1e6093d24ca7"
/** How often a tag of one name can be imported and deleted or renamed, before its ID is random. */
const GENERATIONS = 100
const LARGEST_DOCUMENT = 256 << 20
/** Objects that are taken in at once. */
const BATCH = 200
/** How far a clock may be ahead (merge.md, Ahead), in ms. */
const AHEAD = 300_000
const SECTIONS = ["tags", "attachments", "objects", "notes"]
/** @type {Object<string, keyof Report>} */
const COUNTED = {note: "notes", tag: "tags", attachment: "attachments"}
const TEXT_FILE = /\.(?:md|markdown|txt|text)$/i
const NAME = /^[a-z][\w.-]{0,63}$/i

/**
 * Takes in files: exports, zips of texts, texts, and folders of them (`webkitRelativePath`). What is wrong with one of them
 * is in the report; what is wrong with the copy is thrown.
 * @param {Copy} copy
 * @param {File[]} files
 * @param {(done: number, of: number) => void} [progress]
 * @returns {Promise<Report>}
 */
export const importFiles = async (copy, files, progress = () => {}) => {
  /** @type {Report} */
  const report = {notes: 0, tags: 0, attachments: 0, objects: 0, changed: 0, unchanged: 0, deleted: 0, refused: [], passedOver: 0}
  /** @type {Text[]} */
  const texts = []
  for (const file of files) {
    const parts = (file.webkitRelativePath || file.name).split("/"), name = file.name
    const folder = parts.length > 1 ? parts[0] : null
    if (isHidden(parts)) report.passedOver++
    else if (TEXT_FILE.test(name) && file.size) {
      texts.push({folder, folders: parts.slice(1, -1), name, date: file.lastModified, size: file.size, read: async () => file})
    } else if (/\.zip$/i.test(name)) {
      await importZip(copy, file, report, texts, progress).catch(error => {
        if (!(error instanceof ArchiveError)) throw error
        report.refused.push({path: name, reason: error.message})
      })
    } else report.passedOver++
  }
  await importTexts(copy, texts, report, progress)
  return report
}

/**
 * Hidden files and folders, and what macOS adds to an archive for itself.
 * @type {(parts: string[]) => boolean}
 */
const isHidden = parts => parts[0] === "__MACOSX" || parts.some(part => part[0] === "." && part !== "..")

/** @type {(copy: Copy, zip: File, report: Report, texts: Text[], progress: (done: number, of: number) => void) => Promise<void>} */
const importZip = async (copy, zip, report, texts, progress) => {
  if (!await isZip(zip)) throw new ArchiveError("It is no zip.")
  const entries = await listZip(zip)
  const found = entries.find(({path}) => /^(?:[^/]*\/)?hesper\.json$/.test(path))
  const document = found && await readDocument(zip, found)
  if (document) return importExport(copy, zip, entries, document, found.path.slice(0, -"hesper.json".length), report, progress)
  // Some packers of Windows write its own separators.
  const all = entries.map(entry => ({entry, parts: entry.path.split(entry.path.includes("/") ? "/" : "\\").filter(part => part !== ".")}))
  const tops = new Set(all.filter(({parts}) => !isHidden(parts)).map(({parts}) => parts.length > 1 ? parts[0] : ""))
  const [top] = tops, isOneFolder = tops.size === 1 && top && top !== ".."
  for (const {entry, parts} of all) {
    const name = parts[parts.length - 1] ?? ""
    if (isHidden(parts) || !TEXT_FILE.test(name) || !entry.size) report.passedOver++
    else if (parts.some(part => !part || part === "..")) {
      report.refused.push({path: entry.path, reason: "Its path leads out of the archive."})
    } else {
      const folder = isOneFolder ? top : zip.name.replace(/\.[^.]*$/, "")
      texts.push({folder, folders: parts.slice(isOneFolder ? 1 : 0, -1), name, date: entry.date, size: entry.size,
        read: () => readEntry(zip, entry)})
    }
  }
}

/**
 * What an export says of itself; null if it is none.
 * @type {(zip: Blob, entry: import("./zip.js").Entry) => Promise<any>}
 */
const readDocument = async (zip, entry) => {
  if (entry.size > LARGEST_DOCUMENT) throw new ArchiveError("It is too large for a browser. Use `hesper import` on the server.")
  let document
  try {
    document = JSON.parse(await (await readEntry(zip, entry)).text())
  } catch (error) {
    if (error instanceof ArchiveError) throw error
  }
  if (document?.format !== "hesper-export") return null
  if (document.formatVersion !== 1) throw new ArchiveError("It was made by a later Hesper. Reload this page for a new version.")
  return document
}

/** @type {(copy: Copy, zip: Blob, entries: import("./zip.js").Entry[], document: any, folder: string, report: Report, progress: (done: number, of: number) => void) => Promise<void>} */
const importExport = async (copy, zip, entries, document, folder, report, progress) => {
  const byPath = new Map(entries.map(entry => [entry.path, entry]))
  /** @type {{section: string, state: any}[]} */
  const states = SECTIONS.flatMap(section => listOf(document[section]).map(state => ({section, state})))
  const merged = mergedIn(copy, document.deletedObjects)
  /** @type {Item[]} */
  let items = []
  for (const [i, {section, state}] of states.entries()) {
    const path = `${section} ${state?.uniqueID}`
    try {
      const entity = readState(section, state), {uniqueID, type, fixed} = entity
      const wrong = removeWrong(entity, copy.limits)
      if (wrong.length) report.refused.push({path, reason: `Not as an export has it: ${wrong.join(", ")}.`})
      if (!exists(entity) || !isID(uniqueID)) throw new ArchiveError("It is not as an export has it.")
      followMerges(entity, merged)
      const isNew = type === "attachment" && !copy.list.memory.known(uniqueID)
      const entry = byPath.get(`${folder}${document.files?.[uniqueID]}`.normalize())
      items.push({entity, path, blob: isNew ? await bytesOf(zip, entry, fixed, copy.limits.attachmentBytes) : undefined})
    } catch (error) {
      report.refused.push({path, reason: error instanceof ArchiveError ? error.message : "It is not as an export has it."})
    }
    if (items.length === BATCH || items[items.length - 1]?.blob || i === states.length - 1) {
      await takeIn(copy, items, report)
      items = []
      progress(i + 1, states.length)
    }
  }
}

/** @type {(value: any) => any[]} */
const listOf = value => Array.isArray(value) ? value : []

/**
 * Where tags of the export went that this browser does not know: their DeletedObjects are not taken in, as what lives here
 * shall not be deleted by an import.
 * @type {(copy: Copy, deletedObjects: any) => Map<string, string>}
 */
const mergedIn = (copy, deletedObjects) => new Map(listOf(deletedObjects)
  .filter(gone => isID(gone?.mergedInto) && !copy.list.memory.deleted.has(gone.uniqueID))
  .map(({uniqueID, mergedInto}) => [uniqueID, mergedInto]))

/**
 * Members that were merged into others become those; of several registers the greatest clock stands.
 * @type {(entity: Entity, merged: Map<string, string>) => void}
 */
const followMerges = ({registers}, merged) => {
  for (const [attribute, register] of Object.entries(registers)) {
    let id = attribute.slice("tags.".length)
    if (!attribute.startsWith("tags.") || !merged.has(id)) continue
    for (let steps = merged.size; steps && merged.has(id); steps--) id = merged.get(id) ?? id
    delete registers[attribute]
    const standing = registers[`tags.${id}`]
    if (!standing || standing[1] < register[1] || standing[1] === register[1] && register[0]) registers[`tags.${id}`] = register
  }
}

/**
 * The bytes of an attachment, checked.
 * @type {(zip: Blob, entry: import("./zip.js").Entry | undefined, fixed: any, largest: number) => Promise<Blob>}
 */
const bytesOf = async (zip, entry, {mimeType, sha256: hash}, largest) => {
  if (!entry) throw new ArchiveError("The archive does not have its bytes.")
  if (entry.size > largest) throw new ArchiveError("The server takes no files as large as this.")
  // What is kept is no part of a file that may change on the disk.
  const bytes = await (await readEntry(zip, entry)).arrayBuffer()
  if (hex(sha256(new Uint8Array(bytes))) !== hash) throw new ArchiveError("Its bytes are not those that were exported.")
  return new Blob([bytes], {type: mimeType})
}

/** @type {(value: any, limit: number) => boolean} */
const isString = (value, limit) => typeof value === "string" && !value.includes("\0") && (value.length * 3 <= limit || utf8(value).length <= limit)
/** @type {(value: any) => boolean} */
const isDate = value => typeof value === "string" && parseDate(value) !== null

/**
 * Takes out what no server would take, and says what.
 * @type {(entity: Entity, limits: Copy["limits"]) => string[]}
 */
const removeWrong = ({fixed, registers}, limits) => {
  /** @type {(name: string, value: any) => boolean} */
  const isRight = (name, value) => {
    const [kind, key] = name.split(/\.(.*)/s)
    switch (kind) {
      case "creationDate": case "sortDate": return isDate(value)
      case "text": return isString(value, limits.textBytes)
      case "name": return isString(value, limits.tagNameBytes) && foldName(value) !== ""
      case "archived": return typeof value === "boolean"
      case "tags": case "attachments": return isID(key ?? "") && typeof value === "boolean"
      case "attributes": return NAME.test(key ?? "") && (value === null || typeof value === "boolean" || Number.isFinite(value)
        || isString(value, limits.attributeValueBytes))
      case "mimeType": return isString(value, 127) && /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(value)
      case "filename": return isString(value, limits.filenameBytes)
      case "preview": return isString(value, limits.previewBytes)
      case "sha256": return /^[0-9a-f]{64}$/.test(value)
      default: return ["width", "height", "byteCount"].includes(kind) && Number.isSafeInteger(value) && value >= 0
    }
  }
  const wrong = [...Object.keys(fixed).filter(name => !isRight(name, fixed[name])),
    ...Object.keys(registers).filter(name => !isRight(name, registers[name][0]) || !isClock(registers[name][1]))]
  for (const name of wrong) {
    delete fixed[name]
    delete registers[name]
  }
  return wrong
}

const STORES = ["meta", "objects", "deleted", "deletions", "made", "unsent", "bytes"]

/**
 * Takes objects in with the clocks that they have, as what is to be sent: what is here and newer, or unsent, stays.
 * @type {(copy: Copy, items: Item[], report: Report) => Promise<void>}
 */
const takeIn = async (copy, items, report) => {
  const outcomes = await copy.transaction(STORES, "readwrite", async tx => {
    const source = await clockIn(tx), now = Date.now(), last = formatDate(source.now(now) + AHEAD)
    const outcomes = []
    for (const {entity: {uniqueID, type, fixed, registers}, blob} of items) {
      const [standing, made, ...dead] = await Promise.all(["objects", "made", "deleted", "deletions"].map(store => tx.get(store, uniqueID)))
      const isNew = !made && !(standing && exists(standing))
      if (dead.some(Boolean)) outcomes.push("deleted")
      else if ((standing?.type || made?.type || type) !== type) outcomes.push("unchanged")
      else {
        if (isNew) tx.put("made", {uniqueID, type, fixed, ...blob && {needsBytes: true}})
        if (isNew && blob) tx.put("bytes", {uniqueID, blob, lastUse: now})
        const unsent = new Set((await tx.getAllBy("unsent", "uniqueID", uniqueID)).map(edit => edit.attribute))
        let isChanged = false
        for (const [attribute, [value, clock]] of Object.entries(registers)) {
          if (unsent.has(attribute) || standing?.registers[attribute]?.[1] >= clock) continue
          // Without a clock, or one that no server takes: stamped here and now.
          const stamp = clock && clock.slice(0, last.length) <= last ? clock : source.tick(now)
          tx.put("unsent", {uniqueID, attribute, type, value, clock: stamp})
          isChanged = true
        }
        outcomes.push(isNew ? "new" : isChanged ? "changed" : "unchanged")
      }
    }
    return outcomes
  }, "here")
  for (const [i, outcome] of outcomes.entries()) {
    const {type} = items[i].entity
    if (outcome === "new") /** @type {any} */ (report)[COUNTED[type] ?? "objects"]++
    else if (type === "note") /** @type {any} */ (report)[outcome]++
  }
}

/** @type {(copy: Copy, texts: Text[], report: Report, progress: (done: number, of: number) => void) => Promise<void>} */
const importTexts = async (copy, texts, report, progress) => {
  const seen = new Set()
  /** @type {Map<string, string>} */
  const tags = new Map()
  /** @type {Item[]} */
  let items = []
  for (const [i, text] of texts.entries()) {
    const path = [...text.folders, text.name].join("/")
    try {
      const entity = noteOf(text, path, await readText(text, copy.limits.textBytes))
      if (seen.has(entity.uniqueID)) throw new ArchiveError("Another file has the same name, but for how its accents are written.")
      seen.add(entity.uniqueID)
      const {uniqueID, registers} = entity, {memory} = copy.list, known = memory.known(uniqueID)
      const isDead = memory.deleted.has(uniqueID) || memory.deletions.has(uniqueID)
      // Of a note that is there, the text alone: an import undoes nothing that was done to a note since the first one.
      if (known) delete registers.sortDate
      else if (!isDead) for (const name of text.folders) tagWith(copy, entity, name, tags, items)
      if (known && valueOf(known, "text") === registers.text[0]) delete registers.text
      items.push({entity, path})
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error
      report.refused.push({path, reason: error.message})
    }
    if (items.length >= BATCH || i === texts.length - 1) {
      await takeIn(copy, items, report)
      items = []
      progress(i + 1, texts.length)
    }
  }
}

/** @type {(text: Text, limit: number) => Promise<string>} */
const readText = async ({read, size}, limit) => {
  const tooLarge = new ArchiveError(`It has more than ${limit} bytes, which no note has.`)
  if (size > limit + 3) throw tooLarge
  const bytes = await (await read()).arrayBuffer()
  let text
  try {
    // It takes the mark off with which some programs begin UTF-8.
    text = new TextDecoder("utf-8", {fatal: true}).decode(bytes)
  } catch {
    throw new ArchiveError("It is not UTF-8.")
  }
  if (text.includes("\0")) throw new ArchiveError("It is no text: it holds the character U+0000.")
  if (!isString(text, limit)) throw tooLarge
  return text
}

/**
 * A note as a file has it. To the merge, a file is a device of its own: its node is half of the note's ID, its clock says
 * when the file was last changed, and the counter comes from the text. A file in no folder is known by its name and text.
 * @type {(text: Text, path: string, value: string) => Entity}
 */
const noteOf = ({folder, name, date}, path, value) => {
  const source = folder === null ? `${name}\n${value}` : `${folder}/${path}`
  const entity = emptyEntity(derivedID(NOTES, source.normalize()), "note")
  const moment = Math.min(Math.max(date, 0), Date.now())
  const clock = makeClock(moment, parseInt(derivedID(TEXTS, value).slice(-4), 16), entity.uniqueID.slice(19).replace("-", ""))
  entity.fixed.creationDate = formatDate(moment)
  entity.registers = {text: [value, clock], sortDate: [formatDate(moment), clock]}
  return entity
}

/**
 * Tags a note with a folder's name: with the live tag that has it, else with one whose ID comes from it.
 * @type {(copy: Copy, entity: Entity, name: string, tags: Map<string, string>, items: Item[]) => void}
 */
const tagWith = (copy, {registers}, name, tags, items) => {
  const folded = foldName(name), {memory} = copy.list
  if (!folded || !isString(name, copy.limits.tagNameBytes)) return
  let id = tags.get(folded) ?? copy.tagNamed(name)
  for (let i = 0; !id; i++) {
    const derived = i < GENERATIONS ? derivedID(TAGS, i ? `${folded}\n${i}` : folded) : newID()
    // A deleted tag does not come back, and one that has another name is another tag by now.
    if (memory.known(derived) || memory.deleted.has(derived)) continue
    id = derived
    items.push({entity: {...emptyEntity(id, "tag"), registers: {name: [name, ""]}}, path: name})
  }
  tags.set(folded, id)
  registers[`tags.${id}`] = [true, registers.text[1]]
}
