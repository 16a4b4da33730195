// A text as one reads it: links, mail addresses and dates in it can be used; and which place of the text is at a point of the screen.

import { findings } from "../model/text.js"
import { h } from "./dom.js"

const longest = 200_000 // characters that are searched for links; what is after them is shown as it is

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
  for (const found of [...findings(text.slice(0, longest)), { kind: "", start: text.length, end: text.length, value: "" }]) {
    if (found.start < end) continue
    if (end < line) title.append(text.slice(end, Math.min(line, found.start)))
    if (found.start > line) rest.append(text.slice(Math.max(line, end), found.start))
    if (found.kind) (found.start < line ? title : rest).append(element(found, text.slice(found.start, found.end), about))
    end = found.end
  }
  // A line break at the very end has no height of its own in a <div>, but has in a <textarea>.
  return [title, rest, text.endsWith("\n") && h("br")]
}

/** @param {{kind: string, value: string}} found @param {string} words @param {string} title */
const element = (found, words, title) => {
  if (found.kind === "date") {
    const save = () => saveAs(`${title.slice(0, 40) || "Date"}.ics`, calendar(found.value, title), "text/calendar")
    return h("a", { href: "#", role: "button", class: "found-date", title: "Add to calendar", onclick: act(save), "data-value": found.value }, words)
  }
  const href = found.kind === "mail" && !found.value.startsWith("mailto:") ? `mailto:${found.value}` : found.value
  return h("a", { href, target: "_blank", rel: "noopener noreferrer" }, words)
}

/** @param {() => void} action @returns {(event: Event) => void} */
const act = action => event => { event.preventDefault(); action() }

/**
 * Saves as a file of this name, in the way browsers do it.
 * @param {string} name @param {string | Blob} content @param {string} [type]
 */
export const saveAs = (name, content, type = "text/plain") => {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }))
  h("a", { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/**
 * One event of a day, or of an hour if the date has a time (RFC 5545).
 * @param {string} date "2026-11-21", "2026-11-21T18:30" @param {string} title
 */
export const calendar = (date, title) => {
  const [day, time] = date.split("T")
  const plain = day.replaceAll("-", "")
  const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10).replaceAll("-", "")
  const start = `${plain}T${(time ?? "").slice(0, 5).replace(":", "")}00`
  const words = title.replace(/[\\;,]/g, "\\$&").replace(/\s+/g, " ")
  return [
    "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Hesper//Hesper//EN", "BEGIN:VEVENT",
    `UID:${plain}-${[...words].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) >>> 0, 7)}@hesper`,
    `DTSTAMP:${new Date().toISOString().replace(/[-:]|\.\d+/g, "")}`,
    ...(time ? [`DTSTART:${start}`, "DURATION:PT1H"] : [`DTSTART;VALUE=DATE:${plain}`, `DTEND;VALUE=DATE:${next}`]),
    ...fold(`SUMMARY:${words}`), "END:VEVENT", "END:VCALENDAR", "",
  ].join("\r\n")
}

/**
 * Lines of at most 75 bytes: 18 characters, even where each needs four.
 * @param {string} line
 */
const fold = line => (line.match(/.{1,18}/gu) ?? []).map((part, at) => at ? ` ${part}` : part)

/**
 * The place in the text of an element that is nearest to a point of the screen.
 * @param {Element} element
 * @param {number} x @param {number} y @returns {number | null} in UTF-16 units, as a <textarea> counts
 */
export const placeAt = (element, x, y) => {
  /** @type {any} */
  const page = document
  const at = page.caretPositionFromPoint?.(x, y)
  const caret = at ? [at.offsetNode, at.offset] : page.caretRangeFromPoint ? caretOf(page.caretRangeFromPoint(x, y)) : null
  if (!caret || !element.contains(caret[0])) return null
  const range = document.createRange()
  range.setStart(element, 0)
  range.setEnd(caret[0], caret[1])
  return range.toString().length
}

/** @param {Range | null} range */
const caretOf = range => range && [range.startContainer, range.startOffset]
