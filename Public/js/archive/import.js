// Brings back an export, made here or by a server, and takes in texts, as often as one likes. IDs are those of the
// export, or derived from where a text lies as `hesper import` derives them: so nothing comes twice, here or there.
import {formatDate, makeClock, parseDate, partsOf} from "../model/clock.js"
import {emptyEntity, exists, readState, valueOf} from "../model/entity.js"
import {derivedID, hex, isID, newID, sha256, utf8} from "../model/hash.js"
import {foldName} from "../model/terms.js"
import {clockIn} from "../store/records.js"
import {ArchiveError, listZip, readEntry} from "./zip.js"

/** @typedef {import("./zip.js").Entry} Entry */
/** @typedef {{entity: Entity, path: string, blob?: Blob}} Item */
/** @typedef {{date: number, size: number, read: () => Blob | Promise<Blob>}} Source */
/** @typedef {Source & {folder: string, folders: string[], name: string}} Text */

// The namespaces of Sources/hesper/Import.
const NOTES = "6d1f8a52-c3e0-4b7d-9e24-51b07f6ad318", TEXTS = "2b90e47c-15d8-4f03-a8c6-3d9f02b17e54"
const TAGS = "e1c407a9-8d36-4275-b58f-1e6093d24ca7"
/** How often a tag of one name can be imported and deleted or renamed before its ID is random. */
const GENERATIONS = 100
const LARGEST_DOCUMENT = 256 << 20
/** Objects of one transaction. */
const BATCH = 200
/** How far a clock may be ahead (merge.md, Ahead), in ms. */
const AHEAD = 300_000
const SECTIONS = ["tags", "attachments", "objects", "notes"]
const STORES = ["meta", "objects", "deleted", "deletions", "made", "unsent", "bytes"]
const TEXT_FILE = /\.(?:md|markdown|txt|text)$/i
const NOT_AS_EXPORTED = "It is not as an export has it."

/**
 * Takes in files: exports, zips of texts, texts, folders of them (`webkitRelativePath`). What is wrong with a file is
 * in the report, what is wrong with the copy is thrown.
 * @param {Copy} copy
 * @param {File[]} files
 * @param {(done: number, of: number) => void} [progress]
 */
export const importFiles = async (copy, files, progress = () => {}) => {
  const run = new Import(copy, progress)
  for (const file of files) await run.add(file)
  await run.takeTexts()
  return run.report
}

/**
 * Hidden files and folders, and what macOS adds for itself.
 * @type {(parts: string[]) => boolean}
 */
const isHidden = parts => parts[0] === "__MACOSX" || parts.some(part => part[0] === "." && part !== "..")

/** @type {(text: any) => boolean} */
const isClock = text => {
  try {
    return Boolean(partsOf(text))
  } catch {
    return false
  }
}

/** @type {(value: any) => any[]} */
const listOf = value => Array.isArray(value) ? value : []

/** @type {(value: any, limit: number) => boolean} */
const isString = (value, limit) =>
  typeof value === "string" && !value.includes("\0") && value.length <= limit && utf8(value).length <= limit

class Import {
  /** What became of it: new ones; notes that changed, did not, or were deleted and stay so; other files. */
  report = {
    notes: 0, tags: 0, attachments: 0, objects: 0, changed: 0, unchanged: 0, deleted: 0, passedOver: 0,
    refused: /** @type {{path: string, reason: string}[]} */ ([]),
  }
  /** @type {Text[]} */
  #texts = []
  /** @type {Item[]} */
  #items = []
  #copy
  #progress

  /**
   * @param {Copy} copy
   * @param {(done: number, of: number) => void} progress
   */
  constructor(copy, progress) {
    this.#copy = copy
    this.#progress = progress
  }

