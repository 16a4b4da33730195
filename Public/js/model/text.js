// What is computed from a note's text and never synced (clients.md, rule 7).

/** @typedef {{kind: "link" | "mail" | "date", start: number, end: number, value: string}} Finding */

/** Some of a line, from its first letter on; whole scalars. */
const LINE = /\S.{0,199}/gu
/** What Markdown begins headings, lists, tasks, quotations and bold words with. */
const MARKS = /^(?:#+|[-+*>]+(?=\s|$)|\[[ x]\](?=\s|$)|\*\*|\s)+/i

/**
 * The first lines that have more than marks, without them: at most 200 characters of each.
 * @type {(text: string, most: number) => string[]}
 */
const linesOf = (text, most) => {
  const lines = []
  for (const [line] of text.matchAll(LINE)) {
    const plain = line.replace(MARKS, "").trimEnd()
    if (plain && lines.push(plain) === most) break
  }
  return lines
}

/**
 * What a note is called: its first line, without what Markdown begins it with. "" if it has no words.
 * @type {(text: string) => string}
 */
export const titleOf = text => linesOf(text, 1)[0] ?? ""

/**
 * Some of what follows the title, on one line.
 * @type {(text: string) => string}
 */
export const excerptOf = text => linesOf(text, 4).slice(1).join(" ")

const LINK = /\b(?:https?:\/\/|www\.)[^\s<>"`“”„«»。、，；：！？「」『』（）【】《》]+/gi
const CLOSING = ")]}", OPENING = "([{"

/**
 * Where a link ends: punctuation and brackets that were opened before it are the sentence's.
 * @type {(link: string) => number}
 */
const endOf = link => {
  const open = [...OPENING].map((bracket, i) => link.split(bracket).length - link.split(CLOSING[i]).length)
  let end = link.length
  for (; end; end--) {
    const bracket = CLOSING.indexOf(link[end - 1])
    if (bracket < 0 ? !".,;:!?'’*_~|…".includes(link[end - 1]) : open[bracket]++ >= 0) break
  }
  return end
}

/** @type {(text: string, found: Finding[]) => void} */
const findLinks = (text, found) => {
  for (const {0: match, index = 0} of text.matchAll(LINK)) {
    const link = match.slice(0, endOf(match))
    try {
      const {href, hostname, protocol} = new URL(/^www/i.test(link) ? `https://${link}` : link)
      // A name without a dot is a machine at home, which nobody writes with www.
      if (!/^https?:$/.test(protocol) || /^www\.?$/.test(hostname) || hostname.includes("..")) continue
      found.push({kind: "link", start: index, end: index + link.length, value: href})
    } catch {
      // Not an address after all.
    }
  }
}

/**
 * Mail addresses, from each @ outwards: a pattern that begins before it would read long words again and again.
 * @type {(text: string, found: Finding[]) => void}
 */
const findMail = (text, found) => {
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
    const [local] = /[\w.+-]*$/.exec(text.slice(Math.max(0, at - 64), at)) ?? [""]
    const [domain] = /^(?:[a-z\d][a-z\d-]{0,62}\.)+[a-z]{2,24}(?![\w@-])/i.exec(text.slice(at + 1, at + 255)) ?? [""]
    let start = at - local.length
    // A letter that addresses do not have, or a word too long for one.
    if (!domain || !/^\w(?:.*[\w+-])?$/.test(local) || /[\p{L}\p{N}@/]/u.test(text[start - 1] ?? "")) continue
    if (text.slice(Math.max(0, start - 7), start).toLowerCase() === "mailto:") start -= 7
    const end = at + 1 + domain.length
    found.push({kind: "mail", start, end, value: `mailto:${local}@${domain}`})
  }
}

const MONTHS = "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
  + "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
const DATE = new RegExp("\\b(?:(\\d{4})-(\\d\\d)-(\\d\\d)|(\\d\\d?)\\. ?(\\d\\d?)\\. ?(\\d{4})"
  + `|(\\d\\d?)/(\\d\\d?)/(\\d{4})|(\\d\\d?)(?:st|nd|rd|th|\\.)? (?:of )?(${MONTHS})\\.?,? (\\d{4})`
  + `|(${MONTHS})\\.? (\\d\\d?)(?:st|nd|rd|th)?,? (\\d{4}))`
  + "(?![\\d-])(?:(?:,? (?:at )?|T)([01]?\\d|2[0-3]):([0-5]\\d)(?: ?([ap])m\\b)?(?![\\w:.+]*\\d|Z))?", "gi")

/** @type {(text: string, found: Finding[]) => void} */
const findDates = (text, found) => {
  for (const match of text.matchAll(DATE)) {
    const {0: {length}, index = 0} = match
    const [year, month, day] = partsOf(match)
    const moment = new Date(Date.UTC(year, month - 1, day))
    const isDay = moment.getUTCMonth() === month - 1 && moment.getUTCDate() === day
    // The end of something longer, such as a version or a path.
    if (!isDay || year < 1000 || /[\w./:-]/.test(text[index - 1] ?? "")) continue
    const value = moment.toISOString().slice(0, 10) + timeOf(match)
    found.push({kind: "date", start: index, end: index + length, value})
  }
}

/**
 * Year, month and day. What may be 3 April or 4 March is neither: NaN.
 * @type {(match: RegExpMatchArray) => number[]}
 */
const partsOf = match => {
  const [, y, m, d, d2, m2, y2, a, b, y3, d4, m4, y4, m5, d5, y5] = match
  if (y) return [+y, +m, +d]
  if (y2) return [+y2, +m2, +d2]
  if (y3) return +b > 12 ? [+y3, +a, +b] : +a > 12 || a === b ? [+y3, +b, +a] : [NaN]
  const name = (m4 ?? m5).slice(0, 3).toLowerCase()
  return [+(y4 ?? y5), "janfebmaraprmayjunjulaugsepoctnovdec".indexOf(name) / 3 + 1, +(d4 ?? d5)]
}

/** @type {(match: RegExpMatchArray) => string} */
const timeOf = match => {
  const [hour, minute, half] = match.slice(16)
  if (!hour) return ""
  const hours = half ? +hour % 12 + (/p/i.test(half) ? 12 : 0) : +hour
  return `T${String(hours).padStart(2, "0")}:${minute}`
}

/**
 * Links, mail addresses and dates in a text, in order and apart from each other; places in UTF-16 code units. Values of
 * links are http: and https: addresses, of mail mailto:, of dates `2026-11-21` or `2026-11-21T14:30`, local time.
 * @type {(text: string) => Finding[]}
 */
export const findings = text => {
  /** @type {Finding[]} */
  const found = []
  findLinks(text, found)
  findMail(text, found)
  findDates(text, found)
  // Of two that overlap the first stands, and of two that begin together, as sorting is stable, the link.
  let end = 0
  return found.sort((a, b) => a.start - b.start).filter(one => one.start >= end && (end = one.end))
}
