// The effects of keys on Markdown: Enter continues a list, Tab indents an item, Ctrl+B makes words bold. Each function gets the text
// and the selection, and returns an edit, or null if the key has no special effect there.
import {FENCE} from "./markdown.js"

/** The beginning of a quotation or a list item: quotation marks, indentation, bullet, check box. */
const BEGIN = /^((?: {0,3}>[ \t]?)*)([ \t]*)(?:([-*+]|\d{1,9}[.)])([ \t]+)(\[[ xX]\](?:[ \t]+|$))?)?/
const CHECK = /^((?: {0,3}>[ \t]?)*[ \t]*[-*+][ \t]+)\[([ xX])\](?=[ \t]|$)/
const ADDRESS = /^(?:https?:\/\/|mailto:|www\.)\S+$/i

/**
 * The lines that a selection touches, as the range from the beginning of the first to the end of the last.
 *
 * @type {(text: string, start: number, end?: number) => [number, number]}
 */
export const linesAround = (text, start, end = start) => {
  // A selection that ends at the beginning of a line does not touch that line.
  const last = end > start && text[end - 1] === "\n" ? end - 1 : end
  const stop = text.indexOf("\n", last)
  return [text.lastIndexOf("\n", start - 1) + 1, stop < 0 ? text.length : stop]
}

const insert = (start, end, text, caret = start + text.length) => ({start, end, text, select: [caret, caret]})

/** Whether a place is in a fenced block of code. */
const isInCode = (text, at) => {
  let fence = ""
  for (const line of text.slice(0, at).split("\n").slice(0, -1)) {
    const mark = line.match(FENCE)?.[1] ?? ""
    if (!fence) fence = mark
    else if (mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark) fence = ""
  }
  return Boolean(fence)
}

/**
 * Enter: continues a list or a quotation, or ends it if the item is empty. In code, the indentation is kept.
 *
 * @type {Typing}
 */
export const breakLine = (text, start, end) => {
  const [from, to] = linesAround(text, start)
  const line = text.slice(from, to)
  if (isInCode(text, from)) return insert(start, end, `\n${text.slice(from, start).match(/^[ \t]*/)?.[0]}`)
  const [begin, quote, indent, bullet, space, box] = line.match(BEGIN) ?? [""]
  if (!(quote || bullet) || start < from + begin.trimEnd().length) return null
  // The item is empty: its bullet is removed, or the quotation marks if there is no bullet.
  if (begin.trimEnd() === line.trimEnd() && start === end) return insert(from + (bullet ? quote.length : 0), to, "")
  const [number] = bullet?.match(/\d+/) ?? []
  const next = number ? `${Number(number) + 1}${bullet.slice(number.length)}` : bullet
  const item = bullet ? `${indent}${next}${space}${box ? "[ ] " : ""}` : indent
  return insert(start, end, `\n${quote && !/\s$/.test(quote) ? `${quote} ` : quote}${item}`)
}

/** Changes the beginnings of lines with `change`. The selection stays at the same words. */
const changeLines = (text, start, end, change) => {
  const [from, to] = linesAround(text, start, end)
  const lines = text.slice(from, to).split("\n")
  const changed = lines.map(change)
  const begins = [0]
  for (const line of lines) begins.push((begins.at(-1) ?? 0) + line.length + 1)
  const move = place => {
    const at = Math.min(lines.length, begins.filter(begin => begin <= place - from).length) - 1
    const before = changed.slice(0, at).reduce((sum, line) => sum + line.length + 1, from)
    const inLine = place - from - begins[at]
    const after = Math.max(0, inLine + changed[at].length - lines[at].length)
    return before + Math.min(after, changed[at].length)
  }
  return {start: from, end: to, text: changed.join("\n"), select: /** @type {[number, number]} */ ([move(start), move(end)])}
}

/**
 * Tab in list items, or with several lines selected: indents by the width of the bullet.
 *
 * @type {Typing}
 */
export const indent = (text, start, end) => {
  const [from, to] = linesAround(text, start, end)
  const lines = text.slice(from, to).split("\n")
  if (!lines[1] && !lines[0].match(BEGIN)?.[3]) return null
  return changeLines(text, start, end, line => {
    const [, quote = "", , bullet = "-"] = line.match(BEGIN) ?? []
    return line.trim() ? `${quote}${" ".repeat(bullet.length + 1)}${line.slice(quote.length)}` : line
  })
}

/**
 * Shift+Tab: the reverse of `indent`.
 *
 * @type {Typing}
 */
export const outdent = (text, start, end) => {
  const [from, to] = linesAround(text, start, end)
  const shorter = line => {
    const [, quote = "", space = "", bullet = "-"] = line.match(BEGIN) ?? []
    const {length} = space.match(new RegExp(`^(?:\\t| {1,${bullet.length + 1}})`))?.[0] ?? ""
    return quote + line.slice(quote.length + length)
  }
  const lines = text.slice(from, to).split("\n")
  if (lines.every(line => shorter(line) === line)) return !lines[1] && !lines[0].match(BEGIN)?.[3] ? null : {start, end: start, text: "", select: [start, end]}
  return changeLines(text, start, end, shorter)
}

/**
 * Turns lines into list items with check boxes. If all lines have check boxes, removes bullets and check boxes.
 *
 * @type {Typing}
 */
