// What differs between two texts, for people to see and for the cursor to follow. The merge itself is the server's.

/** @typedef {{kind: "same" | "removed" | "added", text: string}} Piece */

/** The most changed lines, or words, and the most steps, that are looked for: beyond, all counts as changed. */
const MOST_CHANGES = 1000, MOST_STEPS = 2e7
/** What belongs to the character before it: marks, joiners, tones, tags, vowels of Thai and Lao, jamo. */
const EXTENDING = "\\p{M}\\u200c\\u200d\\u{1f3fb}-\\u{1f3ff}\\u{e0020}-\\u{e007f}\\u0e33\\u0eb3\\u1160-\\u11ff"
const REST = `(?:\\u200d[^]|[${EXTENDING}])*`
const UNSPACED = ["Han", "Hira", "Kana", "Thai", "Laoo", "Khmr", "Mymr"].map(script => `\\p{sc=${script}}`).join("")
/** Words, and everything else character by character, as people see them; also what is written without spaces. */
const WORDS = new RegExp(`\r\n|(?:(?![${UNSPACED}])[\\p{L}\\p{N}_]${REST})+|(?:\\p{RI}\\p{RI}|[^])${REST}`, "gu")
const LINES = /[^\n]*\n|[^\n]+/g
const HAS_WORDS = /[\p{L}\p{N}]/u
/** What belongs together: halves of a scalar, line ends, flags, what is joined, conjuncts of Indic scripts. */
const JOINED = [
  [/[\ud800-\udbff]$/, /^[\udc00-\udfff]/], [/\r$/, /^\n/], [/\p{RI}$/u, /^\p{RI}/u], [/\u200d$/, /^/],
  [/[\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d]$/, /^\p{L}/u],
]
const EXTENDS = new RegExp(`^[${EXTENDING}]`, "u")

/**
 * The greedy algorithm of Myers (1986): for each token of both, in order, -1: removed, 1: added, 0: in both. Null
 * beyond what is worth the work.
 * @type {(a: number[], b: number[]) => number[] | null}
 */
const align = (a, b) => {
  const most = Math.min(MOST_CHANGES, a.length + b.length)
  const reach = new Int32Array(2 * most + 3), middle = most + 1
  const rounds = []
  let steps = 0
  for (let d = 0; d <= most; d++) {
    rounds.push(reach.slice(middle - d - 1, middle + d + 2))
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d || (k !== d && reach[middle + k - 1] < reach[middle + k + 1])
      let x = isDown ? reach[middle + k + 1] : reach[middle + k - 1] + 1
      for (steps++; x < a.length && x - k < b.length && a[x] === b[x - k]; x++) steps++
      reach[middle + k] = x
      if (x >= a.length && x - k >= b.length) return traced(rounds, a.length, b.length)
      if (steps > MOST_STEPS) return null
    }
  }
  return null
}

/**
 * The way back through the rounds, each of which has what was reached before it.
 * @type {(rounds: Int32Array[], x: number, y: number) => number[]}
 */
const traced = (rounds, x, y) => {
  const way = []
  for (let d = rounds.length - 1; d >= 0; d--) {
    const reach = rounds[d], middle = d + 1, k = x - y
    const isDown = k === -d || (k !== d && reach[middle + k - 1] < reach[middle + k + 1])
    const from = d ? reach[middle + k + (isDown ? 1 : -1)] : 0
    const begin = d && !isDown ? from + 1 : from
    for (; x > begin; x--) way.push(0)
    if (d) way.push(isDown ? 1 : -1)
    x = from
    y = from - k + (isDown ? -1 : 1)
  }
  return way.reverse()
}

/**
 * Adds a piece, to the one before if it is of the same kind.
 * @type {(pieces: Piece[], kind: Piece["kind"], text: string) => void}
 */
const add = (pieces, kind, text) => {
  const last = pieces[pieces.length - 1]
  if (last?.kind === kind) last.text += text
  else if (text) pieces.push({kind, text})
}

/**
 * Compares token by token. What is removed comes before what is added; what is glue between two changes counts as both.
 * @type {(before: string, after: string, pattern: RegExp, isGlue: (text: string) => boolean) => Piece[]}
 */
