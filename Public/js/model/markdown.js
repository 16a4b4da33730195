// How the editor shows a line of Markdown. The "looks" of a part of the line are its styles, such as "bold" and "link". "mark" is
// the look of syntax characters, which stay in the text. Supported is the part of CommonMark that can be recognized line by line,
// check boxes and strikethrough as on GitHub, and `[[links]]` between notes. Everything takes time linear in the length of the line.
import {marksOf} from "./marks.js"
import {FRONT_MATTER, findings} from "./text.js"

/** The beginning of a fenced block of code. */
export const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+|$)/
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/
const QUOTE = /^(?: {0,3}>[ \t]?)+/
const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+|$)(?:(\[[ xX]\])(?=[ \t]|$))?/
/** Code, escaped characters, links, pictures, links to notes, and runs of characters for emphasis. */
const INLINE = /(?<code>`+)|\\(?<escaped>[!-/:-@[-`{-~])|(?<note>\[\[(?<title>[^[\]\n]{1,200})\]\])|(?<picture>!\[[^[\]]{0,500}\]\((?!attachment:)[^()\s]{1,2000}(?:[ \t]+"[^"]{0,500}")?\))|(?<link>\[(?<words>[^[\]]{1,1000})\]\((?<address>(?:[^()\s]|\([^()\s]*\)){1,2000})(?:[ \t]+"[^"]{0,500}")?\))|(?<run>\*+|_+|~~+)/g
const SAFE = /^(?:https?|mailto|tel):/i
const PUNCTUATION = /[\p{P}\p{S}]/u
const LETTER = /[\p{L}\p{N}]/u

/** The address that a link opens; "" if a browser must not open it. */
const addressOf = address => {
  try {
    return SAFE.test(address) ? new URL(address).href : ""
  } catch {
    return ""
  }
}

/**
 * Which runs of `*`, `_` and `~` begin and end emphasis (CommonMark, "An algorithm for parsing nested emphasis"). For each kind of
 * run, it is recorded where no opening run was found, so that no part of a line is searched twice.
 *
 * @param {{start: number, end: number, char: string, opens: boolean, closes: boolean}[]} runs
 * @param {(start: number, end: number, look: string, marks: number) => void} add
 */
const pairRuns = (runs, add) => {
  const open = /** @type {typeof runs} */ ([])
  /** For each kind of run, the number of runs at the beginning of `open` that are known not to match. */
  const bottoms = {}
  for (const run of runs) {
    const isStrike = run.char === "~"
    while (run.closes && run.end > run.start) {
      const key = `${run.char}${run.opens}`
      let at = open.length - 1
      while (at >= (bottoms[key] ?? 0) && open[at].char !== run.char) at--
      if (at < (bottoms[key] ?? 0)) {
        bottoms[key] = open.length
        break
      }
      const from = open[at]
      const lengths = [from.end - from.start, run.end - run.start]
      const marks = isStrike || Math.min(...lengths) > 1 ? 2 : 1
      open.length = at + 1
      add(from.end - marks, run.start + marks, isStrike ? "struck" : marks > 1 ? "bold" : "italic", marks)
      from.end -= marks
      run.start += marks
      if (from.end - from.start < (isStrike ? 2 : 1)) open.pop()
      for (const name in bottoms) bottoms[name] = Math.min(bottoms[name], open.length)
    }
    if (run.opens && run.end - run.start > (isStrike ? 1 : 0)) open.push(run)
  }
}

/** The looks of a line's text from `from` on, by `add(start, end, look, about)`. */
const styleText = (line, from, add) => {
  const runs = []
  /** 1 for characters of code, addresses and links to notes, in which there are no emphasis and no other links. */
  const taken = new Uint8Array(line.length)
  const ends = new Map()
  for (const {id, alt, start, end} of marksOf(line)) {
    add(start, end, "mark")
    add(start, end, "embed", {id, alt})
    taken.fill(1, start, end)
  }
  INLINE.lastIndex = from
  for (let match; (match = INLINE.exec(line));) {
    const {code, escaped, note, title, picture, link, words, address, run} = match.groups ?? {}
    const start = match.index
    const end = start + match[0].length
    if (taken[start]) continue
    if (code) {
      // The position of the closing run is looked up once for each length.
      const length = code.length
      const known = ends.get(length)
      const closing = known === -1 || known >= end ? known : closingOf(line, length, end)
      ends.set(length, closing)
      if (closing < 0) continue
      add(start, closing + length, "code")
      add(start, end, "mark")
      add(closing, closing + length, "mark")
      taken.fill(1, start, closing + length)
      INLINE.lastIndex = closing + length
    } else if (escaped) {
      add(start, start + 1, "mark")
    } else if (note) {
      add(start, start + 2, "mark")
      add(start, end, "note-link", title)
      add(end - 2, end, "mark")
      taken.fill(1, start, end)
    } else if (picture) {
      add(start, end, "mark")
      taken.fill(1, start, end)
    } else if (link) {
      const href = addressOf(address)
      add(start, start + 1, "mark")
      if (href) add(start + 1, start + 1 + words.length, "link", href)
      add(start + 1 + words.length, end, "mark")
      taken.fill(1, start + 1 + words.length, end)
      INLINE.lastIndex = start + 1 // its words may be bold
    } else if (run) {
      const [before, after] = [line[start - 1] ?? " ", line[end] ?? " "]
      const isLeft = /\S/.test(after) && (!PUNCTUATION.test(after) || !LETTER.test(before))
      const isRight = /\S/.test(before) && (!PUNCTUATION.test(before) || !LETTER.test(after))
      const isWord = run[0] === "_" && LETTER.test(before) && LETTER.test(after)
      if (!isWord) runs.push({start, end, char: run[0], opens: isLeft, closes: isRight})
    }
  }
  for (const {kind, start, end, value} of findings(line)) {
    if (start < from || taken.subarray(start, end).includes(1)) continue
    add(start, end, kind === "date" ? "date" : "link", value)
    taken.fill(1, start, end)
  }
  pairRuns(runs.filter(({start}) => !taken[start]), (start, end, look, marks) => {
    add(start, end, look)
    add(start, start + marks, "mark")
    add(end - marks, end, "mark")
  })
}

