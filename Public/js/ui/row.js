// A note as a row of the list, and the picture in it.

import { fill, h, icon, shortDate } from "./dom.js"

const kept = 200 // pictures at most that stay decoded for the list

/**
 * Addresses of pictures whose bytes are here, the longest unused first.
 * @type {Map<string, string>}
 */
const pictures = new Map()

/** @param {import("../store/copy.js").Copy} copy @param {string} id */
const pictureOf = async (copy, id) => {
  const known = pictures.get(id)
  const bytes = known ? null : await copy.bytes(id)
  const url = known ?? (bytes && URL.createObjectURL(bytes))
  if (!url) return null
  pictures.delete(id)
  pictures.set(id, url)
  for (const [oldest, address] of pictures) {
    if (pictures.size <= kept) break
    URL.revokeObjectURL(address)
    pictures.delete(oldest)
  }
  return url
}

/**
 * The first picture of a note, small: its preview, else its bytes once they are here.
 * @param {import("../store/copy.js").Copy} copy @param {string[]} attachments
 */
const thumbnail = (copy, attachments) => {
  for (const id of attachments) {
    const attachment = copy.attachment(id)
    if (!attachment?.mimeType.startsWith("image/")) continue
    const image = h("img", { class: "thumbnail", alt: "", decoding: "async", draggable: "false" })
    image.onerror = () => image.remove()
    if (attachment.preview) image.src = `data:image/jpeg;base64,${attachment.preview}`
    else if (attachment.isHere) pictureOf(copy, id).then(url => { if (url) image.src = url }, () => image.remove())
    else continue
    return image
  }
  return null
}

/** @param {import("../store/copy.js").Copy} copy @param {HTMLElement} row @param {Note} note @param {boolean} isMixed says what is archived */
export const fillRow = (copy, row, note, isMixed) => {
  const names = note.tags.flatMap(id => copy.tag(id)?.name ?? [])
  const image = thumbnail(copy, note.attachments)
  fill(row,
    h("span", { class: "row-words" },
      h("span", { class: "note-title" },
        h("bdi", { class: note.title ? "" : "muted" }, note.title || (note.attachments.length ? "A note without words" : "An empty note")),
        note.pinned && h("span", { class: "pinned" }, icon("pin"), h("span", { class: "visually-hidden" }, "pinned"))),
      h("span", { class: "note-excerpt", dir: "auto" }, note.excerpt),
      h("span", { class: "note-meta" },
        h("time", { class: "number", datetime: note.sortDate }, shortDate(note.sortDate)),
        isMixed && note.archived && h("span", null, "Archived"),
        names.map(name => h("bdi", { class: "note-tag" }, name)),
        !image && note.attachments.length > 0 && h("span", { class: "note-files" }, icon("attach"), String(note.attachments.length)))),
    image)
}
