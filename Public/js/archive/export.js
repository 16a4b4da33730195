// Everything in one zip, as the server exports it (operating.md, Export).
import {formatDate} from "../model/clock.js"
import {ZERO, hashOf, hashOfDeleted, sectionOf, valueOf, writeState, xor} from "../model/entity.js"
import {successorOf, withPaths} from "../model/marks.js"
import {foldName} from "../model/search.js"
import {titleOf} from "../model/text.js"
import {ZipWriter} from "./zip.js"

/** The file in an export from which everything can be restored (operating.md, Export). */
const DOCUMENT = "hesper.json"
const FORMAT = "hesper-export"
const FORMAT_VERSION = 1
const SECTIONS = ["tags", "attachments", "objects", "notes"]
/** The maximum length of a file name, in characters of at most 4 bytes each. */
const MAX_NAME_LENGTH = 60

/** Words as a file name that Windows, macOS and Linux all accept; "" if nothing is left. */
const nameOf = words => [...words.replace(/[/\\:|<>"?*\s\p{C}]+/gu, found => found.trim() ? "-" : " ")]
  .slice(0, MAX_NAME_LENGTH).join("").replace(/^[ .~-]+|[ .]+$/g, "").replace(/^(con|prn|aux|nul|com\d|lpt\d)$/i, "$&_")

/** A function that makes paths unique, without case: "Milk.md", "Milk 2.md". */
const namer = () => {
  const taken = new Map()
  return (stem, ending) => {
    const wanted = foldName(stem + ending)
    let path = stem + ending
    let number = taken.get(wanted) ?? 1
    while (taken.has(foldName(path))) path = `${stem} ${++number}${ending}`
    taken.set(foldName(path), 1).set(wanted, number)
    return path
  }
}

/**
 * One zip of everything in the copy, laid out like the server's (`GET /v1/export`).
 *
 * @param {Copy} copy
 * @param {ExportOptions} how
 * @returns {Promise<Exported>}
 * @throws {ArchiveError} "zip-too-large"
 */
export const exportAll = async (copy, {bytesOf = id => copy.bytes(id), progress = () => {}, now = Date.now()} = {}) => {
  const zip = new ZipWriter()
  const pathFor = namer()
  const files = {}
  const missing = []
  const exportDate = formatDate(now)
  // Of several files with one name, the oldest has it without a number.
  const ageOf = ({uniqueID, fixed: {creationDate = ""}}) => creationDate + uniqueID
  const entities = [...copy.entities()].sort((a, b) => ageOf(a) < ageOf(b) ? -1 : 1)
  const of = section => entities.filter(({type}) => sectionOf(type) === section)
  const notes = of("notes")
  const attachments = of("attachments")
  const all = [...notes, ...attachments]
  // Notes come first in the zip, and the marks in their texts name these paths.
  const paths = Object.fromEntries(attachments.map(({uniqueID, fixed}) => {
    const {filename = `${uniqueID}.${fixed.mimeType.replace(/.*\/|\W.*/g, "")}`} = fixed
    const [, stem, ending = ""] = /^(.*?)(\.\w{1,10})?$/s.exec(filename) ?? []
    return [uniqueID, pathFor(`Attachments/${nameOf(stem) || uniqueID}`, ending)]
  }))
  for (const [done, entity] of all.entries()) {
    const {uniqueID, type, fixed, registers} = entity
    if (type === "note") {
      const text = valueOf(entity, "text")
      const folder = valueOf(entity, "archived") ? "Archive/" : ""
      const path = files[uniqueID] = pathFor(folder + (nameOf(titleOf(text)) || "Untitled"), ".md")
      const date = (registers.text?.[1] ?? fixed.creationDate).slice(0, 24)
      // Other apps then show the pictures. An import reads the original texts from the data file.
      const pathOf = id => {
        const path = paths[id] ?? paths[successorOf(id, uniqueID)]
        return path && folder ? `../${path}` : path
      }
      await zip.add(path, new Blob([withPaths(text, pathOf)]), Date.parse(date))
    } else {
      const blob = await bytesOf(uniqueID).catch(() => undefined)
      if (!blob) missing.push(entity)
      else await zip.add(files[uniqueID] = paths[uniqueID], blob, now)
    }
    progress(done + 1, all.length)
  }
  const deletedObjects = [...copy.memory.deleted.values()].map(one => ({...one, hash: undefined}))
  const hashes = [...deletedObjects.map(hashOfDeleted), ...entities.map(hashOf)]
  const contents = JSON.stringify({
    format: FORMAT, formatVersion: FORMAT_VERSION, exportDate, digest: hashes.reduce(xor, ZERO), files, deletedObjects,
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
