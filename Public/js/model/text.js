// The title, the excerpt, and the links and dates of a text. They are computed and never synced (clients.md, rule 7).
import {parseDate} from "./clock.js"
import {withoutMarks} from "./marks.js"

/** At most 1000 characters of a line, from its first visible one. */
const LINE = /\S.{0,999}/gu
/** How much of a line is shown, in characters. */
const SHOWN = 200
/** How much of a text is searched for the words of an excerpt, in UTF-16 code units. */
const MAX_SEARCHED = 100_000
/** How far from the beginning of an excerpt a match may be, in UTF-16 code units. */
const LEAD = 32
/** Markdown at the beginning of a line: headings, lists, quotations, check boxes. */
const MARKUP = /^(?:#+(?=\s|#|$)|[-+*>]+(?=\s|$)|\[[ x]\](?=\s|$)|\s)+/i
/** Lines of Markdown without words: rules, lines of tables, the beginning and the end of code. */
const RULE = /^(?:[-=_*|:\s]{3,}|(?:`{3,}|~{3,})[\w-]*)$/
/** Syntax characters within a line, and their replacements. Each pattern takes linear time, as no part of it can contain its end. */
const MARKS = /** @type {[RegExp, string][]} */ ([
  [/!?\[([^[\]]+)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"]*")?\)/g, "$1"], // a link
  [/!\[\]\((?:[^()\s]|\([^()\s]*\))*\)/g, ""],
  [/\[\[([^[\]]+)\]\]/g, "$1"], // a link to a note
  [/<((?:https?:|mailto:)[^<>\s]*)>/g, "$1"],
  [/(?<!\\)(`+)([^`]+)\1/g, "$2"],
  ...Array(2).fill([/(?<![\\*~])(\*{1,3}|~~)(?=[^\s*~])([^*~]*[^*~\s])\1/g, "$2"]), // bold within italic text
  [/(?<![\p{L}\p{N}_\\])(_{1,2})(?=[^\s_])([^_]*[^_\s])\1(?![\p{L}\p{N}_])/gu, "$2"],
  [/\\([!-/:-@[-`{-~])/g, "$1"],
])

/** A line without the marks of Markdown. */
const plain = line => {
  if (RULE.test(line)) return ""
  const words = withoutMarks(line).replace(MARKUP, "")
  return (/[[\]<`*~_\\]/.test(words) ? MARKS.reduce((text, [mark, by]) => text.replace(mark, by), words) : words).trim()
}

/** At most 200 characters. */
const shown = line => line.length > SHOWN ? line.match(/^.{0,200}/su)[0].trimEnd() : line

/** The front matter of a Markdown file: lines of YAML between `---` and `---` at its beginning. */
export const FRONT_MATTER = /^---[ \t]*\r?\n(?=[\w-]+:)((?:[^\r\n]{0,500}\r?\n){1,100}?)(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/
/** The title in front matter, with or without quotation marks. */
const TITLE = /^title:[ \t]*(["']?)(\S.{0,199}?)\1[ \t]*\r?$/im

/** Lines that have words, without marks. Of front matter, only the title counts, as the first line. */
const linesOf = function* (text) {
  const [{length = 0} = "", metadata = ""] = text.match(FRONT_MATTER) ?? []
  const title = metadata.match(TITLE)?.[2]
  if (title) yield title
  for (const [line] of text.slice(length).matchAll(LINE)) {
    const words = plain(line.trimEnd())
    if (words && words !== title) yield words
  }
}

/**
 * The first line with words, without the marks of Markdown, at most 200 characters of it; "" if there is none.
 *
 * @type {(text: string) => string}
 */
export const titleOf = text => shown(linesOf(text).next().value ?? "")

/** The next lines. */
const take = (lines, count) => {
  const taken = []
  for (let next; taken.length < count && !(next = lines.next()).done;) taken.push(shown(next.value))
  return taken
}

/** The lines after the title. */
const bodyOf = text => {
  const lines = linesOf(text)
  lines.next()
  return lines
}

/** Three lines from the first match on. */
const excerptAround = (text, find) => {
  const lines = bodyOf(text.slice(0, MAX_SEARCHED))
  for (const line of lines) {
    const [[start] = [-1]] = find(line)
    if (start < 0) continue
    const cut = start > LEAD ? Math.max(start - LEAD, line.lastIndexOf(" ", start - LEAD / 2) + 1) : 0
    const end = line.slice(cut).replace(/^[\udc00-\udfff]/, "") // the second half of a character
    return [cut ? `…${shown(end)}` : shown(line), ...take(lines, 2)].join(" ")
  }
  return ""
}

/**
 * Three lines after the title, on one line. With `find`, which returns the ranges of a search in a text, they begin near its first
 * match.
 *
 * @type {(text: string, find?: (text: string) => [number, number][]) => string}
 */
export const excerptOf = (text, find) => find && excerptAround(text, find) || take(bodyOf(text), 3).join(" ")

/**
 * What another app shares, as the text of a note. Apps often repeat the title or the address in the text.
 *
 * @type {(shared: {title?: string, text?: string, url?: string}) => string}
 */
export const sharedText = shared => {
  const [title, text, url] = [shared.title, shared.text, shared.url].map((part = "") => part.replaceAll("\r\n", "\n").trim())
  const parts = [!text.startsWith(title) && title, text, !`${title}\n${text}`.includes(url) && url]
  return parts.filter(Boolean).join("\n\n")
}

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
