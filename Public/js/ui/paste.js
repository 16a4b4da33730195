// Converts pasted HTML to Markdown. The HTML is parsed into a document that runs and loads nothing. Only text leaves this module.
import {LEVELS, Limit, MAX_NESTING, Writer, linesOf, markdownOfLine} from "../model/writer.js"

/** The limits of HTML: its length, its depth, the number of its tags. HTML beyond them is pasted as plain text. */
const MAX_HTML = 2 << 20
const MAX_DEPTH = 200
const MAX_TAGS = 50_000
/** Parsing takes quadratic time in the number of open elements, so these are counted before. */
const MAX_OPEN = 400
const MAX_COLUMNS = 100

// Browsers report styles and event handlers to the page's Content Security Policy, also those of a document that is never shown.
// Therefore they are renamed before the HTML is parsed: `noframes` has raw text like `style`, and may be in the same places. A base
// address, which is reported too, becomes a `wbr`.
const PREFIX = "data-hesper-"
const rename = html => html.replace(/<(\/?)style(?=[\s/>])/gi, "<$1noframes").replace(/<base(?=[\s/>])/gi, "<wbr")
  .replace(/(?<=[\s"'/])(?=(?:style|on[a-z]+)\s*=)/gi, PREFIX)

const policy = globalThis.trustedTypes?.createPolicy("hesper-paste", {createHTML: html => html})
/** @type {(html: any) => Document} */
const parse = html => new DOMParser().parseFromString(policy?.createHTML(html) ?? html, "text/html")

/** Elements that have no end tag, or may omit it. */
const UNCOUNTED = new RegExp("^(?:p|li|d[dt]|t[dhr]|thead|tbody|tfoot|option|br|hr|img|input|meta|link|col|wbr|source|track|area"
  + "|base|embed|param)$", "i")
/** Whether the HTML has too many tags or open elements to be parsed in a short time. */
const isTooDeep = html => {
  let open = 0
  let tags = 0
  for (const [, end, name] of html.matchAll(/<(\/?)([a-z][a-z\d]*)/gi)) {
    if (++tags > MAX_TAGS) return true
    if (!UNCOUNTED.test(name)) open = end ? Math.max(0, open - 1) : open + 1
    if (open > MAX_OPEN) return true
  }
  return false
}

const named = names => new Set(names.split(" "))
/** Elements without text, or whose text is not part of the content. */
const SKIPPED = named("script style noframes head title meta link base template noscript iframe frame object embed applet svg "
  + "canvas audio video button select textarea input datalist dialog annotation rp area map param source track colgroup col")
const BLOCKS = named("address article aside body center dd details dialog div dl dt fieldset figcaption figure footer form header "
  + "hgroup legend li main nav search section summary optgroup tr td th tbody thead tfoot caption")
const STYLES = {b: "bold", strong: "bold", i: "italic", em: "italic", s: "strike", strike: "strike", del: "strike",
  code: "code", tt: "code", kbd: "code", samp: "code"}
const LISTS = named("ul ol menu dir")

const tagOf = element => element.localName
const attribute = (element, name) => (element.getAttribute(name) ?? "").replaceAll(PREFIX, "")
const styleTextOf = element => attribute(element, `${PREFIX}style`)
const dataOf = text => text.data.replaceAll(PREFIX, "")

// Elements

/** An address that may be a link; "" if it may not. */
const addressOf = href => {
  try {
    const {protocol, href: address} = new URL(/^\/\//.test(href.trim()) ? `https:${href.trim()}` : href.trim())
    if (!/^(https?|mailto|tel):$/.test(protocol)) return ""
    return address.replace(/[\s<>()\\]/g, letter => `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`)
  } catch {
    return "" // not absolute
  }
}

const isHidden = (element, style) => element.hasAttribute("hidden") || /(?:^|;)\s*display:\s*none|mso-hide:\s*all/i.test(style)
  || /mso-list:\s*Ignore/i.test(style) || /\bmw-editsection\b/.test(attribute(element, "class"))

/** The state of a check box: "x", " ", or "" for all other elements. */
const checkOf = element => {
  const name = attribute(element, "class")
  // Items of a list may be check boxes by their role or class.
  if (tagOf(element) === "li" && /(?:^|\s)checked(?:\s|$)/.test(name)) return "x"
  if (tagOf(element) === "li" && /(?:^|\s)unchecked(?:\s|$)/.test(name)) return " "
  const isBox = tagOf(element) === "input" ? /^checkbox$/i.test(attribute(element, "type"))
    : /^(?:menuitem)?checkbox$/.test(attribute(element, "role"))
  const isChecked = element.hasAttribute("checked") || attribute(element, "aria-checked") === "true"
  return isBox ? isChecked ? "x" : " " : ""
}

const styleOf = (element, style, context) => {
  const result = {...context}
  const tag = tagOf(element)
  if (STYLES[tag]) result[STYLES[tag]] = true
  if (style) {
    const [, weight] = /(?:^|[;\s])font-weight:\s*(\w+)/i.exec(style) ?? []
    if (weight) result.bold = /^(?:bold|bolder|[6-9]00)$/i.test(weight)
    const [, slant] = /(?:^|[;\s])font-style:\s*(\w+)/i.exec(style) ?? []
    if (slant) result.italic = /^(?:italic|oblique)$/i.test(slant)
    if (/text-decoration(?:-line)?:[^;]*line-through/i.test(style)) result.strike = true
    const [, space] = /white-space(?:-collapse)?:\s*([\w-]+)/i.exec(style) ?? []
    if (space) result.isPre = /^(?:pre|pre-wrap|pre-line|break-spaces|preserve|preserve-breaks)$/i.test(space)
  }
  return result
}

/** The text of a code block. */
const codeIn = element => {
  let text = ""
  const walk = (node, depth) => {
    if (depth > MAX_DEPTH) throw new Limit()
    for (let child = node.firstChild; child; child = child.nextSibling) {
      if (child.nodeType === 3) text += dataOf(child)
      else if (child.nodeType !== 1 || SKIPPED.has(tagOf(child))) continue
      else if (tagOf(child) === "br") text += "\n"
      else {
        const isLine = /^(?:div|p|li|tr)$/.test(tagOf(child))
        if (isLine && text && !text.endsWith("\n")) text += "\n"
        walk(child, depth + 1)
        if (isLine && !text.endsWith("\n")) text += "\n"
      }
    }
  }
  walk(element, 0)
  return text.replace(/\r\n?/g, "\n").replace(/\u00a0/g, " ").replace(/^\n|\s+$/g, "")
}

const LANGUAGE = /(?:^|\s)(?:language|lang|highlight-source|highlight-text)-([\w+#-]{1,20})/
const languageOf = element => {
  const near = [element.querySelector("code"), element, element.parentElement]
  for (const one of near) {
    const [, name] = LANGUAGE.exec(one ? attribute(one, "class") : "") ?? []
    if (name) return name
  }
  return ""
}

class Converter {
  writer = new Writer()
  /** @type {Run[]} the words of the line or paragraph that is being read */
  runs = []
  /** The state of a check box that was read before its text, as `checkOf` returns it. */
  check = ""
  /** Whether the HTML has formatting that plain text lacks. */
  isFormatted = false
  paragraphs = 0
  /** The last list whose items have their level as an attribute, as in Word: the indentation of each level, and the end of the list. */
  flat = {indents: /** @type {string[]} */ ([]), end: -1}

  constructor(isCocoa) {
    /** In text of macOS apps, each line is a paragraph. */
    this.isCocoa = isCocoa
  }

  // Words

  addText(text, context) {
    const {runs} = this
    let words = text.replace(/\r\n?/g, "\n")
    const isPre = context.isPre && !context.isFlat
    if (!isPre) {
      words = words.replace(/[ \t\n\f]+/g, " ")
      const last = runs[runs.length - 1]?.text ?? "\n"
      if (/[ \n]$/.test(last)) words = words.replace(/^ /, "")
    }
    this.addRun(words.replace(/\u00a0/g, " "), context)
  }

  /** @param {any} context what is known of the style */
  addRun(text, context, raw = false) {
    const {bold, italic, strike, code, href, isHeading} = context
    if (!text) return
    const {runs} = this
    const run = {text, bold: !!bold && !isHeading, italic: !!italic, strike: !!strike, code: !!code, href: href ?? "", raw}
    const last = runs[runs.length - 1]
    if (last && !raw && !last.raw && LEVELS.every(name => last[name] === run[name])) last.text += text
    else runs.push(run)
    if (raw || text.trim() && (run.bold || run.italic || run.strike || run.code || run.href)) this.isFormatted = true
  }

  /** Writes the runs that were read, as lines or as a paragraph. */
  flush(isParagraph = false) {
    const lines = linesOf(this.runs)
    this.runs = []
    if (lines.length > 1 && !lines[lines.length - 1].length) lines.pop() // A line break at the end of a block is not shown.
    else if (lines.length === 1 && !lines[0].length) return
    if (isParagraph && lines.some(line => line.length)) this.paragraphs++
    const last = lines.length - 1
    lines.forEach((line, at) => this.putLine(line, !at && isParagraph ? 2 : 1, at === last && isParagraph ? 2 : 1))
  }

  putLine(line, before, after) {
    const {writer} = this
    if (!line.length) {
      writer.gap = 2
      return
    }
    const [, glyph = ""] = line[0].raw ? [] : /^([☐☑☒])\s*/u.exec(line[0].text) ?? []
    if (glyph) {
      this.check = glyph === "☐" ? " " : "x"
      line[0].text = line[0].text.slice(1).trimStart()
      if (!line[0].text) line.shift()
      if (line.length) line[0].text = line[0].text.trimStart()
    }
    const text = markdownOfLine(line)
    const {check} = this
    this.check = ""
    if (!check) writer.put(text, writer.newItem ? 1 : before, writer.parts.length && writer.newItem ? 1 : after)
    else if (writer.newItem) writer.put(`[${check}] ${text}`)
    else this.flatItem(1, `- [${check}] `, () => writer.put(text))
    this.isFormatted ||= !!check
  }

  /** The text of an element as one line. */
  lineOf(element, context, depth, isCell = false) {
    const {runs, check} = this
    this.runs = []
    this.check = ""
    this.children(element, {...context, isFlat: true}, depth + 1)
    const line = linesOf([...this.runs])[0]
    const box = this.check && `[${this.check}] `
    Object.assign(this, {runs, check})
    return box + markdownOfLine(line, !isCell)
  }

  // Blocks

  children(node, context, depth) {
    if (depth > MAX_DEPTH) throw new Limit()
    for (let child = node.firstChild; child; child = child.nextSibling) {
      if (child.nodeType === 3) this.addText(dataOf(child), context)
      else if (child.nodeType === 1) this.element(child, context, depth)
    }
  }

  element(element, context, depth) {
    const tag = tagOf(element)
    const style = styleTextOf(element)
    if (isHidden(element, style)) return
    const check = checkOf(element)
    if (check && tag !== "li") this.check = check
    if (SKIPPED.has(tag)) return
    const inner = styleOf(element, style, context)
    if (tag === "br") return this.addRun(context.isFlat ? " " : "\n", {})
    if (tag === "img") return this.picture(element, context)
    if (tag === "a") {
      const href = context.href || addressOf(attribute(element, "href"))
      return this.inline(element, {...inner, href}, depth)
    }
    if (context.isFlat) return this.flatBlock(element, inner, depth)
    const [, level] = /^h([1-6])$/.exec(tag) ?? /^Mso(Title)$/.exec(attribute(element, "class")) ?? []
    if (level) return this.heading(element, Number(level) || 1, inner, depth)
    if (LISTS.has(tag)) return this.list(element, inner, depth)
    if (tag === "pre") return this.code(element)
    if (tag === "table") return this.table(element, inner, depth)
    if (tag === "blockquote") {
      this.flush()
      this.isFormatted = true
      this.writer.gap = Math.max(this.writer.gap, 2)
      this.writer.inside("> ", "> ", () => {
        this.children(element, inner, depth + 1)
        this.flush()
      })
      this.writer.gap = 2
    } else if (tag === "hr") {
      this.flush()
      this.isFormatted = true
      this.writer.put("---", 2, 2)
    } else if (tag === "p") {
      this.paragraph(element, style, inner, depth)
    } else if (BLOCKS.has(tag) || /(?:^|;)\s*display:\s*(?:block|flex|grid|list-item)/i.test(style)) {
      this.flush()
      this.children(element, inner, depth + 1)
      this.flush()
    } else {
      this.inline(element, inner, depth)
    }
  }

  inline(element, context, depth) {
    if (tagOf(element) === "q") this.addText("“", context)
    this.children(element, context, depth + 1)
    if (tagOf(element) === "q") this.addText("”", context)
  }

  /** A block where only one line is possible: spaces separate it from the text around it. */
  flatBlock(element, context, depth) {
    const tag = tagOf(element)
    const isBlock = BLOCKS.has(tag) || LISTS.has(tag) || /^(?:p|h[1-6]|pre|table|blockquote|hr)$/.test(tag)
    if (isBlock) this.addText(" ", {})
    this.inline(element, tag === "pre" ? {...context, code: true} : context, depth)
    if (isBlock) this.addText(" ", {})
  }

  picture(element, context) {
    const alt = attribute(element, "alt").replace(/\s+/g, " ").trim()
    const isTiny = ["width", "height"].some(name => /^[0-2](?:px)?$/.test(attribute(element, name)))
    const isBox = attribute(element, "aria-roledescription") === "checkbox"
    if (isTiny || isBox) return
    const source = attribute(element, "src").trim()
    const data = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z\d+/=]+$/i.test(source)
    const target = data ? source : /^(https?:)?\/\//i.test(source) ? addressOf(source) : ""
    const isEmoji = /emoji/i.test(attribute(element, "class") + source)
      && /^[\p{Extended_Pictographic}\p{Regional_Indicator}\d#*]/u.test(alt)
    if (!target || isEmoji) this.addText(alt, context)
    else this.addRun(`![${alt.replace(/[\\[\]]/g, "\\$&")}](${target})`, context, true)
  }

  heading(element, level, context, depth) {
    this.flush()
    const text = this.lineOf(element, {...context, isHeading: true, bold: false}, depth, true)
    if (!text) return
    this.isFormatted = true
    this.writer.put(`${"#".repeat(level)} ${text}`, 2, 2)
  }

  paragraph(element, style, context, depth) {
    const [, level] = /mso-list:\s*\S+\s+level(\d)/i.exec(style) ?? []
    this.flush()
    const read = () => {
      this.children(element, context, depth + 1)
      const isEmpty = this.runs.every(run => !run.raw && !run.text.trim())
      if (isEmpty && this.isCocoa) this.writer.gap = 2
      if (isEmpty) this.runs = []
      this.flush(!level && !this.isCocoa)
    }
    if (!level) return read()
    const marker = [...element.querySelectorAll("span")].find(one => /mso-list:\s*Ignore/i.test(styleTextOf(one)))
    const sign = (marker?.textContent ?? "").replace(/[\s\u00a0]+/g, "")
    const number = /^\(?(\d+)[.)]/.exec(sign)?.[1] ?? (/^\(?[a-z]{1,4}[.)]/i.test(sign) ? "1" : "")
    const font = marker?.parentElement ? styleTextOf(marker.parentElement) : ""
    const box = /Wingdings/i.test(font) && {"¨": " ", q: " ", "þ": "x"}[sign]
    this.flatItem(Number(level), number ? `${number}. ` : "- ", part => {
      part.isItem = true
      if (box) this.check = box
      read()
    })
  }

  code(element) {
    this.flush()
    const text = codeIn(element)
    if (!text.trim()) return
    const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map(ticks => ticks.length))
    const fence = "`".repeat(longest + 1)
    const lines = [fence + languageOf(element), ...text.split("\n"), fence]
    lines.forEach((line, at) => this.writer.put(line, at ? 1 : 2, at < lines.length - 1 ? 1 : 2))
    this.isFormatted = true
  }

  // Lists

  list(element, context, depth) {
    const {writer} = this
    this.flush()
    if (depth > MAX_DEPTH) throw new Limit()
    this.isFormatted = true
    // An item that contains only a list needs no bullet.
    const empty = writer.newItem
    if (empty) Object.assign(empty, {first: empty.before, rest: empty.before})
    const isInside = writer.parts.some(part => part.isItem)
    if (!isInside && this.flat.end !== writer.lines.length) writer.gap = 2
    const isOrdered = tagOf(element) === "ol"
    let number = Number.parseInt(attribute(element, "start")) || 1
    let indent = ""
    const start = writer.lines.length
    for (let child = element.firstChild; child; child = child.nextSibling) {
      const isElement = child.nodeType === 1
      if (!isElement && !(child.nodeType === 3 && child.data.trim())) continue
      if (isElement && (isHidden(child, styleTextOf(child)) || SKIPPED.has(tagOf(child)))) continue
      if (isElement && LISTS.has(tagOf(child))) {
        // Google Docs puts a list of the next level beside the items.
        writer.inside(indent, indent, part => {
          part.isItem = part.isUsed = true
          writer.gap = 1
          this.list(child, context, depth + 1)
        })
        continue
      }
      const read = part => {
        Object.assign(part, {isItem: true, before: indent})
        this.check = isElement ? checkOf(child) : ""
        if (isElement) this.children(child, styleOf(child, styleTextOf(child), context), depth + 2)
        else this.addText(dataOf(child), context)
        this.flush()
        this.check = ""
      }
      const marker = isOrdered ? `${number}. ` : "- "
      if (isElement && child.hasAttribute("data-listid")) {
        // Word on the web has a list for each item.
        const level = Number(attribute(child, "data-aria-level") || attribute(child, "aria-level")) || 1
        this.flatItem(level, marker, read)
        continue
      }
      if (isInside || writer.lines.length > start) writer.gap = 1
      const isWritten = writer.inside(marker, " ".repeat(marker.length), read)
      if (isWritten) indent = " ".repeat(marker.length)
      if (isWritten && isOrdered) number++
    }
    writer.gap = 2
  }

  /** A list item that has its level as an attribute, as in Word. */
  flatItem(level, marker, work) {
    const {writer, flat} = this
    const isNext = flat.end === writer.lines.length
    const indents = isNext ? flat.indents.slice(0, Math.min(level, MAX_NESTING) - 1) : []
    writer.gap = isNext ? 1 : 2
    const outer = indents.join("")
    const isWritten = writer.inside(outer + marker, outer + " ".repeat(marker.replace(/\[.*/, "").length), work)
    writer.gap = 2
    this.isFormatted = true
    if (isWritten) this.flat = {indents: [...indents, " ".repeat(marker.replace(/\[.*/, "").length)], end: writer.lines.length}
  }

  // Tables

  table(element, context, depth) {
    this.flush()
    const rows = [...element.querySelectorAll("tr")]
    const isLayout = /^(?:presentation|none)$/.test(attribute(element, "role")) || element.querySelector("table")
      || !rows.some(row => row.cells.length > 1) || rows.some(row => row.cells.length > MAX_COLUMNS)
    if (isLayout) {
      this.children(element, context, depth + 1)
      return this.flush()
    }
    this.isFormatted = true
    const caption = element.querySelector("caption")
    const title = caption && this.lineOf(caption, context, depth)
    if (title) this.writer.put(title, 2, 2)
    /** By column, the number of further rows that a cell spans. */
    const held = /** @type {number[]} */ ([])
    const lines = rows.map(row => {
      const cells = /** @type {string[]} */ ([])
      const skip = () => {
        while (held[cells.length] > 0) {
          held[cells.length]--
          cells.push("")
        }
      }
      for (const cell of row.cells) {
        skip()
        const [columns, more] = ["colspan", "rowspan"].map(name => Math.max(1, Number.parseInt(attribute(cell, name)) || 1))
        const style = styleOf(cell, styleTextOf(cell), {...context, isHeading: tagOf(cell) === "th"})
        const text = this.lineOf(cell, style, depth + 2, true)
        for (let i = 0; i < columns && cells.length < MAX_COLUMNS; i++) {
          if (more > 1) held[cells.length] = Math.min(more, rows.length) - 1
          cells.push(i ? "" : text.replaceAll("|", "\\|"))
        }
      }
      skip()
      return cells
    })
    const width = Math.max(...lines.map(cells => cells.length))
    const [first] = rows
    const alignments = [...first.cells].map(cell =>
      /^(?:right|center)/i.exec(attribute(cell, "align") || (/text-align:\s*(\w+)/i.exec(styleTextOf(cell))?.[1] ?? ""))?.[0] ?? "")
    const rule = Array.from({length: width}, (_, at) => ({right: "---:", center: ":---:"})[alignments[at]] ?? "---")
    const filled = lines.map(cells => Array.from({length: width}, (_, at) => cells[at] ?? ""))
    const [top = [], ...others] = filled
    const all = [top, rule, ...others]
    all.forEach((cells, at) => {
      const line = `| ${cells.join(" | ")} |`.replace(/ {2,}/g, " ")
      this.writer.put(line, at ? 1 : 2, at < all.length - 1 ? 1 : 2)
    })
  }
}

const MONOSPACED = /mono|menlo|monaco|consolas|courier/i

/** Whether all of it is code, from an editor or from one code block. The plain text is then pasted. */
const isCode = (body, styles) => {
  const parts = [...body.children].filter(one => !/^(?:meta|style|br|link)$/.test(tagOf(one)))
  const hasWordsBeside = [...body.childNodes].some(one => one.nodeType === 3 && one.data.trim())
  if (!parts.length || hasWordsBeside) return false
  const fonts = styles.match(/(?:^|[{;\s])font:[^;}]*/g)
  if (fonts?.every(font => MONOSPACED.test(font))) return true
  return parts.every(one => {
    const style = styleTextOf(one)
    return tagOf(one) === "pre" || /white-space:\s*pre\s*(?:;|$)/i.test(style) && MONOSPACED.test(style)
  })
}

/**
 * The Markdown of HTML from the clipboard or a drag. Pictures with `data:` addresses are in it with their bytes.
 *
 * @param {string} html
 * @param {string} plain the plain text of the same clipboard, "" if there is none
 * @returns {string | null} null: the plain text is to be pasted
 */
export const markdownOf = (html, plain) => {
  if (!html || html.length > MAX_HTML || isTooDeep(html)) return null
  try {
    const {body, head} = parse(rename(html))
    const styles = [...head.querySelectorAll("noframes")].map(one => one.textContent).join("")
    const isCocoa = /Cocoa HTML Writer/.test(attribute(head.querySelector("meta[name=Generator]") ?? body, "content"))
    if (plain.trim() && isCode(body, isCocoa ? styles : "")) return null
    const converter = new Converter(isCocoa)
    converter.children(body, {}, 0)
    converter.flush()
    const {writer, isFormatted, paragraphs} = converter
    const isMore = isFormatted || paragraphs > 1 && !/\n\s*\n/.test(plain)
    return plain.trim() && !isMore ? null : writer.lines.join("\n").trim() || null
  } catch {
    return null
  }
}