const compare = (before, after, pattern, isGlue) => {
  /** @type {string[]} */
  const a = before.match(pattern) ?? [], b = after.match(pattern) ?? []
  let start = 0, end = 0
  while (start < a.length && a[start] === b[start]) start++
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const numbers = new Map()
  /** @type {(tokens: string[]) => number[]} */
  const numbered = tokens => tokens.slice(start, tokens.length - end).map(token =>
    numbers.get(token) ?? (numbers.set(token, numbers.size), numbers.size - 1))
  const [x, y] = [numbered(a), numbered(b)]
  /** @type {Piece[]} */
  const pieces = []
  let removed = "", added = "", same = a.slice(0, start).join("")
  const flush = () => {
    add(pieces, "removed", removed)
    add(pieces, "added", added)
    add(pieces, "same", same)
    removed = added = same = ""
  }
  flush()
  let i = start, j = start
  for (const step of align(x, y) ?? [...x.fill(-1), ...y.fill(1)]) {
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
  same += a.slice(a.length - end).join("")
  flush()
  return pieces
}

/**
 * From one text to another: lines first, then the words in what changed. Never parts what people see as one character.
 * The pieces that are not added are `before`, those that are not removed `after`.
 * @type {(before: string, after: string) => Piece[]}
 */
export const difference = (before, after) => {
  /** @type {Piece[]} */
  const pieces = []
  const lines = compare(before, after, LINES, () => false)
  lines.forEach((piece, i) => {
    const next = lines[i + 1]
    if (piece.kind === "added" && lines[i - 1]?.kind === "removed") return
    if (piece.kind !== "removed" || next?.kind !== "added") return add(pieces, piece.kind, piece.text)
    const words = compare(piece.text, next.text, WORDS, text => !HAS_WORDS.test(text) && !text.includes("\n"))
    const kept = words.reduce((sum, {kind, text}) => kind === "same" ? sum + text.length : sum, 0)
    // Where hardly a word is left, another text took the place of this one.
    const shown = kept * 4 < Math.min(piece.text.length, next.text.length) ? [piece, next] : words
    for (const {kind, text} of shown) add(pieces, kind, text)
  })
  return pieces
}

/**
 * Whether `at` is between two characters as people see them.
 * @type {(text: string, at: number) => boolean}
 */
const isBetween = (text, at) => {
  if (at <= 0 || at >= text.length) return true
  const before = text.slice(Math.max(0, at - 2), at), after = text.slice(at, at + 2)
  return !(EXTENDS.test(after) || JOINED.some(([end, beginning]) => end.test(before) && beginning.test(after)))
}

/**
 * The one stretch of `before` that `text` takes the place of in `after`; never parts what people see as one character.
 * @type {(before: string, after: string) => {start: number, end: number, text: string}}
 */
export const splice = (before, after) => {
  const most = Math.min(before.length, after.length)
  let start = 0, tail = 0
  while (start < most && before[start] === after[start]) start++
  while (!isBetween(before, start) || !isBetween(after, start)) start--
  while (tail < most - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  while (!isBetween(before, before.length - tail) || !isBetween(after, after.length - tail)) tail--
  return {start, end: before.length - tail, text: after.slice(start, after.length - tail)}
}

/**
 * Where a position in `before` (UTF-16 code units) is in `after`: beside the same words.
 * @type {(position: number, before: string, after: string) => number}
 */
export const moveCaret = (position, before, after) => {
  const pieces = difference(before, after)
  // What comes in at the beginning of a line comes before it, anywhere else behind what was there.
  const isLineStart = before[position - 1] === "\n" && position < before.length
  let old = 0, now = 0
  for (const [i, {kind, text}] of pieces.entries()) {
    const inside = position - old
    if (kind === "same" && (inside < text.length || inside === text.length && !isLineStart)) return now + inside
    if (kind === "removed" && inside < text.length) {
      // In words that were replaced: as far into what replaced them.
      let to = now + Math.min(inside, pieces[i + 1]?.kind === "added" ? pieces[i + 1].text.length : 0)
      while (!isBetween(after, to)) to--
      return to
    }
    if (kind !== "added") old += text.length
    if (kind !== "removed") now += text.length
  }
  return now
}

/**
 * What `mine` changed in `base`, done to `theirs`: null if they changed the same place.
 * @type {(base: string, mine: string, theirs: string) => string | null}
 */
export const rebase = (base, mine, theirs) => {
  if (mine === base || mine === theirs) return theirs
  const {start, end, text} = splice(base, mine)
  const pieces = difference(base, theirs)
  let old = 0, now = 0
  for (const [i, piece] of pieces.entries()) {
    const {kind, text: {length}} = piece
    // Inside of what stayed: beside a change nobody can tell what belongs to what.
    const isAfter = i ? old < start : old <= start, last = old + length
    if (kind === "same" && isAfter && (i < pieces.length - 1 ? end < last : end <= last)) {
      return theirs.slice(0, now + start - old) + text + theirs.slice(now + end - old)
    }
    if (kind !== "added") old += length
    if (kind !== "removed") now += length
  }
  return null
}

/**
 * How often each word is in a text.
 * @type {(text: string) => Map<string, number>}
 */
const count = text => {
  const counts = new Map()
  for (const word of text.match(WORDS) ?? []) if (HAS_WORDS.test(word)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

/**
 * Whether words that `mine` added to `base` are missing in what stands now.
 * @type {(mine: string, base: string, standing: string) => boolean}
 */
export const lostWords = (mine, base, standing) => {
  if (mine === base || mine === standing) return false
  const [were, are] = [count(base), count(standing)]
  return [...count(mine)].some(([word, times]) => (are.get(word) ?? 0) < times - (were.get(word) ?? 0))
}
