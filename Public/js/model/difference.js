// What differs between two texts, for people to see and for the cursor to follow. The merge itself is the server's.
import {termsOf} from "./terms.js"

/** The most changes, tokens times changes, and letters of changed lines that are looked at: beyond, all is changed. */
const MOST_CHANGES = 1000, MOST_WORK = 2e7, MOST_LETTERS = 20_000

const characters = new Intl.Segmenter(), words = new Intl.Segmenter(undefined, {granularity: "word"})
const linesOf = text => text.match(/[^\n]*\n|[^\n]+/g) ?? []
const wordsOf = text => text.length > MOST_LETTERS ? [text] : Array.from(words.segment(text), ({segment}) => segment)
/** Nothing but blanks and signs, in one line. */
const isGlue = text => !/[\p{L}\p{N}\n]/u.test(text)

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

/** Adds a piece, to the one before if it is of the same kind. */
const add = (pieces, kind, text) => {
  const last = pieces[pieces.length - 1]
  if (last?.kind === kind) last.text += text
  else if (text) pieces.push({kind, text})
}

/** Token by token. What is removed comes before what is added; what is glue between two changes counts as both. */
const compare = (a, b, isGlue = text => false) => {
  const pieces = []
  let removed = "", added = "", same = "", i = 0, j = 0
  const flush = () => {
    add(pieces, "removed", removed)
    add(pieces, "added", added)
    add(pieces, "same", same)
    removed = added = same = ""
  }
  for (const step of align(a, b) ?? [...a.map(() => -1), ...b.map(() => 1)]) {
    if (!step) {
      same += a[i++]
      j++
      if (!isGlue(same)) flush()
      continue
    }
    if (!removed && !added) flush()
    removed += same + (step < 0 ? a[i++] : "")
    added += same + (step > 0 ? b[j++] : "")
    same = ""
  }
  flush()
  return pieces
}

/** From one text to another. Never parts what people see as one character. @type {(before: string, after: string) => Piece[]} */
export const difference = (before, after) => {
  /** @type {Piece[]} */
  const pieces = []
  const lines = compare(linesOf(before), linesOf(after))
  lines.forEach((piece, i) => {
    const next = lines[i + 1]
    if (piece.kind === "added" && lines[i - 1]?.kind === "removed") return
    if (piece.kind !== "removed" || next?.kind !== "added") return add(pieces, piece.kind, piece.text)
    const inside = compare(wordsOf(piece.text), wordsOf(next.text), isGlue)
    const kept = inside.reduce((sum, {kind, text}) => kind === "same" ? sum + text.length : sum, 0)
    // Where hardly a word is left, another text took the place of this one.
    const shown = kept * 4 < Math.min(piece.text.length, next.text.length) ? [piece, next] : inside
    for (const {kind, text} of shown) add(pieces, kind, text)
  })
  let old = 0, now = 0
  for (const piece of pieces) {
    Object.assign(piece, {old, now})
    if (piece.kind !== "added") old += piece.text.length
    if (piece.kind !== "removed") now += piece.text.length
  }
  return pieces
}

/** Whether a place is between two characters as people see them. */
const boundsOf = text => {
  const all = characters.segment(text)
  return at => (all.containing(at)?.index ?? at) === at
}

/**
 * The one stretch of `before` that `text` takes the place of in `after`: whole characters.
 * @type {(before: string, after: string) => {start: number, end: number, text: string}}
 */
export const splice = (before, after) => {
  const most = Math.min(before.length, after.length), isBound = boundsOf(before), isBoundAfter = boundsOf(after)
  let start = 0, tail = 0
  while (start < most && before[start] === after[start]) start++
  while (!isBound(start) || !isBoundAfter(start)) start--
  while (tail < most - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  while (!isBound(before.length - tail) || !isBoundAfter(after.length - tail)) tail--
  return {start, end: before.length - tail, text: after.slice(start, after.length - tail)}
}

/** Where a place in `before` is in `after`: beside the same words. @type {(place: number, before: string, after: string) => number} */
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

/**
 * What `mine` changed in `base`, done to `theirs`: null if they changed the same place.
 * @type {(base: string, mine: string, theirs: string) => string | null}
 */
export const rebase = (base, mine, theirs) => {
  if (mine === base || mine === theirs) return theirs
  const {start, end, text} = splice(base, mine)
  // Inside of what stayed: beside a change nobody can tell what belongs to what.
  const around = difference(base, theirs).find(({kind, old, text: {length}}, i, all) =>
    kind === "same" && (!i || old < start) && (i === all.length - 1 || end < old + length))
  return around ? theirs.slice(0, around.now + start - around.old) + text + theirs.slice(around.now + end - around.old) : null
}

/** How often each term is in a text. */
const countsOf = text => {
  const counts = new Map()
  for (const term of termsOf(text)) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}

/**
 * Whether words that `mine` added to `base` are missing in what stands now.
 * @type {(mine: string, base: string, standing: string) => boolean}
 */
export const lostWords = (mine, base, standing) => {
  const were = countsOf(base), are = countsOf(standing)
  return [...countsOf(mine)].some(([term, times]) => (are.get(term) ?? 0) < times - (were.get(term) ?? 0))
}