  /**
   * @param {string} path
   * @param {() => Promise<void>} body
   */
  async #try(path, body) {
    try {
      await body()
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error
      this.report.refused.push({path, reason: error.message})
    }
  }

  /** @param {File} file */
  async add(file) {
    const parts = (file.webkitRelativePath || file.name).split("/")
    const folder = parts.length > 1 ? parts.shift() ?? "" : ""
    if (/\.zip$/i.test(file.name)) await this.#try(file.name, () => this.#addZip(file))
    else this.#addText(folder, parts, {date: file.lastModified, size: file.size, read: () => file})
  }

  /**
   * @param {string} folder
   * @param {string[]} parts of its path
   * @param {Source} rest
   */
  #addText(folder, parts, rest) {
    const name = parts[parts.length - 1] ?? ""
    if (isHidden([folder]) || isHidden(parts) || !TEXT_FILE.test(name) || !rest.size) this.report.passedOver++
    else if (parts.some(part => !part || part === "..")) {
      this.report.refused.push({path: parts.join("/"), reason: "Its path leads out of the archive."})
    } else this.#texts.push({folder, folders: parts.slice(0, -1), name, ...rest})
  }

  /** @param {File} zip */
  async #addZip(zip) {
    const entries = await listZip(zip)
    const found = entries.find(({path}) => /^(?:[^/]*\/)?hesper\.json$/.test(path))
    const exported = found && await readDocument(zip, found)
    if (exported) return this.#restore(zip, entries, exported, found.path.slice(0, -"hesper.json".length))
    // Some packers of Windows write its own separators.
    const paths = entries.map(({path}) => path.split(path.includes("/") ? "/" : "\\").filter(part => part !== "."))
    const tops = new Set(paths.filter(parts => !isHidden(parts)).map(parts => parts.length > 1 ? parts[0] : ""))
    const [top] = tops, isOneFolder = tops.size === 1 && top && top !== ".."
    for (const [i, {date, size}] of entries.entries()) {
      const isInside = isOneFolder && paths[i][0] === top
      this.#addText(isOneFolder ? top : zip.name.replace(/\.[^.]*$/, ""), paths[i].slice(isInside ? 1 : 0),
        {date, size, read: () => readEntry(zip, entries[i])})
    }
  }

  /**
   * @param {Blob} zip
   * @param {Entry[]} entries
   * @param {any} exported
   * @param {string} folder
   */
  async #restore(zip, entries, exported, folder) {
    const {limits, memory} = this.#copy
    const byPath = new Map(entries.map(entry => [entry.path, entry]))
    const all = SECTIONS.flatMap(section => listOf(exported[section]).map(state => ({section, state})))
    // DeletedObjects are not taken in: an import deletes nothing. But it follows tags that this browser does not know.
    const merged = new Map(listOf(exported.deletedObjects).filter(gone => gone && !memory.deleted.has(gone.uniqueID))
      .map(gone => [gone.uniqueID, gone.mergedInto]))
    for (const [i, {section, state}] of all.entries()) {
      const path = `${section} ${state?.uniqueID}`
      await this.#try(path, async () => {
        const entity = readOne(section, state)
        const wrong = removeWrong(entity, limits)
        if (wrong.length) this.report.refused.push({path, reason: `${NOT_AS_EXPORTED} (${wrong.join(", ")})`})
        if (!exists(entity) || !isID(entity.uniqueID)) throw new ArchiveError(NOT_AS_EXPORTED)
        followMerges(entity, merged)
        /** @type {Item} */
        const item = {entity, path}
        if (entity.type === "attachment" && !this.#copy.known(entity.uniqueID)) {
          const entry = byPath.get(`${folder}${exported.files?.[entity.uniqueID]}`.normalize())
          item.blob = await bytesOf(zip, entry, entity.fixed, limits.attachmentBytes)
        }
        this.#items.push(item)
      })
      await this.#takeIn(i + 1, all.length)
    }
  }

  /** Takes in the texts that were found. */
  async takeTexts() {
    const {limits, memory} = this.#copy, seen = new Set()
    for (const [i, text] of this.#texts.entries()) {
      const path = [...text.folders, text.name].join("/")
      await this.#try(path, async () => {
        const entity = noteOf(text, path, await readText(text, limits.textBytes))
        const {uniqueID, registers} = entity, known = this.#copy.known(uniqueID)
        if (seen.has(uniqueID)) throw new ArchiveError("Another file has the same name, or is the same.")
        seen.add(uniqueID)
        // Of a note that is there, the text alone: an import undoes nothing that was done to it since the first one.
        if (known) delete registers.sortDate
        else if (!memory.deleted.has(uniqueID)) for (const name of text.folders) this.#tag(entity, name)
        if (known && valueOf(known, "text") === registers.text[0]) delete registers.text
        this.#items.push({entity, path})
      })
      await this.#takeIn(i + 1, this.#texts.length)
    }
  }

  /**
   * Tags a note with a folder's name: with the live tag that has it, else with one whose ID comes from it.
   * @param {Entity} entity
   * @param {string} name
   */
  #tag({registers}, name) {
    const folded = foldName(name), {limits, memory} = this.#copy
    if (!folded || !isString(name, limits.tagNameBytes)) return
    const made = this.#items.find(({entity: {type}, path}) => type === "tag" && path === folded)
    let id = this.#copy.tagNamed(name) ?? made?.entity.uniqueID
    for (let i = 0; !id; i++) {
      const derived = i < GENERATIONS ? derivedID(TAGS, i ? `${folded}\n${i}` : folded) : newID()
      // A deleted tag does not come back, and one that has another name is another tag by now.
      if (this.#copy.known(derived) || memory.deleted.has(derived)) continue
      id = derived
      this.#items.push({entity: {...emptyEntity(id, "tag"), registers: {name: [name, ""]}}, path: folded})
    }
    registers[`tags.${id}`] = [true, registers.text[1]]
  }

  /**
   * Takes in what was found, under its own clocks, as what is to be sent: what is here and newer, or unsent, stays.
   * @param {number} done
   * @param {number} of
   */
  async #takeIn(done, of) {
    const items = this.#items
    if (items.length < BATCH && !items[items.length - 1]?.blob && done < of) return
    this.#items = []
    const outcomes = await this.#copy.transaction(STORES, "readwrite", async tx => {
      const outcomes = []
      for (const item of items) outcomes.push(await takeOne(tx, item))
      return outcomes
    }, "here")
    /** @type {any} */
    const report = this.report
    for (const [i, {entity: {type}}] of items.entries()) {
      const kind = type === "note" || type === "tag" || type === "attachment" ? `${type}s` : "objects"
      if (outcomes[i] === "new") report[kind]++
      else if (type === "note") report[outcomes[i]]++
    }
    this.#progress(done, of)
  }
}

