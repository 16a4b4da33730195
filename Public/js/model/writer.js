// Writes Markdown from runs of text: escapes what would be read as Markdown, puts marks around styles, and begins the lines of lists and
// quotations.

/** The limit of the result, in UTF-16 code units. */
const MAX_TEXT = 4 << 20
/** Deeper lists and quotations are not indented further. */
export const MAX_NESTING = 10
/** Thrown when something is too large or too deep. */
export class Limit extends Error {}

const MARKS = {bold: "**", italic: "*", strike: "~~"}
/** The styles of a run, the outer ones first. */
export const LEVELS = ["href", "bold", "italic", "strike", "code"]
const WORD = /[\p{L}\p{N}]/u
const SPACE = /^\s?$/
const PUNCTUATION = /[!-/:-@[-`{-~]/
const URLS = /https?:\/\/[^\s<>]+/g
const ENTITY = /^&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,30});/i

const count = (text, part) => {
  let found = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found++
  return found
}

/** The properties of a line that determine which of its characters would be read as Markdown. */
const contextOf = (line, runs) => {
  const has = name => runs.some(run => run[name])
  return {
    line,
    closing: -2,
    hasStars: count(line, "*") + (has("bold") || has("italic") ? 2 : 0) > 1,
    hasTicks: count(line, "`") + (has("code") ? 2 : 0) > 1,
    hasTildes: count(line, "~~") + (has("strike") ? 2 : 0) > 1,
    hasUnders: /(?:^|[^\p{L}\p{N}_])_[^]*_|_(?:$|[^\p{L}\p{N}_])/u.test(line) && count(line, "_") > 1,
  }
}

