// Everything here as one zip, as the server's GET /v1/export makes it: notes as Markdown, attachments as the files they
// were, and hesper.json, which has all of it as sync sends it. `hesper import` reads it, and so does import.js.
import {formatDate, partsOf} from "../model/clock.js"
import {hashOf, hashOfDeleted, sectionOf, valueOf, xor, ZERO} from "../model/entity.js"
import {hex, utf8} from "../model/hash.js"
import {membersOf} from "../model/members.js"
import {foldName} from "../model/names.js"
import {ZipWriter} from "./zip.js"

/** @typedef {import("../model/entity.js").Entity} Entity */
/** @typedef {import("../store/copy.js").Copy} Copy */

/** The most bytes that words of people take in the name of a file. */
const LONGEST = 100
const EDGES = /^[ .~\u200c\u200d-]+|[ .]+$/g
const RESERVED = /^(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[\d¹²³])(?= *(?:\.|$))/i
/** Types whose bytes are not packed already. */
const DEFLATED = /^text\/|[+/](?:json|xml|rtf|msword|javascript|bmp|tiff|wav|x-wav|vnd\.ms-excel|vnd\.ms-powerpoint)$/i
/**
 * How files of a type end, where it is not what stands after the slash.
 * @type {Object<string, string>}
 */
const ENDINGS = {
  jpeg: "jpg", "svg+xml": "svg", plain: "txt", markdown: "md", calendar: "ics", vcard: "vcf", mpeg: "mp3", quicktime: "mov",
  gzip: "gz", "x-wav": "wav", "x-matroska": "mkv", "x-m4a": "m4a", "epub+zip": "epub", msword: "doc",
}

/**
 * Words of people as the name of a file that every system takes; "" if nothing is left.
 * @type {(words: string) => string}
 */
