// What is computed from texts and never synced (clients.md, rule 7).
import {parseDate, utf8} from "./entity.js"

// What upper case would lose, or has two cases only since Unicode 16.
const KEPT = "\\u0131\\u1c89\\ua7cb\\ua7cc\\ua7ce\\ua7d2\\ua7d4\\ua7da\\ua7dc\\u{10d50}-\\u{10d65}\\u{16ea0}-\\u{16eb8}"
const CHANGED = new RegExp(`[^${KEPT}]+`, "gu")

/** @type {Model["foldCase"]} */
export const foldCase = text => text.replace(CHANGED, part => part.toLowerCase().toUpperCase().toLowerCase()
  .replaceAll("ς", "σ").replace(/[\u13f8-\u13fd\uab70-\uabbf]/g, cherokee => cherokee.toUpperCase()))

/** @type {Model["foldName"]} */
export const foldName = name =>
  foldCase(name.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, "").normalize()).normalize()

const LONGEST = 64 // bytes of a term
const MOST_SCALARS = 1000, MOST_TERMS = 32

const ACCENTS = new RegExp("(?=\\p{Mn})[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
  + "\u0483-\u0489\u2de0-\u2dff\ua66f-\ua67d\u0591-\u05c7\ufb1e"
  + "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0898-\u08ff\u0711\u0730-\u074a]", "gu")
const UNSPACED = "\u0e00-\u0eff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf"
  + "\uaa80-\uaadf\u3005-\u312f\u31a0-\u31bf\u31f0-\u31ff\\u{1aff0}-\\u{1b16f}\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
  + "\\u{16fe0}-\\u{18dff}\\u{1b170}-\\u{1b2ff}\\u{20000}-\\u{3ffff}"
const RUNS = new RegExp(`[${UNSPACED}][${UNSPACED}\\p{M}]*|[^${UNSPACED}]+`, "gu")
const PAIRED = new RegExp(`[${UNSPACED}]`, "u")
const STROKES = {ø: "o", ł: "l", đ: "d", ħ: "h", ŧ: "t", ı: "i", æ: "ae", œ: "oe"}

const plain = text => foldCase(text.normalize("NFKD")
  // か and が are different letters.
  .replace(/(.?)[\u3099\u309a]/gu, (both, kana) => both.normalize().length === kana.length ? both.normalize() : kana)
  // Before folding, which makes a letter of the iota subscript.
  .replace(ACCENTS, "")).replace(/[øłđħŧıæœ]/g, letter => STROKES[letter])
  .replace(/\u0640|(?!\u200b)[\p{DI}\p{Me}\p{Cf}]/gu, "")

const cut = word => {
  let size = 0
  return [...word.slice(0, LONGEST)].filter(scalar => (size += utf8(scalar).length) <= LONGEST).join("")
}

const runsOf = text => {
  const isASCII = !/[^\0-\x7f]/.test(text)
  if (isASCII) return (text.toLowerCase().match(/[a-z\d]+/g) ?? []).map(word => [word.slice(0, LONGEST)])
  const words = plain(text).match(/[\p{L}\p{N}\p{Mn}\p{Mc}]+/gu) ?? []
  return words.flatMap(word => word.match(RUNS) ?? []).map(run => PAIRED.test(run)
    ? [...run].map((scalar, i, all) => scalar + (all[i + 1] ?? "")) : [run.length * 3 > LONGEST ? cut(run) : run])
}

/** @type {Model["termsOf"]} */
export const termsOf = text => runsOf(text).flat()

// Engines look for the first character, which is to be no space: those are everywhere.
const hay = terms => terms.map(term => `${term[0]}:${term.slice(1)}`).join(" ")

/** @type {Model["haystackOf"]} */
export const haystackOf = text => hay(termsOf(text))