/** Whether the character at a place of the line would be read as Markdown. */
const isMarkup = (letter, at, context, isInLink) => {
  const {line} = context
  const before = line[at - 1] ?? ""
  const after = line[at + 1] ?? ""
  if (letter === "\\") return PUNCTUATION.test(after) || !after
  if (letter === "`") return context.hasTicks
  if (letter === "*") return context.hasStars && !(SPACE.test(before) && SPACE.test(after))
  const isBetween = kind => kind.test(before) && kind.test(after)
  if (letter === "_") return context.hasUnders && !isBetween(WORD) && !isBetween(SPACE)
  if (letter === "~") return context.hasTildes && (before === "~" || after === "~")
  if (letter === "<") return /[a-z/!?]/i.test(after)
  if (letter === "&") return ENTITY.test(line.slice(at, at + 40))
  if (isInLink) return true // [ or ]
  if (letter === "]") return false
  if (after === "[" || after === "^" || before === "[") return true
  if (context.closing < at && context.closing !== -1) context.closing = line.indexOf("]", at)
  return context.closing > at && /[([:]/.test(line[context.closing + 1] ?? "")
}

const escapeText = (text, offset, context, isInLink) => {
  let result = ""
  let last = 0
  const take = (part, start) => part.replace(/[\\`*_~[\]<&]/g, (letter, at) =>
    isMarkup(letter, offset + start + at, context, isInLink) ? `\\${letter}` : letter)
  for (const {0: url, index = 0} of text.matchAll(URLS)) {
    result += take(text.slice(last, index), last) + (isInLink ? take(url, index) : url)
    last = index + url.length
  }
  return result + take(text.slice(last), last)
}

/** Escapes what would begin a heading, a list, a quotation, a rule or a table. */
const escapeStart = line => line
  .replace(/^(?=#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|~~~|=+\s*$|(?:[-*_]\s*){3,}$|\|?\s*:?-+:?\s*(?:\||$)|\[[ x]\]\s)/i, "\\")
  .replace(/^(\d{1,9})(?=[.)](?:\s|$))/, "$1\\")

const codeOf = text => {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map(ticks => ticks.length))
  const ticks = "`".repeat(longest + 1)
  const pad = /^`|`$/.test(text) ? " " : ""
  return ticks + pad + text + pad + ticks
}

/** Puts marks around words, but not around the spaces at their ends, because marks beside spaces have no effect. */
const wrap = (inner, mark, before, after) => {
  let [, lead, core, trail] = /^(\s*)([^]*?)(\s*)$/.exec(inner) ?? ["", "", inner, ""]
  // Beside a letter, a mark must not be next to punctuation.
  const end = !trail && WORD.test(after) && /(?<!\\)[.,:;!?…”"'»]+$/.exec(core)?.[0] || ""
  const begin = !lead && WORD.test(before) && /^["“'«¿¡]+/.exec(core)?.[0] || ""
  core = core.slice(begin.length, core.length - end.length)
  return core ? lead + begin + mark + core + mark + end + trail : inner
}

const linkOf = (inner, href, words, after) => {
  if (!inner.trim()) return inner
  const text = words.trim()
  const isBare = [href, href.replace(/\/$/, ""), href.replace(/^mailto:|^tel:/, "")].includes(text) && /^[\s.,;:!?)]?$/.test(after)
  const [, lead = "", core = "", trail = ""] = /^(\s*)([^]*?)(\s*)$/.exec(inner) ?? []
  return isBare && !/^tel:/.test(href) ? lead + text + trail : `${lead}[${core}](${href})${trail}`
}

/**
 * The Markdown of some runs of a line. `before` and `after` are the characters beside them.
 *
 * @returns {string}
 */
const render = (runs, context, level, before, after) => {
  if (level === LEVELS.length) {
    const [{raw, at, href}] = runs
    const text = runs.map(run => run.text).join("")
    return raw ? text : escapeText(text, at, context, href)
  }
  const name = LEVELS[level]
  let result = ""
  for (let at = 0; at < runs.length;) {
    let end = at + 1
    const {[name]: value, raw} = runs[at]
    // Pictures, which are raw, are not joined.
    while (end < runs.length && runs[end][name] === value && (level < LEVELS.length - 1 || !raw && !runs[end].raw)) end++
    const group = runs.slice(at, end)
    const left = at ? runs[at - 1].text.slice(-1) : before
    const right = end < runs.length ? runs[end].text[0] : after
    const words = () => group.map(run => run.text).join("")
    const isCode = name === "code" && value && !raw
    const inner = isCode ? "" : render(group, context, level + 1, left, right)
    let part = inner
    if (isCode) part = words().trim() ? wrapCode(words()) : words()
    else if (value && name === "href") part = linkOf(inner, value, words(), right)
    else if (value && MARKS[name] && !group.every(run => run.raw)) part = wrap(inner, MARKS[name], left, right)
    if (/^!?\[/.test(part) && value && name === "href" && /(?<!\\)!$/.test(result)) result = `${result.slice(0, -1)}\\!`
    result += part
    at = end
  }
  return result
}
const wrapCode = text => {
  const [, lead = "", core = "", trail = ""] = /^(\s*)([^]*?)(\s*)$/.exec(text) ?? []
  return lead + codeOf(core) + trail
}

/** Splits runs into lines at "\n", and removes spaces at the ends of lines. */
export const linesOf = runs => {
  /** @type {any[][]} */
  const lines = [[]]
  for (const run of runs) {
    const [first, ...rest] = run.raw ? [run.text] : run.text.split("\n")
    if (first) lines[lines.length - 1].push({...run, text: first})
    for (const text of rest) lines.push(text ? [{...run, text}] : [])
  }
  return lines.map(line => {
    while (line.length && !(line[0].text = line[0].text.trimStart())) line.shift()
    while (line.length && !(line[line.length - 1].text = line[line.length - 1].text.trimEnd())) line.pop()
    return line
  })
}

/** The Markdown of a line of runs. */
export const markdownOfLine = (runs, isFirstOnLine = true) => {
  let at = 0
  for (const run of runs) {
    run.at = at
    at += run.text.length
  }
  const context = contextOf(runs.map(({text, raw, code}) => raw || code ? "x".repeat(text.length) : text).join(""), runs)
  const text = render(runs, context, 0, "", "")
  const [first] = runs
  const isPlain = first && !first.raw && !LEVELS.some(name => first[name])
  return isPlain && isFirstOnLine ? escapeStart(text) : text
}

// Lines and the containers that they are in

export class Writer {
  /** @type {string[]} */
  lines = []
  /** The prefixes of lines: for each list item and quotation that is open, that of its first line and that of its other lines. */
  parts = []
  /** The number of prefixes that the last line and the next have in common. */
  common = 0
  /** The minimum number of line breaks before the next line. */
  gap = 0
  length = 0

  put(text, before = 1, after = 1) {
    if (this.lines.length && Math.max(before, this.gap) > 1) {
      this.add(this.parts.slice(0, this.common).map(part => part.rest).join("").trimEnd())
    }
    const start = this.parts.map(part => part.isUsed ? part.rest : part.first).join("")
    for (const part of this.parts) part.isUsed = true
    this.add((start + text).trimEnd())
    this.gap = after
    this.common = this.parts.length
  }

  add(line) {
    this.length += line.length + 1
    if (this.length > MAX_TEXT) throw new Limit()
    this.lines.push(line)
  }

  /** Calls `work` inside a list item or quotation. Returns whether it wrote anything. */
  inside(first, rest, work) {
    const before = this.lines.length
    const isTooDeep = this.parts.length >= MAX_NESTING
    const part = isTooDeep ? {first: first.replace(/^>.*/, ""), rest: "", isUsed: false} : {first, rest, isUsed: false}
    this.parts.push(part)
    work(part)
    this.parts.pop()
    this.common = Math.min(this.common, this.parts.length)
    return this.lines.length > before
  }

  /** The list item that is open, if it has no text yet. */
  get newItem() {
    const last = this.parts[this.parts.length - 1]
    return last?.isItem && !last.isUsed ? last : null
  }
}
