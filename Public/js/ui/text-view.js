// A text as one reads it: links, mail addresses and dates in it can be used.

import { findings } from "../model/text.js"
import { h } from "./dom.js"
import { save } from "./widgets.js"

const searched = 200_000 // characters; links after them are shown as text

/**
 * @param {string} text @param {string} about what a date is about, for the calendar
 * @returns {import("./dom.js").Child[]} together exactly the text
 */
export const textView = (text, about) => {
  // The first line is the title. It stands out without being wider, so that it breaks as in the <textarea>.
  const line = text.indexOf("\n", text.search(/\S/)) >>> 0
  const title = h("span", { class: "title-line" })
  const rest = document.createDocumentFragment()
  let end = 0
  const { length } = text
  for (const found of [...findings(text.slice(0, searched)), { kind: "", start: length, end: length, value: "" }]) {
    title.append(text.slice(end, Math.min(line, found.start)))
    rest.append(text.slice(Math.max(line, end), Math.max(line, found.start)))
    if (found.kind) (found.start < line ? title : rest).append(usable(found, text.slice(found.start, found.end), about))
    end = found.end
  }
  // A line break at the very end has no height of its own in a <div>, but has in a <textarea>.
  return [title, rest, text.endsWith("\n") && h("br")]
}

/** @param {{kind: string, value: string}} found @param {string} words @param {string} about */
const usable = ({ kind, value }, words, about) => {
  const href = (kind === "mail" && !value.startsWith("mailto:") ? "mailto:" : "") + value
  if (kind !== "date") return h("a", { href, target: "_blank", rel: "noopener noreferrer" }, words)
  /** @param {Event} event */
  const onclick = event => {
    event.preventDefault()
    save(new Blob([calendar(value, about)]), `${about.replace(/[\\/:*?"<>|]/g, " ").slice(0, 40) || "Date"}.ics`)
  }
  return h("a", { href: "#", role: "button", class: "found-date", title: "Add to the calendar", onclick }, words)
}

/**
 * One event: of an hour, or of the whole day if the date has no time (RFC 5545).
 * @param {string} date "2026-11-21", "2026-11-21T18:30" @param {string} title
 */
export const calendar = (date, title) => {
  const plain = date.slice(0, 16).replace(/[-:]/g, "")
  const next = new Date(Date.parse(date.slice(0, 10)) + 86_400_000).toISOString().slice(0, 10).replace(/-/g, "")
  const summary = `SUMMARY:${title.replace(/[\\;,]/g, "\\$&").replace(/\s+/g, " ")}`
  return ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Hesper//EN", "BEGIN:VEVENT",
    `UID:${plain}-${encodeURIComponent(title).slice(0, 40)}`,
    `DTSTAMP:${new Date().toISOString().replace(/[-:]|\.\d+/g, "")}`,
    ...plain.length > 8 ? [`DTSTART:${plain}00`, "DURATION:PT1H"]
      : [`DTSTART;VALUE=DATE:${plain}`, `DTEND;VALUE=DATE:${next}`],
    // A line has at most 75 bytes: 18 characters, even where each needs four.
    (summary.match(/.{1,18}/gu) ?? []).join("\r\n "), "END:VEVENT", "END:VCALENDAR", ""].join("\r\n")
}

/**
 * The place in the text of an element that is nearest to a point of the screen, in UTF-16 units as a <textarea> counts.
 * @param {Element} element @param {number} x @param {number} y @returns {number | null}
 */
export const placeAt = (element, x, y) => {
  /** @type {any} */
  const page = document
  const caret = page.caretPositionFromPoint?.(x, y) ?? page.caretRangeFromPoint?.(x, y)
  const node = caret?.offsetNode ?? caret?.startContainer
  if (!node || !element.contains(node)) return null
  const range = document.createRange()
  range.setStart(element, 0)
  range.setEnd(node, caret.offset ?? caret.startOffset)
  return range.toString().length
}