/** @type {(tx: Transaction, item: Item) => Promise<string>} */
const takeOne = async (tx, {entity: {uniqueID, type, fixed, registers}, blob}) => {
  const stores = ["objects", "made", "deleted", "deletions"]
  const [standing, made, ...dead] = await Promise.all(stores.map(store => tx.get(store, uniqueID)))
  if (dead.some(Boolean)) return "deleted"
  if ((standing?.type || made?.type || type) !== type) return "unchanged"
  const isNew = !made && !(standing && exists(standing)), now = Date.now()
  if (isNew) tx.put("made", {uniqueID, type, fixed, ...blob && {needsBytes: true}})
  if (isNew && blob) tx.put("bytes", {uniqueID, blob, lastUse: now})
  const source = await clockIn(tx), last = formatDate(source.now(now) + AHEAD)
  const unsent = new Set((await tx.getAllBy("unsent", "uniqueID", uniqueID)).map(edit => edit.attribute))
  let outcome = isNew ? "new" : "unchanged"
  for (const [attribute, [value, clock]] of Object.entries(registers)) {
    if (unsent.has(attribute) || standing?.registers[attribute]?.[1] >= clock) continue
    // Without a clock, or with one that no server takes: stamped here and now.
    const stamp = clock && clock.slice(0, last.length) <= last ? clock : source.tick(now)
    tx.put("unsent", {uniqueID, attribute, type, value, clock: stamp})
    if (!isNew) outcome = "changed"
  }
  return outcome
}

/**
 * What an export says; null if it is none.
 * @type {(zip: Blob, entry: Entry) => Promise<any>}
 */
const readDocument = async (zip, entry) => {
  if (entry.size > LARGEST_DOCUMENT) throw new ArchiveError("It is too large for a browser: use `hesper import`.")
  const text = await (await readEntry(zip, entry)).text()
  let exported
  try {
    exported = JSON.parse(text)
  } catch {
    // Somebody's own file of this name.
  }
  if (exported?.format !== "hesper-export") return null
  if (exported.formatVersion !== 1) throw new ArchiveError("It was made by a later Hesper. Reload this page.")
  return exported
}

