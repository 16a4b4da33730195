// How two texts differ, and what follows from that for an open editor: where its caret goes, how words typed over one
// version fit into another. Places are in UTF-16 code units.

const MAX_CHANGES = 1000
/** Limits changes times length: comparing is quadratic in the number of changes. */
const MAX_WORK = 2e7
/** A longer line is one word. */
const MAX_CHARACTERS = 10_000

const characters = new Intl.Segmenter()
const words = new Intl.Segmenter(undefined, {granularity: "word"})
const splitLines = text => text.match(/[^\n]*\n|[^\n]+/g) ?? []
const splitWords = text =>
  text.length > MAX_CHARACTERS ? [text] : Array.from(words.segment(text), ({segment}) => segment)

/**
 * Myers's greedy algorithm (An O(ND) Difference Algorithm, 1986). A step is the furthest point reached on a diagonal; its
 * `from` is the step before.
 *
 * @returns the last step of the shortest edit script; null if that is too long
 */
const shortestScript = (a, b) => {
  const most = Math.min(MAX_CHANGES, Math.ceil(MAX_WORK / (a.length + b.length)))
  const furthest = [] // by diagonal, moved by `most` so that no index is negative
  for (let changes = 0; changes <= most; changes++) {
    for (let at = most - changes; at <= most + changes; at += 2) {
      const above = furthest[at + 1]
      const left = furthest[at - 1]
      const shift = most - at
      const isAdded = !left || above?.x > left.x
      const from = isAdded ? above : left
      let x = from ? from.x + (isAdded ? 0 : 1) : 0
      while (x < a.length && a[x] === b[x + shift]) x++
      furthest[at] = {x, isAdded, from}
      if (x === a.length && x + shift === b.length) return furthest[at]
    }
  }
  return null
}

/** Two lists of strings as hunks: what is removed, what is added in its place, and what is the same after that. */
const compare = (a, b) => {
  const steps = []
  for (let step = shortestScript(a, b); step; step = step.from) steps.unshift(step)
  if (!steps.length) return [{removed: a.join(""), added: b.join(""), same: ""}]
  let i = 0
  let j = 0
  let hunk = {removed: "", added: "", same: ""}
  const hunks = [hunk]
  for (const {x, isAdded, from} of steps) {
    if (from) {
      // Blanks and punctuation between two changes are changed with them: that is easier to read.
      const isBetweenChanges = hunk.removed + hunk.added && !/[\p{L}\p{N}\n]/u.test(hunk.same)
      if (hunk.same && !isBetweenChanges) hunks.push(hunk = {removed: "", added: "", same: ""})
      hunk.removed += hunk.same + (isAdded ? "" : a[i++])
      hunk.added += hunk.same + (isAdded ? b[j++] : "")
      hunk.same = ""
    }
    for (; i < x; i++, j++) hunk.same += a[i]
  }
  return hunks
}

/**
 * How two texts differ: by lines, and by words in lines that changed. Where less than a quarter of the words stays, all of
 * it counts as replaced. What people see as one character is never divided. The work is bounded: beyond that, all is changed.
 *
 * @type {(before: string, after: string) => Piece[]}
 */
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
  let old = 0
  let now = 0
  for (const hunk of hunks) {
    for (const kind of /** @type {const} */ (["removed", "added", "same"])) {
      const text = hunk[kind]
      const last = pieces.at(-1)
      if (last?.kind === kind) last.text += text
      else if (text) pieces.push({kind, text, old, now})
      if (kind !== "added") old += text.length
      if (kind !== "removed") now += text.length
    }
  }
  return pieces
}

/** The start of what people see as one character at this place. */
const boundaryOf = (text, at) => characters.segment(text).containing(at)?.index ?? at

/**
 * The one stretch of `before` that `text` replaces in `after`, in whole characters.
 *
 * @type {(before: string, after: string) => {start: number, end: number, text: string}}
 */
export const splice = (before, after) => {
  const most = Math.min(before.length, after.length)
  const areBoundaries = (at, atAfter) => boundaryOf(before, at) === at && boundaryOf(after, atAfter) === atAfter
  let start = 0
  while (start < most && before[start] === after[start]) start++
  while (!areBoundaries(start, start)) start--
  let tail = 0
  while (tail < most - start && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  while (!areBoundaries(before.length - tail, after.length - tail)) tail--
  return {start, end: before.length - tail, text: after.slice(start, after.length - tail)}
}

/**
 * Where a place in `before` is in `after`: beside the same words, or as far into what replaced them.
 *
 * @type {(place: number, before: string, after: string) => number}
 */
export const moveCaret = (place, before, after) => {
  const pieces = difference(before, after)
  // Words added at the beginning of a line come before the caret, others after it.
  const isLineStart = before[place - 1] === "\n" && place < before.length
  const at = pieces.findIndex(({kind, text, old}) => kind !== "added"
    && (place < old + text.length || kind === "same" && place === old + text.length && !isLineStart))
  if (at < 0) return after.length
  const {kind, old, now} = pieces[at]
  if (kind === "same") return now + place - old
  const next = pieces[at + 1]
  return boundaryOf(after, now + Math.min(place - old, next?.kind === "added" ? next.text.length : 0))
}

/**
 * What `mine` changed in `base`, done to `theirs`.
 *
 * @param {string} base
 * @param {string} mine
 * @param {string} theirs
 * @returns {string | null} null if both changed the same place, or places that touch: then it is unclear what belongs to what
 */
export const rebase = (base, mine, theirs) => {
  if (mine === base || mine === theirs) return theirs
  const {start, end, text} = splice(base, mine)
  const found = difference(base, theirs).find(({kind, old, text: {length}}, i, all) =>
    kind === "same" && (!i || old < start) && (i === all.length - 1 || end < old + length))
  if (!found) return null
  const shift = found.now - found.old
  return theirs.slice(0, start + shift) + text + theirs.slice(end + shift)
}

/**
 * A text with superseded words put back in their places.
 *
 * @type {(text: string, superseded: Superseded[]) => string}
 */
export const putIn = (text, superseded) => superseded.reduceRight((whole, {text: words, location, length}) =>
  whole.slice(0, location) + words + whole.slice(location + length), text)