/** @type {Model["queryOf"]} */
export const queryOf = text => {
  if ([...text].length > MOST_SCALARS) return {needles: [], problem: "too-long"}
  const pieces = text.split(/["“”„‟＂]/).flatMap((piece, i) => i % 2 ? piece : piece.split(/\p{White_Space}+/u))
  const phrases = pieces.map(piece => {
    const runs = runsOf(piece), last = runs[runs.length - 1]
    // A text in which the run goes on has no term of its last character alone.
    if (last?.length > 1) last.pop()
    return runs.flat()
  }).filter(terms => terms.length)
  if (phrases.flat().length > MOST_TERMS) return {needles: [], problem: "too-many-terms"}
  return {needles: phrases.map(hay), problem: null}
}

/** @type {Model["matches"]} */
export const matches = ({needles, problem}, haystack) => !problem && needles.every(needle => haystack.includes(needle))

const LINE = /\S.{0,199}/gu
const MARKS = /^(?:#+|[-+*>]+(?=\s|$)|\[[ x]\](?=\s|$)|\*\*|\s)+/i

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

// Without the sentence's punctuation; round brackets in pairs.
const LINK = /\b(?:https?:\/\/|www\.)(?:[^\s<>"`“”„«»。、，；：！？「」『』（）【】《》()]|\([^\s()]*\))+(?<![\]}.,;:!?'’*_~|…])/gi
const MAIL = new RegExp("(?<![\\p{L}\\p{N}_.+@/-])(?:mailto:)?([\\w+-](?:[\\w.+-]{0,62}[\\w+-])?"
  + "@(?:[a-z\\d][a-z\\d-]{0,62}\\.)+[a-z]{2,24})(?![\\w@-])", "giu")

const MONTHS = "january february march april may june july august september october november december".split(" ")
const YEAR = "(?<year>[1-9]\\d{3})", MONTH = "(?<month>\\d\\d?)", NAME = "(?<name>[a-z]{3,9})\\.?"
const DAY = "(?<day>\\d\\d?)(?:st|nd|rd|th)?"
// No month: 3/4 may be April or March.
const LATE = "(?<day>1[3-9]|2\\d|3[01])"
const TIME = "(?:(?:,? (?:at )?|T)(?<hour>[01]?\\d|2[0-3]):(?<minute>[0-5]\\d)(?: ?(?<half>[ap])m\\b)?"
  + "(?![\\w:.+]*\\d|Z))?"
const DATES = [
  `${YEAR}-(?<month>\\d\\d)-(?<day>\\d\\d)`, `${DAY}\\. ?${MONTH}\\. ?${YEAR}`, `${LATE}/${MONTH}/${YEAR}`,
  `${MONTH}/${LATE}/${YEAR}`, `${DAY}\\.? (?:of )?${NAME},? ${YEAR}`, `${NAME} ${DAY},? ${YEAR}`,
].map(date => new RegExp(`(?<![\\w./:-])${date}(?![\\d-])${TIME}`, "gi"))

const addressOf = ({0: link}) => {
  try {
    const {href, hostname} = new URL(/^www/i.test(link) ? `https://${link}` : link)
    return !/^www\.?$|\.\./.test(hostname) && href
  } catch {
    return false
  }
}

const dateOf = ({groups: {year, name, month, day, hour, minute, half}}) => {
  const two = number => String(number).padStart(2, "0")
  const date = [year, two(month ?? MONTHS.findIndex(one => one.startsWith(name.toLowerCase())) + 1), two(day)].join("-")
  if (parseDate(`${date}T00:00:00.000Z`) === null) return false
  return hour ? `${date}T${two(half ? hour % 12 + (/p/i.test(half) ? 12 : 0) : hour)}:${minute}` : date
}

/** @type {any} */
const FINDERS = [["link", LINK, addressOf], ["mail", MAIL, ({1: address}) => `mailto:${address}`],
  ...DATES.map(date => ["date", date, dateOf])]

/** @type {Model["findings"]} */
export const findings = text => {
  const found = FINDERS.flatMap(([kind, pattern, valueOf]) => [...text.matchAll(pattern)].map(({index = 0, ...match}) =>
    ({kind, start: index, end: index + match[0].length, value: valueOf(match)})))
  let end = 0
  return found.sort((a, b) => a.start - b.start).filter(one => one.value && one.start >= end && (end = one.end))
}

const MOST_CHANGES = 1000, MOST_WORK = 2e7, MOST_LETTERS = 10_000

const characters = new Intl.Segmenter(), words = new Intl.Segmenter(undefined, {granularity: "word"})
const splitLines = text => text.match(/[^\n]*\n|[^\n]+/g) ?? []
const splitWords = text => text.length > MOST_LETTERS ? [text] : Array.from(words.segment(text), ({segment}) => segment)

/** Myers's greedy algorithm (1986): the last step of the shortest way; null if it is long. */
const align = (a, b) => {
  const most = Math.min(MOST_CHANGES, Math.ceil(MOST_WORK / (a.length + b.length)))
  const ways = [] // the furthest on each diagonal
  for (let changes = 0; changes <= most; changes++) {
    for (let at = most - changes; at <= most + changes; at += 2) {
      const above = ways[at + 1], left = ways[at - 1], shift = most - at
      const isAdded = !left || above?.x > left.x, from = isAdded ? above : left
      let x = from ? from.x + (isAdded ? 0 : 1) : 0
      while (x < a.length && a[x] === b[x + shift]) x++
      ways[at] = {x, isAdded, from}
      if (x === a.length && x + shift === b.length) return ways[at]
    }
  }
  return null
}

const compare = (a, b) => {
  const way = []
  for (let step = align(a, b); step; step = step.from) way.unshift(step)
  if (!way.length) return [{removed: a.join(""), added: b.join(""), same: ""}]
  let i = 0, j = 0, hunk = {removed: "", added: "", same: ""}
  const hunks = [hunk]
  for (const {x, isAdded, from} of way) {
    if (from) {
      const isGlue = hunk.removed + hunk.added && !/[\p{L}\p{N}\n]/u.test(hunk.same)
      if (hunk.same && !isGlue) hunks.push(hunk = {removed: "", added: "", same: ""})
      hunk.removed += hunk.same + (isAdded ? "" : a[i++])
      hunk.added += hunk.same + (isAdded ? b[j++] : "")
      hunk.same = ""
    }
    for (; i < x; i++, j++) hunk.same += a[i]
  }
  return hunks
}

/** @type {Model["difference"]} */
export const difference = (before, after) => {
  const hunks = compare(splitLines(before), splitLines(after)).flatMap(hunk => {
    const {removed, added, same} = hunk
    if (!removed || !added) return hunk
    const inside = compare(splitWords(removed), splitWords(added))
    const kept = inside.reduce((sum, one) => sum + one.same.length, 0)
    return kept * 4 < Math.min(removed.length, added.length) ? hunk : [...inside, {removed: "", added: "", same}]
  })
  /** @type {Piece[]} */
  const pieces = []
  let old = 0, now = 0
  for (const hunk of hunks) for (const kind of /** @type {const} */ (["removed", "added", "same"])) {
    const text = hunk[kind], last = pieces.at(-1)
    if (last?.kind === kind) last.text += text
    else if (text) pieces.push({kind, text, old, now})
    if (kind !== "added") old += text.length
    if (kind !== "removed") now += text.length
  }
  return pieces
}

/** Not inside of what people see as one character. */
const boundOf = (text, at) => characters.segment(text).containing(at)?.index ?? at

/** @type {Model["splice"]} */
export const splice = (before, after) => {
  const most = Math.min(before.length, after.length)
  const areBounds = (at, atAfter) => boundOf(before, at) === at && boundOf(after, atAfter) === atAfter
  let start = 0, tail = 0
  while (start < most && before[start] === after[start]) start++
  while (!areBounds(start, start)) start--
  while (tail < most - start && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  while (!areBounds(before.length - tail, after.length - tail)) tail--
  return {start, end: before.length - tail, text: after.slice(start, after.length - tail)}
}

/** @type {Model["moveCaret"]} */
export const moveCaret = (place, before, after) => {
  const pieces = difference(before, after)
  // New words come before the beginning of a line, else behind what was there.
  const isLineStart = before[place - 1] === "\n" && place < before.length
  const at = pieces.findIndex(({kind, text, old}) => kind !== "added"
    && (place < old + text.length || kind === "same" && place === old + text.length && !isLineStart))
  if (at < 0) return after.length
  const {kind, old, now} = pieces[at], next = pieces[at + 1]
  if (kind === "same") return now + place - old
  return boundOf(after, now + Math.min(place - old, next?.kind === "added" ? next.text.length : 0))
}

/** @type {Model["rebase"]} */
export const rebase = (base, mine, theirs) => {
  if (mine === base || mine === theirs) return theirs
  const {start, end, text} = splice(base, mine)
  // Beside a change nobody can tell what belongs to what.
  const found = difference(base, theirs).find(({kind, old, text: {length}}, i, all) =>
    kind === "same" && (!i || old < start) && (i === all.length - 1 || end < old + length))
  if (!found) return null
  const shift = found.now - found.old
  return theirs.slice(0, start + shift) + text + theirs.slice(end + shift)
}

/** @type {Model["putIn"]} */
export const putIn = (standing, superseded) => superseded.reduceRight((whole, {text, location, length}) =>
  whole.slice(0, location) + text + whole.slice(location + length), standing)