export const toggleChecklist = (text, start, end) => {
  const [from, to] = linesAround(text, start, end)
  const lines = text.slice(from, to).split("\n").filter(line => line.trim())
  const areChecks = lines.length > 0 && lines.every(line => CHECK.test(line))
  return changeLines(text, start, end, line => {
    if (!line.trim() && lines.length) return line
    const [begin, quote = "", space = "", bullet = ""] = line.match(BEGIN) ?? [""]
    const rest = line.slice(begin.length)
    if (areChecks) return quote + space + rest
    return CHECK.test(line) ? line : `${quote}${space}${/[-*+]/.test(bullet) ? bullet : "-"} [ ] ${rest}`
  })
}

/**
 * Checks the box of a line, or clears it: one character changes.
 *
 * @type {(text: string, at: number) => TextEdit | null}
 */
export const toggleBox = (text, at) => {
  const [from, to] = linesAround(text, at)
  const [, begin, mark] = text.slice(from, to).match(CHECK) ?? []
  if (!mark) return null
  const place = from + begin.length + 1
  return {start: place, end: place + 1, text: mark === " " ? "x" : " ", select: [at, at]}
}

/**
 * Puts marks such as `**` around the selected words of each line, or removes them. Without a selection, around the word at the caret.
 *
 * @type {(text: string, start: number, end: number, mark: string) => TextEdit}
 */
export const toggleMark = (text, start, end, mark) => {
  const {length} = mark
  if (start === end) {
    const [before] = text.slice(0, start).match(/[\p{L}\p{N}]*$/u) ?? [""]
    const [after] = text.slice(end).match(/^[\p{L}\p{N}]*/u) ?? [""]
    const [from, to] = [start - before.length, end + after.length]
    const isMarked = hasMark(text.slice(0, from), text.slice(to), mark)
    if (isMarked) return {start: from - length, end: to + length, text: before + after, select: [start - length, start - length]}
    return {start: from, end: to, text: mark + before + after + mark, select: [start + length, start + length]}
  }
  const lines = text.slice(start, end).split("\n")
  let at = start
  const pieces = lines.map(line => {
    // Marks are put around the words, not around the spaces beside them, and not around the beginning of a list item.
    const begin = at === start && text[at - 1] !== "\n" && at > 0 ? line.match(/^\s*/)?.[0] ?? "" : line.match(BEGIN)?.[0] ?? ""
    const words = line.slice(begin.length).trimEnd()
    const from = at + begin.length
    at += line.length + 1
    return {from, to: from + words.length, words}
  }).filter(({words}) => words)
  if (!pieces.length) return {start, end: start, text: "", select: [start, end]}
  const isInside = ({words}) => words.length >= 2 * length && hasMark(words.slice(0, length), words.slice(-length), mark)
  const isOutside = ({from, to}) => hasMark(text.slice(0, from), text.slice(to), mark)
  const [first, last] = [pieces[0], pieces[pieces.length - 1]]
  const [from, to] = pieces.every(isOutside) ? [first.from - length, last.to + length] : [first.from, last.to]
  const how = pieces.every(isOutside) ? "outside" : pieces.every(isInside) ? "inside" : "add"
  let result = ""
  let done = from
  for (const {from: begin, to: stop, words} of pieces) {
    const isOut = how === "outside"
    result += text.slice(done, isOut ? begin - length : begin)
    result += isOut ? words : how === "inside" ? words.slice(length, -length) : mark + words + mark
    done = isOut ? stop + length : stop
  }
  const edges = {outside: [0, 0], inside: [0, 0], add: [length, length]}[how]
  return {start: from, end: to, text: result, select: [from + edges[0], from + result.length - edges[1]]}
}

/** Whether the text before ends, and the text after begins, with exactly this mark: `*` is not a part of `**`. */
const hasMark = (before, after, mark) => {
  const [left] = before.match(new RegExp(`\\${mark[0]}*$`)) ?? [""]
  const [right] = after.match(new RegExp(`^\\${mark[0]}*`)) ?? [""]
  const holds = ({length}) => mark.length === 2 ? length >= 2 : length === 1 || length === 3
  return holds(left) && holds(right)
}

/**
 * Turns the selection into a link: an address becomes its target, other text its words. The caret is put where the rest is typed.
 *
 * @type {Typing}
 */
export const makeLink = (text, start, end) => {
  const words = text.slice(start, end).replace(/\n/g, " ")
  if (ADDRESS.test(words)) return insert(start, end, `[](${words})`, start + 1)
  return insert(start, end, `[${words}]()`, start + words.length + (words ? 3 : 1))
}

/**
 * Pasting an address over words turns them into a link; null if it does not apply.
 *
 * @type {(text: string, start: number, end: number, pasted: string) => TextEdit | null}
 */
export const linkOf = (text, start, end, pasted) => {
  const words = text.slice(start, end)
  const address = pasted.trim()
  if (!/\S/.test(words) || /[\n[\]]/.test(words) || ADDRESS.test(words) || !/^https?:\/\/\S+$/i.test(address)) return null
  return insert(start, end, `[${words}](${address.replace(/[()]/g, bracket => bracket === "(" ? "%28" : "%29")})`)
}
