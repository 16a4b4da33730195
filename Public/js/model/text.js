// What is computed from a note's text and never synced (clients.md, rule 7), and what differs between two texts, for
// people to see and for the cursor to follow. The merge itself is the server's.
import {parseDate} from "./entity.js"
import {termsOf} from "./terms.js"

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

/** @type {Model["titleOf"]} */
export const titleOf = text => linesOf(text, 1)[0] ?? ""

/** @type {Model["excerptOf"]} */
export const excerptOf = text => linesOf(text, 4).slice(1).join(" ")

/** Up to punctuation and brackets that are the sentence's: a link has whole pairs of round ones. */
const LINK = /\b(?:https?:\/\/|www\.)(?:[^\s<>"`“”„«»。、，；：！？「」『』（）【】《》()]|\([^\s()]*\))+(?<![\]}.,;:!?'’*_~|…])/gi
/** Not inside of words with letters that addresses do not have, nor of links. */
const MAIL = new RegExp("(?<![\\p{L}\\p{N}_.+@/-])(?:mailto:)?([\\w+-](?:[\\w.+-]{0,62}[\\w+-])?"
  + "@(?:[a-z\\d][a-z\\d-]{0,62}\\.)+[a-z]{2,24})(?![\\w@-])", "giu")

const MONTHS = "january february march april may june july august september october november december".split(" ")
const YEAR = "(?<year>[1-9]\\d{3})", MONTH = "(?<month>\\d\\d?)", NAME = "(?<name>[a-z]{3,9})\\.?"
const DAY = "(?<day>\\d\\d?)(?:st|nd|rd|th)?"
/** In what may be 3 April or 4 March, one that cannot be a month. */
const LATE = "(?<day>1[3-9]|2\\d|3[01])"
const TIME = "(?:(?:,? (?:at )?|T)(?<hour>[01]?\\d|2[0-3]):(?<minute>[0-5]\\d)(?: ?(?<half>[ap])m\\b)?(?![\\w:.+]*\\d|Z))?"
const DATES = [
  `${YEAR}-(?<month>\\d\\d)-(?<day>\\d\\d)`, `${DAY}\\. ?${MONTH}\\. ?${YEAR}`, `${LATE}/${MONTH}/${YEAR}`,
  `${MONTH}/${LATE}/${YEAR}`, `${DAY}\\.? (?:of )?${NAME},? ${YEAR}`, `${NAME} ${DAY},? ${YEAR}`,
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

const dateOf = ({groups: {year, name, month, day, hour, minute, half}}) => {
  const two = number => String(number).padStart(2, "0")
  const date = [year, two(month ?? MONTHS.findIndex(one => one.startsWith(name.toLowerCase())) + 1), two(day)].join("-")
  if (parseDate(`${date}T00:00:00.000Z`) === null) return false
  if (!hour) return date
  return `${date}T${two(half ? hour % 12 + (/p/i.test(half) ? 12 : 0) : hour)}:${minute}`
}

/** @type {[any, RegExp, Function][]} */
const FINDERS = [["link", LINK, addressOf], ["mail", MAIL, ([, address]) => `mailto:${address}`],
  ...DATES.map(date => /** @type {any} */ (["date", date, dateOf]))]

/** @type {Model["findings"]} */
export const findings = text => {
  const found = FINDERS.flatMap(([kind, pattern, valueOf]) => [...text.matchAll(pattern)].map(match => {
    const {0: {length}, index: start = 0} = match
    return {kind, start, end: start + length, value: valueOf(match) || ""}
  }))
  // Of two that overlap the first stands, and of two that begin together, as sorting is stable, the link.
  let end = 0
  return found.sort((a, b) => a.start - b.start).filter(one => one.value && one.start >= end && (end = one.end))
}

/** The most changes, tokens times changes, and letters of changed lines that are looked at: beyond, all is changed. */
const MOST_CHANGES = 1000, MOST_WORK = 2e7, MOST_LETTERS = 10_000

const characters = new Intl.Segmenter(), words = new Intl.Segmenter(undefined, {granularity: "word"})
const splitLines = text => text.match(/[^\n]*\n|[^\n]+/g) ?? []
const splitWords = text => text.length > MOST_LETTERS ? [text] : Array.from(words.segment(text), ({segment}) => segment)

/**
 * The greedy algorithm of Myers (1986): for each token of both, in order, -1: removed, 1: added, 0: in both. Null
 * beyond what is worth the work.
 */
const align = (a, b) => {
  const most = Math.min(MOST_CHANGES, Math.ceil(MOST_WORK / (a.length + b.length)))
  const ways = [] // the furthest on each diagonal: how far in a, how it came there, and what was the same then
  for (let changes = 0; changes <= most; changes++) {
    for (let at = most - changes; at <= most + changes; at += 2) {
      const above = ways[at + 1], left = ways[at - 1]
      const isAdded = !left || above?.x > left.x, from = isAdded ? above : left
      const begin = from ? from.x + (isAdded ? 0 : 1) : 0, shift = most - at
      let x = begin
      while (x < a.length && a[x] === b[x + shift]) x++
      ways[at] = {x, same: x - begin, step: isAdded ? 1 : -1, from}
      if (x === a.length && x + shift === b.length) return stepsTo(ways[at])
    }
  }
  return null
}

const stepsTo = way => {
  const steps = []
  for (; way; way = way.from) {
    for (let i = 0; i < way.same; i++) steps.push(0)
    if (way.from) steps.push(way.step)
  }
  return steps.reverse()
}

/** Token by token: what was removed, what was added in its place, and what is the same after it. */
const compare = (a, b) => {
  let i = 0, j = 0, hunk = {removed: "", added: "", same: ""}
  const hunks = [hunk]
  for (const step of align(a, b) ?? [...a.map(() => -1), ...b.map(() => 1)]) {
    if (!step) {
      hunk.same += a[i++]
      j++
      continue
    }
    // Nothing but blanks and signs between two changes in a line is changed with them.
    const isGlue = hunk.removed + hunk.added && !/[\p{L}\p{N}\n]/u.test(hunk.same)
    if (hunk.same && !isGlue) hunks.push(hunk = {removed: "", added: "", same: ""})
    hunk.removed += hunk.same + (step < 0 ? a[i++] : "")
    hunk.added += hunk.same + (step > 0 ? b[j++] : "")
    hunk.same = ""
  }
  return hunks
}

/** @type {Model["difference"]} */
export const difference = (before, after) => {
  const hunks = compare(splitLines(before), splitLines(after)).flatMap(hunk => {
    const {removed, added, same} = hunk
    if (!removed || !added) return hunk
    const inside = compare(splitWords(removed), splitWords(added))
    // Where hardly a word is left, another text took the place of this one.
    const kept = inside.reduce((sum, one) => sum + one.same.length, 0)
    return kept * 4 < Math.min(removed.length, added.length) ? hunk : [...inside, {removed: "", added: "", same}]
  })
  /** @type {Piece[]} */
  const pieces = []
  let old = 0, now = 0
  for (const hunk of hunks) for (const kind of /** @type {const} */ (["removed", "added", "same"])) {
    const text = hunk[kind], last = pieces[pieces.length - 1]
    if (last?.kind === kind) last.text += text
    else if (text) pieces.push({kind, text, old, now})
    if (kind !== "added") old += text.length
    if (kind !== "removed") now += text.length
  }
  return pieces
}

/** Whether a place is between two characters as people see them. */
const boundsOf = text => {
  const all = characters.segment(text)
  return at => (all.containing(at)?.index ?? at) === at
}

/** @type {Model["splice"]} */
export const splice = (before, after) => {
  const most = Math.min(before.length, after.length), isBound = boundsOf(before), isBoundAfter = boundsOf(after)
  let start = 0, tail = 0
  while (start < most && before[start] === after[start]) start++
  while (!isBound(start) || !isBoundAfter(start)) start--
  while (tail < most - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  while (!isBound(before.length - tail) || !isBoundAfter(after.length - tail)) tail--
  return {start, end: before.length - tail, text: after.slice(start, after.length - tail)}
}

/** @type {Model["moveCaret"]} */
export const moveCaret = (place, before, after) => {
  const pieces = difference(before, after)
  // What comes in at the beginning of a line comes before it, anywhere else behind what was there.
  const isLineStart = before[place - 1] === "\n" && place < before.length
  const at = pieces.findIndex(({kind, text, old}) => kind !== "added"
    && (place < old + text.length || kind === "same" && place === old + text.length && !isLineStart))
  if (at < 0) return after.length
  const {kind, old, now} = pieces[at], next = pieces[at + 1]
  if (kind === "same") return now + place - old
  // In words that were replaced: as far into what replaced them.
  const isBound = boundsOf(after)
  let to = now + Math.min(place - old, next?.kind === "added" ? next.text.length : 0)
  while (!isBound(to)) to--
  return to
}

/** @type {Model["rebase"]} */
export const rebase = (base, mine, theirs) => {
  if (mine === base || mine === theirs) return theirs
  const {start, end, text} = splice(base, mine)
  // Inside of what stayed: beside a change nobody can tell what belongs to what.
  const around = difference(base, theirs).find(({kind, old, text: {length}}, i, all) =>
    kind === "same" && (!i || old < start) && (i === all.length - 1 || end < old + length))
  return around ? theirs.slice(0, around.now + start - around.old) + text + theirs.slice(around.now + end - around.old) : null
}

/** @type {Model["lostWords"]} */
export const lostWords = (mine, base, standing) => {
  const counts = new Map()
  const count = (term, more) => counts.set(term, (counts.get(term) ?? 0) + more).get(term)
  for (const term of [...termsOf(base), ...termsOf(standing)]) count(term, 1)
  return termsOf(mine).some(term => count(term, -1) < 0)
}