/** @type {(section: string, state: any) => Entity} */
const readOne = (section, state) => {
  try {
    return readState(section, state)
  } catch {
    throw new ArchiveError(NOT_AS_EXPORTED)
  }
}

/** Members that were merged into others become those; of several registers the greatest clock stands. */
const followMerges = (/** @type {Entity} */ {registers}, /** @type {Map<string, string>} */ merged) => {
  for (const [attribute, register] of Object.entries(registers)) {
    let id = attribute.slice("tags.".length)
    if (!attribute.startsWith("tags.") || !merged.has(id)) continue
    for (let steps = merged.size; steps && merged.has(id); steps--) id = merged.get(id) ?? ""
    const standing = registers[`tags.${id}`]
    delete registers[attribute]
    if (!isID(id) || standing && (standing[1] > register[1] || standing[1] === register[1] && standing[0])) continue
    registers[`tags.${id}`] = register
  }
}

/**
 * The bytes of an attachment, checked.
 * @type {(zip: Blob, entry: Entry | undefined, fixed: any, largest: number) => Promise<Blob>}
 */
const bytesOf = async (zip, entry, {mimeType, sha256: hash}, largest) => {
  if (!entry) throw new ArchiveError("The archive does not have its bytes.")
  if (entry.size > largest) throw new ArchiveError("The server takes no files as large as this.")
  // Read, so that what is kept is no part of a file that may change on the disk.
  const bytes = await (await readEntry(zip, entry)).arrayBuffer()
  if (hex(sha256(new Uint8Array(bytes))) !== hash) throw new ArchiveError("Its bytes are not those that were exported.")
  return new Blob([bytes], {type: mimeType})
}

/**
 * Takes out what no server would take, and says what.
 * @type {(entity: Entity, limits: Object<string, number>) => string[]}
 */
const removeWrong = ({fixed, registers}, limits) => {
  const isDate = (/** @type {any} */ value) => typeof value === "string" && parseDate(value) !== null
  /** @type {(name: string, value: any) => boolean} */
  const isRight = (name, value) => {
    const [kind, key = ""] = name.split(/\.(.*)/s), type = typeof value
    switch (kind) {
      case "creationDate": case "sortDate": return isDate(value)
      case "text": case "tagName": case "filename": case "preview": return isString(value, limits[`${kind}Bytes`])
      case "name": return isRight("tagName", value) && foldName(value) !== ""
      case "archived": return type === "boolean"
      case "tags": case "attachments": return isID(key) && type === "boolean"
      case "attributes": return /^[a-z][\w.-]{0,63}$/i.test(key) && (value === null || type === "boolean"
        || Number.isFinite(value) || isString(value, limits.attributeValueBytes))
      case "mimeType": return isString(value, 127) && /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(value)
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

/** @type {(text: Text, limit: number) => Promise<string>} */
const readText = async ({read, size}, limit) => {
  // Before it is read; and a mark at the beginning is no part of the text.
  const bytes = size <= limit + 3 ? await (await read()).arrayBuffer() : null
  let text = null
  try {
    if (bytes) text = new TextDecoder("utf-8", {fatal: true}).decode(bytes)
  } catch {
    throw new ArchiveError("It is not UTF-8.")
  }
  if (text !== null && isString(text, limit)) return text
  throw new ArchiveError(text?.includes("\0") ? "It holds U+0000, no text." : `A note has at most ${limit} bytes.`)
}

/**
 * A note as a file has it. To the merge, a file is a device of its own: its node is half of the note's ID, its clock
 * says when it was last changed, with a counter from the text. A file in no folder is known by name and text.
 * @type {(text: Text, path: string, value: string) => Entity}
 */
const noteOf = ({folder, name, date}, path, value) => {
  const id = derivedID(NOTES, (folder ? `${folder}/${path}` : `${name}\n${value}`).normalize())
  const moment = Math.min(Math.max(date, 0), Date.now()), sortDate = formatDate(moment)
  const clock = makeClock(moment, parseInt(derivedID(TEXTS, value).slice(-4), 16), id.slice(19).replace("-", ""))
  const registers = {text: [value, clock], sortDate: [sortDate, clock]}
  return {uniqueID: id, type: "note", fixed: {creationDate: sortDate}, registers: /** @type {any} */ (registers)}
}
