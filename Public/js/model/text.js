// What is shown of a text: its title, an excerpt, and what can be clicked in it. It is computed and never synced
// (clients.md, rule 7).
import {parseDate} from "./clock.js"

/** At most 200 characters of a line, from its first visible one. */
const LINE = /\S.{0,199}/gu
/** What Markdown begins a line with: headings, lists, quotations, check boxes, bold text. */
const MARKUP = /^(?:#+|[-+*>]+(?=\s|$)|\[[ x]\](?=\s|$)|\*\*|\s)+/i

/** The front matter of a Markdown file: lines of YAML between `---` and `---` at its beginning. */
const FRONT_MATTER = /^---[ \t]*\r?\n(?=[\w-]+:)((?:[^\r\n]{0,500}\r?\n){1,100}?)(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/
/** The title in front matter, with or without quotation marks. */
const TITLE = /^title:[ \t]*(["']?)(\S.{0,199}?)\1[ \t]*\r?$/im

/** The first lines that have words, without markup. Of front matter, only the title counts, as the first line. */
const linesOf = (text, count) => {
  const lines = []
  const [{length = 0} = "", metadata = ""] = text.match(FRONT_MATTER) ?? []
  const title = metadata.match(TITLE)?.[2]
  if (title) lines.push(title)
  for (const [line] of text.slice(length).matchAll(LINE)) {
    if (lines.length === count) break
    const plain = line.replace(MARKUP, "").trimEnd()
    if (plain && plain !== title) lines.push(plain)
  }
  return lines
}

/**
 * The first line with words, at most 200 characters of it; "" if there is none.
 *
 * @type {(text: string) => string}
 */
export const titleOf = text => linesOf(text, 1)[0] ?? ""

/**
 * The lines after the title, on one line.
 *
 * @type {(text: string) => string}
 */
export const excerptOf = text => linesOf(text, 4).slice(1).join(" ")

/** A web address, without the punctuation of the sentence around it. Round brackets belong to it in pairs. */
const LINK = /\b(?:https?:\/\/|www\.)(?:[^\s<>"`“”„«»。、，；：！？「」『』（）【】《》()]|\([^\s()]*\))+(?<![\]}.,;:!?'’*_~|…])/gi
const MAIL = new RegExp("(?<![\\p{L}\\p{N}_.+@/-])(?:mailto:)?([\\w+-](?:[\\w.+-]{0,62}[\\w+-])?"
  + "@(?:[a-z\\d][a-z\\d-]{0,62}\\.)+[a-z]{2,24})(?![\\w@-])", "giu")

const MONTHS = "january february march april may june july august september october november december".split(" ")
const YEAR = "(?<year>[1-9]\\d{3})"
const MONTH = "(?<month>\\d\\d?)"
const NAME = "(?<name>[a-z]{3,9})\\.?"
const DAY = "(?<day>\\d\\d?)(?:st|nd|rd|th)?"
/** A day that cannot be a month: 3/4 may be in April or in March, and is no date. */
const LATE = "(?<day>1[3-9]|2\\d|3[01])"
const TIME = "(?:(?:,? (?:at )?|T)(?<hour>[01]?\\d|2[0-3]):(?<minute>[0-5]\\d)(?: ?(?<half>[ap])m\\b)?"
  + "(?![\\w:.+]*\\d|Z))?"
const DATES = [
  `${YEAR}-(?<month>\\d\\d)-(?<day>\\d\\d)`, // 2026-11-21
  `${DAY}\\. ?${MONTH}\\. ?${YEAR}`, // 21.11.2026
  `${LATE}/${MONTH}/${YEAR}`, // 21/11/2026
  `${MONTH}/${LATE}/${YEAR}`, // 11/21/2026
  `${DAY}\\.? (?:of )?${NAME},? ${YEAR}`, // 21 November 2026
  `${NAME} ${DAY},? ${YEAR}`, // November 21, 2026
].map(date => new RegExp(`(?<![\\w./:-])${date}(?![\\d-])${TIME}`, "gi"))

/** The address of a match of LINK; false if it is none. */
const addressOf = ({0: link}) => {
  try {
    const {href, hostname} = new URL(/^www/i.test(link) ? `https://${link}` : link)
    return !/^www\.?$|\.\./.test(hostname) && href
  } catch {
    return false
  }
}

/** The date of a match of DATES; false if there is no such day. */
const dateOf = ({groups: {year, name, month, day, hour, minute, half}}) => {
  const twoDigits = number => String(number).padStart(2, "0")
  const monthNumber = month ?? MONTHS.findIndex(one => one.startsWith(name.toLowerCase())) + 1
  const date = [year, twoDigits(monthNumber), twoDigits(day)].join("-")
  if (parseDate(`${date}T00:00:00.000Z`) === null) return false
  if (!hour) return date
  const hours = half ? hour % 12 + (/p/i.test(half) ? 12 : 0) : hour
  return `${date}T${twoDigits(hours)}:${minute}`
}

/** @type {any} */
const FINDERS = [
  ["link", LINK, addressOf],
  ["mail", MAIL, ({1: address}) => `mailto:${address}`],
  ...DATES.map(date => ["date", date, dateOf]),
]

/**
 * Links, mail addresses and dates, in order and without overlaps: the first of two that overlap stands, the link of two
 * that begin together. A mail address is not part of a word or a link, a date not part of something longer such as a
 * version. What may be one of two dates is none.
 *
 * @type {(text: string) => Finding[]}
 */
export const findings = text => {
  const found = FINDERS.flatMap(([kind, pattern, valueOf]) => [...text.matchAll(pattern)].map(({index = 0, ...match}) =>
    ({kind, start: index, end: index + match[0].length, value: valueOf(match)})))
  let end = 0
  return found.sort((a, b) => a.start - b.start).filter(one => one.value && one.start >= end && (end = one.end))
}
