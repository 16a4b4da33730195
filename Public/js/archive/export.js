// Everything here as one zip, laid out as the server's GET /v1/export is: Markdown, attachments, and hesper.json.
import {formatDate, partsOf} from "../model/clock.js"
import {ZERO, hashOf, hashOfDeleted, sectionOf, valueOf, writeState, xor} from "../model/entity.js"
import {hex, utf8} from "../model/hash.js"
import {foldName} from "../model/terms.js"
import {ZipWriter} from "./zip.js"

const STEM_BYTES = 100
const EDGES = /^[ .~\u200c\u200d-]+|[ .]+$/g
/** What Windows takes for a device. */
const RESERVED = /^(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[\d¹²³])(?= *(?:\.|$))/i
/** Types that are not packed already. */
const DEFLATED = /^text\/|[+/](?:json|xml|rtf|msword|javascript|bmp|tiff|wav|x-wav|vnd\.ms-excel|vnd\.ms-powerpoint)$/i
// Where it is not what stands after the slash.
/** @type {Object<string, string>} */
const ENDINGS = {
  jpeg: "jpg", "svg+xml": "svg", plain: "txt", markdown: "md", mpeg: "mp3", quicktime: "mov", "epub+zip": "epub",
}

/** @type {(words: string) => string} a name that every system takes; "" if nothing is left */
const safeName = words => {
  const name = words.slice(0, 4 * STEM_BYTES).replace(/[/\\:|]/g, "-").replace(/[<>"?*]/g, "")
    .replace(/[\s\p{Cc}]+/gu, " ").replace(/(?![\u200c\u200d])\p{C}/gu, "").normalize().replace(EDGES, "")
  let kept = utf8(name).length > STEM_BYTES ? "" : name
  if (!kept) for (const character of name.match(/\P{M}[\p{M}\u200c\u200d]*/gu) ?? []) {
    if (utf8(kept + character).length > STEM_BYTES) break
    kept += character
  }
  return kept.replace(EDGES, "").replace(RESERVED, "$&_")
}

/** Gives each file a path of its own, also where upper and lower case are one. */
const namer = () => {
  /** @type {Map<string, number>} */
  const taken = new Map()
  return (/** @type {string} */ stem, /** @type {string} */ ending) => {
    const wanted = foldName(stem + ending)
    for (let path = stem + ending; ;) {
      if (!taken.has(foldName(path))) {
        taken.set(foldName(path), 1)
        return path
      }
      const number = (taken.get(wanted) ?? 1) + 1
      taken.set(wanted, number)
      path = `${stem} ${number}${ending}`
    }
  }
}

/** @type {(entity: Entity) => string} */
const ageOf = ({uniqueID, fixed}) => (fixed.creationDate ?? "") + uniqueID

/** @type {(text: string) => string} */
const stemOf = text => safeName(text.trimStart().split(/[\n\r\u2028\u2029]/, 1)[0].replace(/^[\s#]+/, "")) || "Untitled"

// What the file of an attachment was called, else its ID.
/** @type {(id: string, fixed: any) => [stem: string, ending: string]} */
const nameOf = (id, {filename = "", mimeType = ""}) => {
  const [, stem = filename, ending] = /^(.+)(\.[A-Za-z\d]{1,10})$/s.exec(filename) ?? []
  const type = mimeType.toLowerCase().split("/")[1] ?? ""
  const known = Object.hasOwn(ENDINGS, type) ? ENDINGS[type] : (/^[a-z\d]{1,5}$/.test(type) ? type : "")
  return [`Attachments/${safeName(stem) || id}`, ending ?? (known && `.${known}`)]
}

/**
 * Packs everything. `bytesOf` may fetch what is not here; `missing` says what could not be had, a sentence each.
 * @param {Copy} copy
 * @param {{bytesOf?: (id: string) => Promise<Blob | undefined>, progress?: (done: number, of: number) => void,
 *   now?: number}} how `now` in ms
 */
export const exportAll = async (copy, {bytesOf = id => copy.bytes(id), progress = () => {}, now = Date.now()} = {}) => {
  const zip = new ZipWriter(), pathFor = namer()
  /** @type {Object<string, string>} */
  const files = {}
  /** @type {Object<string, Entity[]>} */
  const sections = {tags: [], attachments: [], objects: [], notes: []}
  for (const entity of copy.entities()) sections[sectionOf(entity.type)].push(entity)
  // The oldest first: names go to those that have had them for longest.
  for (const list of Object.values(sections)) list.sort((a, b) => ageOf(a) < ageOf(b) ? -1 : 1)
  const {notes, attachments} = sections, of = notes.length + attachments.length
  let done = 0
  for (const note of notes) {
    const text = valueOf(note, "text"), clock = note.registers.text?.[1]
    const path = files[note.uniqueID] = pathFor((valueOf(note, "archived") ? "Archive/" : "") + stemOf(text), ".md")
    const written = clock ? partsOf(clock).milliseconds : Date.parse(note.fixed.creationDate)
    await zip.add(path, new Blob([text]), written, true)
    progress(++done, of)
  }
  const missing = [], sentences = []
  for (const {uniqueID, fixed} of attachments) {
    const blob = await bytesOf(uniqueID).catch(() => undefined)
    if (blob) {
      const path = files[uniqueID] = pathFor(...nameOf(uniqueID, fixed))
      await zip.add(path, blob, now, DEFLATED.test(fixed.mimeType))
    } else {
      missing.push(uniqueID)
      sentences.push(`Attachment ${uniqueID} (${fixed.filename ?? fixed.mimeType}) is missing: its bytes are not here.`)
    }
    progress(++done, of)
  }
  if (missing.length) await zip.add("MISSING.txt", new Blob([sentences.join("\n")]), now, true)
  const deletedObjects = [...copy.memory.deleted.values()]
    .map(({uniqueID, objectType, mergedInto, deletionDate}) => ({uniqueID, objectType, mergedInto, deletionDate}))
  const hashes = [...deletedObjects.map(hashOfDeleted), ...Object.values(sections).flat().map(hashOf)]
  const exportDate = formatDate(now), digest = hashes.reduce((sum, hash) => xor(sum, hex(hash)), ZERO)
  const head = {format: "hesper-export", formatVersion: 1, exportDate, digest, missing, files, deletedObjects}
  // In pieces: all in one string may be more than a browser makes.
  const parts = [JSON.stringify(head).slice(0, -1)]
  for (const [name, list] of Object.entries(sections)) {
    parts.push(`,\n"${name}":[`, list.map(entity => JSON.stringify(writeState(entity))).join(",\n"), "]")
  }
  await zip.add("hesper.json", new Blob([...parts, "}\n"]), now, true)
  const name = `hesper-${exportDate.slice(0, 10)}.zip`, packed = attachments.length - missing.length
  return {blob: zip.finish(), name, notes: notes.length, attachments: packed, missing: sentences}
}
