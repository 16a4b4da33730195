// What is computed from a note's text and never synced (clients.md, rule 7).
import {parseDate} from "./clock.js"

/** Some of a line, from its first letter on; whole scalars. */
const LINE = /\S.{0,199}/gu
/** What Markdown begins headings, lists, tasks, quotations and bold words with. */
const MARKS = /^(?:#+|[-+*>]+(?=\s|$)|\[[ x]\](?=\s|$)|\*\*|\s)+/i

/** The first lines that have more than marks, without them. */
const linesOf = (text, most) => {
  const lines = []
  for (const [line] of text.matchAll(LINE)) {
    const plain = line.replace(MARKS, "").trimEnd()
    if (plain && lines.push(plain) === most) break
  }
  return lines
}

/** Its first line, at most 200 characters; "" if it has no words. @param {string} text @returns {string} */
export const titleOf = text => linesOf(text, 1)[0] ?? ""

/** Some of what follows the title, on one line. @param {string} text */
export const excerptOf = text => linesOf(text, 4).slice(1).join(" ")

/** Up to punctuation and brackets that are the sentence's: a link has whole pairs of round ones. */
const LINK = /\b(?:https?:\/\/|www\.)(?:[^\s<>"`“”„«»。、，；：！？「」『』（）【】《》()]|\([^\s()]*\))+(?<![\]}.,;:!?'’*_~|…])/gi
/** Not inside of words with letters that addresses do not have, nor of links. */
const MAIL = new RegExp("(?<![\\p{L}\\p{N}_.+@/-])(?:mailto:)?([\\w+-](?:[\\w.+-]{0,62}[\\w+-])?"
  + "@(?:[a-z\\d][a-z\\d-]{0,62}\\.)+[a-z]{2,24})(?![\\w@-])", "giu")

const MONTHS = "january february march april may june july august september october november december".split(" ")
const NAME = `(?<name>${MONTHS.map(name => name.replace(/^(...)(.?)(.*)/, "$1(?:$2(?:$3)?)?")).join("|")})\\.?`
const YEAR = "(?<year>[1-9]\\d{3})", MONTH = "(?<month>\\d\\d?)", DAY = "(?<day>\\d\\d?)"
/** In what may be 3 April or 4 March, one that cannot be a month. */
const LATE = "(?<day>1[3-9]|2\\d|3[01])"
const TIME = "(?:(?:,? (?:at )?|T)(?<hour>[01]?\\d|2[0-3]):(?<minute>[0-5]\\d)(?: ?(?<half>[ap])m\\b)?(?![\\w:.+]*\\d|Z))?"
const DATES = [
  `${YEAR}-(?<month>\\d\\d)-(?<day>\\d\\d)`, `${DAY}\\. ?${MONTH}\\. ?${YEAR}`, `${LATE}/${MONTH}/${YEAR}`,
  `${MONTH}/${LATE}/${YEAR}`, `${DAY}(?:st|nd|rd|th|\\.)? (?:of )?${NAME},? ${YEAR}`,
  `${NAME} ${DAY}(?:st|nd|rd|th)?,? ${YEAR}`,
  // Not the end of something longer, such as a version or a path.
].map(date => new RegExp(`(?<![\\w./:-])${date}(?![\\d-])${TIME}`, "gi"))

const addressOf = ([link]) => {
  try {
    const {href, hostname} = new URL(/^www/i.test(link) ? `https://${link}` : link)
    // A name without a dot is a machine at home, which nobody writes with www.
    return !/^www\.?$|\.\./.test(hostname) && href
  } catch {
    return false
  }
}

const two = text => text.padStart(2, "0")

const dateOf = ({groups: {year, name, month, day, hour, minute, half}}) => {
  const number = name ? `${MONTHS.findIndex(one => one.startsWith(name.slice(0, 3).toLowerCase())) + 1}` : month
  const date = `${year}-${two(number)}-${two(day)}`
  if (parseDate(`${date}T00:00:00.000Z`) === null) return false
  if (!hour) return date
  const hours = half ? `${hour % 12 + (/p/i.test(half) ? 12 : 0)}` : hour
  return `${date}T${two(hours)}:${minute}`
}

/** @type {[Finding["kind"], RegExp, (match: any) => string | false][]} */
const FINDERS = [
  ["link", LINK, addressOf], ["mail", MAIL, ([, address]) => `mailto:${address}`],
  ...DATES.map(date => /** @type {any} */ (["date", date, dateOf])),
]

/** Links, mail addresses and dates, in order and apart from each other. @type {(text: string) => Finding[]} */
export const findings = text => {
  const found = FINDERS.flatMap(([kind, pattern, valueOf]) => [...text.matchAll(pattern)].map(match => {
    const {0: {length}, index: start = 0} = match
    return {kind, start, end: start + length, value: valueOf(match) || ""}
  }))
  // Of two that overlap the first stands, and of two that begin together, as sorting is stable, the link.
  let end = 0
  return found.sort((a, b) => a.start - b.start).filter(one => one.value && one.start >= end && (end = one.end))
}