/** Where a run of exactly `length` backticks begins; -1 if there is none. */
const closingOf = (line, length, from) => {
  for (let at = line.indexOf("`", from); at >= 0; at = line.indexOf("`", at)) {
    const begin = at
    while (line[at] === "`") at++
    if (at - begin === length) return begin
  }
  return -1
}

/** Overlapping looks as parts that follow each other and cover the whole line. */
const partsOf = (line, looks) => {
  const changes = looks.filter(({start, end}) => start < end).flatMap(look =>
    [{at: look.start, look, isStart: true}, {at: look.end, look, isStart: false}])
  changes.sort((one, other) => one.at - other.at || Number(one.isStart) - Number(other.isStart))
  const active = /** @type {any[]} */ ([])
  const parts = /** @type {LinePart[]} */ ([])
  let last = 0
  const push = end => {
    if (end <= last) return
    const names = [...new Set(active.map(({look}) => look))].sort().join(" ")
    const about = active.find(({about}) => about !== undefined)?.about
    parts.push({text: line.slice(last, end), looks: names, about})
    last = end
  }
  for (const {at, look, isStart} of changes) {
    push(at)
    isStart ? active.push(look) : active.splice(active.indexOf(look), 1)
  }
  push(line.length)
  return parts
}

/**
 * The state before the first line of a text: "meta" if it is front matter, otherwise "start", which lasts until the title.
 *
 * @type {(text: string) => string}
 */
export const firstState = text => FRONT_MATTER.test(text) ? "meta" : "start"

/**
 * The looks of a line. `state` is `next` of the line before it.
 *
 * @type {(line: string, state: string) => LineLooks}
 */
export const styleLine = (line, state) => {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line
  const looks = []
  const add = (start, end, look, about = undefined) => { looks.push({start, end, look, about}) }
  const done = (kind, next, hang = 0) => ({kind, next, hang, parts: partsOf(line, looks)})

  if (state.startsWith("meta")) {
    const isFence = /^(?:---|\.\.\.)[ \t]*$/.test(text)
    add(0, line.length, "mark")
    return done("meta", isFence && state === "meta more" ? "start" : "meta more")
  }
  if (/^[`~]/.test(state)) {
    const fence = text.match(/^ {0,3}(`{3,}|~{3,})[ \t]*$/)?.[1]
    const isEnd = Boolean(fence && fence[0] === state[0] && fence.length >= state.length)
    if (isEnd) add(0, line.length, "mark")
    return done(isEnd ? "fenced fence-end" : "fenced", isEnd ? "" : state)
  }
  const fence = text.match(FENCE)?.[1]
  if (fence) {
    add(0, line.length, "mark")
    return done("fenced fence-start", fence)
  }
  const isTitle = state === "start" && /\S/.test(text)
  const next = isTitle ? "" : state
  const title = isTitle ? "title " : ""
  const heading = text.match(HEADING)
  if (heading) {
    add(0, heading[0].length, "mark")
    styleText(text, heading[0].length, add)
    return done(`${title}heading level-${heading[1].length}`, next)
  }
  if (RULE.test(text)) {
    add(0, text.length, "mark")
    return done("rule", state)
  }
  const quote = text.match(QUOTE)?.[0].length ?? 0
  if (quote) add(0, quote, "mark")
  const item = text.slice(quote).match(ITEM)
  let from = quote
  let kind = `${title}${quote ? "quote" : ""}`
  if (item) {
    const [{length}, indent, bullet, space, box] = item
    const at = quote + indent.length
    from = quote + length
    kind += box ? ` item check${box === "[ ]" ? "" : " done"}` : " item"
    add(at, at + bullet.length + space.length, box ? "bullet hidden" : "bullet")
    if (box) add(from - box.length, from, "box")
  }
  styleText(text, from, add)
  return done(kind.trim(), next, item ? widthOf(item[0]) + (item[4] ? 1 : 0) : 0)
}

/** The width of the beginning of a list item, in characters. */
const widthOf = begin => [...begin].reduce((width, char) => width + (char === "\t" ? 4 - width % 4 : 1), 0)

/** The largest text that is styled: its length, the number of its lines, the length of a line. Lengths are in UTF-16 code units. */
export const MAX_STYLED = {length: 1 << 18, lines: 5_000, line: 20_480}

/**
 * Whether a text is small enough to be styled.
 *
 * @type {(text: string) => boolean}
 */
export const canStyle = text => {
  if (text.length > MAX_STYLED.length) return false
  let lines = 1
  for (let from = 0, end; (end = text.indexOf("\n", from)) >= 0 || from < text.length; from = end + 1) {
    if (end < 0) return text.length - from <= MAX_STYLED.line
    if (++lines > MAX_STYLED.lines || end - from > MAX_STYLED.line) return false
  }
  return true
}