const safeName = words => {
  const kept = [...words.slice(0, 4 * LONGEST)].join("").replace(/[/\\:|]/g, "-").replace(/[<>"?*]/g, "")
    .replace(/[\s\p{Cc}]+/gu, " ").replace(/(?![\u200c\u200d])[\p{Cf}\p{Co}\p{Cs}\p{Cn}]/gu, "").normalize().replace(EDGES, "")
  let name = ""
  for (const character of kept.match(/\P{M}[\p{M}\u200c\u200d]*/gu) ?? []) {
    if (utf8(name + character).length > LONGEST) break
    name += character
  }
  return name.replace(EDGES, "").replace(RESERVED, "$&_")
}

/** Gives every file a path of its own, also where upper and lower case are one. */
class Names {
  /** @type {Map<string, number>} */
  #taken = new Map()

  /** @type {(folder: string, stem: string, ending: string) => string} */
  path(folder, stem, ending) {
    for (let path = folder + stem + ending, wanted = foldName(path); ;) {
      const key = foldName(path), number = this.#taken.get(wanted) ?? 1
      if (!this.#taken.has(key)) {
        this.#taken.set(key, 1)
        return path
      }
      this.#taken.set(wanted, number + 1)
      path = `${folder}${stem} ${number + 1}${ending}`
    }
  }
}

/**
 * An object as sync shows it (protocol.md, Two shapes).
 * @type {(entity: Entity) => Object<string, any>}
 */
export const stateOf = entity => {
  const {uniqueID, type, fixed, registers} = entity
  /** @type {Object<string, any>} */
  const state = {uniqueID, ...fixed}
  if (type === "attachment") return state
  if (sectionOf(type) === "objects") state.objectType = type
  state.attributes = {}
  state.clocks = {attributes: {}}
  if (type === "note") {
    for (const name of ["text", "archived", "sortDate"]) state[name] = valueOf(entity, name)
    for (const kind of /** @type {const} */ (["tags", "attachments"])) {
      state[kind] = membersOf(entity, kind, new Map(), () => true)
      state.clocks[kind] = {}
    }
  }
  for (const [attribute, [value, clock]] of Object.entries(registers)) {
    const [name, key] = attribute.split(/\.(.*)/s)
    if (name === "attributes") state.attributes[key] = value
    if (key !== undefined) state.clocks[name][key] = clock
    else {
      state[name] = value
      state.clocks[name] = clock
    }
  }
  return state
}

/**
 * Packs everything.
 * @param {Copy} copy
 * @param {{bytesOf?: (id: string) => Promise<Blob | undefined>, progress?: (done: number, of: number) => void,
 *   now?: number}} how
 *   `bytesOf` may fetch what is not here
 * @returns {Promise<{blob: Blob, name: string, notes: number, attachments: number, missing: string[]}>} `missing`: why some
 *   attachments are not in it, a sentence each
 */
export const exportAll = async (copy, {bytesOf = id => copy.bytes(id), progress = () => {}, now = Date.now()} = {}) => {
  const zip = new ZipWriter(), names = new Names()
  /** @type {Object<string, string>} */
  const files = {}
  /** @type {Object<string, Entity[]>} */
  const sections = {tags: [], attachments: [], objects: [], notes: []}
  // The oldest first, so that names go to those that have had them for longest.
  for (const entity of copy.entities()) sections[sectionOf(entity.type)].push(entity)
  for (const list of Object.values(sections)) list.sort((a, b) => ageOf(a) < ageOf(b) ? -1 : 1)
  const {notes, attachments} = sections, of = notes.length + attachments.length
  for (const [i, note] of notes.entries()) {
    const text = valueOf(note, "text"), clock = note.registers.text?.[1]
    const stem = safeName(text.trimStart().split(/[\n\r\u2028\u2029]/, 1)[0].replace(/^[\s#]+/, "")) || "Untitled"
    const path = files[note.uniqueID] = names.path(valueOf(note, "archived") ? "Archive/" : "", stem, ".md")
    await zip.add(path, new Blob([text]), clock ? partsOf(clock).milliseconds : Date.parse(note.fixed.creationDate), true)
    progress(i + 1, of)
  }
  /** @type {string[]} */
  const missing = [], sentences = []
  for (const [i, {uniqueID, fixed}] of attachments.entries()) {
    const blob = await bytesOf(uniqueID).catch(() => undefined)
    if (blob) {
      const path = files[uniqueID] = names.path("Attachments/", ...partsOfName(uniqueID, fixed))
      await zip.add(path, blob, now, DEFLATED.test(fixed.mimeType))
    } else {
      missing.push(uniqueID)
      sentences.push(`Attachment ${uniqueID}${fixed.filename ? ` (${fixed.filename})` : ""} is missing: its bytes are not here.`)
    }
    progress(notes.length + i + 1, of)
  }
  if (missing.length) await zip.add("MISSING.txt", new Blob([sentences.join("\n"), "\n"]), now, true)
  const deletedObjects = [...copy.list.memory.deleted.values()].map(({uniqueID, objectType, mergedInto, deletionDate}) =>
    ({uniqueID, objectType, mergedInto, deletionDate}))
  const hashes = [...deletedObjects.map(hashOfDeleted), ...Object.values(sections).flat().map(hashOf)]
  const head = {format: "hesper-export", formatVersion: 1, exportDate: formatDate(now),
    digest: hashes.reduce((sum, hash) => xor(sum, hex(hash)), ZERO), missing, files, deletedObjects}
  // Object by object: all of it as one string may be more than a browser makes.
  const parts = [JSON.stringify(head).slice(0, -1)]
  for (const [name, list] of Object.entries(sections)) {
    parts.push(`,\n"${name}":[`)
    list.forEach((entity, i) => parts.push((i ? ",\n" : "") + JSON.stringify(stateOf(entity))))
    parts.push("]")
  }
  await zip.add("hesper.json", new Blob([...parts, "}\n"]), now, true)
  const name = `hesper-${formatDate(now).slice(0, 10)}.zip`
  return {blob: zip.finish(), name, notes: notes.length, attachments: attachments.length - missing.length, missing: sentences}
}

/** @type {(entity: Entity) => string} */
const ageOf = ({uniqueID, fixed}) => (fixed.creationDate ?? "") + uniqueID

/**
 * What the file of an attachment is called: as it was, else by its ID.
 * @type {(id: string, fixed: any) => [string, string]}
 */
const partsOfName = (id, {filename = "", mimeType = ""}) => {
  const [, stem, ending] = /^(.+)(\.[A-Za-z\d]{1,10})$/s.exec(filename) ?? []
  if (ending) return [safeName(stem) || id, ending]
  const type = mimeType.toLowerCase().split("/")[1] ?? ""
  const known = ENDINGS[type] ?? (/^[a-z\d]{1,5}$/.test(type) ? type : "")
  return [safeName(filename) || id, known && `.${known}`]
}
