// The text of a note as styled Markdown: it is read and written in the same place. Each line is a <div> whose text is exactly the
// line; marks such as `**` are dimmed, not removed.
//
// Typing changes the text, and the lines that changed are drawn again. Compositions (input methods, most keyboards of phones) and
// spelling corrections are left to the browser: it changes the elements, and the text is read from them. During a composition,
// nothing is drawn (docs/decisions/0070-the-editor.md).
import {firstState, styleLine} from "../model/markdown.js"
import {marksOf} from "../model/marks.js"
import {linesAround} from "../model/typing.js"

const coarse = matchMedia("(pointer: coarse)")
/** The width of a touch target, in px. */
const TOUCH = 44
/** The minimum distance between the caret and the edge of the view, in px. */
const MARGIN = 32

/** The key of each element that shows a part of a line. An element whose key stays the same is kept. */
const keys = new WeakMap()

/** The text of a line. In an empty line, a <br> keeps the height. */
const textOf = line => {
  if (!line.querySelector?.("br")) return line.textContent
  return [...line.childNodes].map(node => node.nodeName === "BR" ? node.nextSibling ? "\n" : "" : node.textContent).join("")
}

/** An element, or a text node, for a part of a line. */
const nodeFor = ({text, looks, about}) => {
  if (!looks) return document.createTextNode(text)
  const isLink = looks.includes("link") && !looks.includes("note-link") && !looks.includes("mark")
  const node = document.createElement(isLink ? "a" : "span")
  node.className = looks.replace(/\S+/g, "md-$&")
  if (isLink) Object.assign(node, {href: about, tabIndex: -1, draggable: false})
  if (/date|note-link/.test(looks)) node.dataset.about = about
  node.append(text)
  return node
}

/** The text node of a part; null for an element without text, such as a picture. */
const textNodeOf = node => node instanceof Text ? node : node.firstChild instanceof Text ? node.firstChild : null

/** Changes only the characters of a text node that differ, so that the browser's spelling marks on the others remain. */
const setData = (node, text) => {
  const {data} = node
  if (data === text) return
  let start = 0
  while (start < Math.min(data.length, text.length) && data[start] === text[start]) start++
  let tail = 0
  while (tail < Math.min(data.length, text.length) - start && data.at(-1 - tail) === text.at(-1 - tail)) tail++
  node.replaceData(start, data.length - tail - start, text.slice(start, text.length - tail))
}

/** @type {SurfaceOf} */
export const styledSurface = (element, on) => {
  let lines = /** @type {{text: string, state: string, next: string, element: HTMLElement}[]} */ ([])
  let shown = ""
  let isComposing = false
  /** Whether the browser may have changed the elements itself. */
  let isDirty = false
  /** The selection when the focus was lost. */
  let saved = [0, 0]
  let dragged = /** @type {number[] | null} */ (null)

  // Drawing

  const draw = line => {
    const {kind, next, hang, parts} = styleLine(line.text, line.state)
    line.next = next
    const {element: row} = line
    row.className = `md-line ${kind.replace(/\S+/g, "md-$&")}`.trim()
    if (hang) row.style.setProperty("--hang", `${Math.min(hang, 40)}`)
    else row.style.removeProperty("--hang")
    const wanted = /** @type {any[]} */ (parts.flatMap(part => {
      const widget = part.looks.includes("embed") && on.embed(part.about)
      const key = part.looks && `${part.looks} ${JSON.stringify(part.about)}`
      return [{...part, key}, ...widget ? [{make: widget.make, key: `widget ${widget.key}`}] : []]
    }))
    wanted.forEach(({key, make, ...part}, at) => {
      const node = row.childNodes[at]
      const isSame = node && (key ? keys.get(node) === key : node instanceof Text)
      if (isSame) return void (make || setData(textNodeOf(node), part.text))
      const made = make ? make() : nodeFor(part)
      keys.set(made, key)
      node ? node.replaceWith(made) : row.append(made)
    })
    while (row.childNodes.length > wanted.length) row.lastChild?.remove()
    if (!wanted.length) row.append(document.createElement("br"))
  }

  const newLine = text => {
    const row = document.createElement("div")
    row.dir = "auto"
    return {text, state: "", next: "", element: row}
  }

  /** Repairs the elements after the browser changed them. */
  const repair = () => {
    isDirty = false
    const areThere = lines.length === element.childNodes.length && lines.every((line, at) => element.childNodes[at] === line.element)
    for (const line of lines) {
      if (textOf(line.element) === line.text && line.element.parentNode) continue
      line.element.replaceChildren()
      draw(line)
    }
    if (!areThere) element.replaceChildren(...lines.map(line => line.element))
  }

  const show = (text, /** @type {number[] | undefined} */ selection = undefined) => {
    const wasShown = shown
    const places = selection ?? (hasFocus() ? selectionOf() : saved)
    const texts = text.split("\n")
    let head = 0
    while (head < Math.min(texts.length, lines.length) && texts[head] === lines[head].text) head++
    let tail = 0
    while (tail < Math.min(texts.length, lines.length) - head && texts.at(-1 - tail) === lines.at(-1 - tail)?.text) tail++
    const middle = texts.slice(head, texts.length - tail)
    const old = lines.slice(head, lines.length - tail)
    const made = middle.map((text, at) => old[at] ? Object.assign(old[at], {text}) : newLine(text))
    old.slice(middle.length).forEach(line => line.element.remove())
    const rest = lines.slice(lines.length - tail)
    const anchor = rest[0]?.element.parentNode === element ? rest[0].element : null
    made.slice(old.length).forEach(line => element.insertBefore(line.element, anchor))
    lines = [...lines.slice(0, head), ...made, ...rest]
    let state = firstState(text)
    if (lines[0]?.state !== state) head = 0
    else if (head) state = lines[head - 1].next
    const changed = new Set(made)
    for (let at = head; at < lines.length; at++) {
      const line = lines[at]
      if (!changed.has(line) && line.state === state) {
        if (at >= lines.length - tail) break
      } else {
        line.state = state
        draw(line)
      }
      state = line.next
    }
    if (isDirty) repair()
    shown = text
    element.toggleAttribute("data-empty", !text)
    saved = places
    if (hasFocus()) {
      const now = selectionOf()
      if (isOther(now, places) || wasShown !== text) place(places)
    }
  }
  const isOther = (one, other) => one[0] !== other[0] || one[1] !== other[1]

  // Places: offsets in the text, and points in the elements

  const hasFocus = () => document.activeElement === element
  const readBack = () => [...element.childNodes].map(textOf).join("\n")

  /** The offset in the text of a point in the elements; -1 if the point is outside. */
  const placeOf = (node, offset) => {
    if (!element.contains(node)) return -1
    // After the browser has changed the elements, `lines` is out of date.
    const rows = isDirty ? [...element.childNodes] : lines.map(line => line.element)
    const lengthOf = at => isDirty ? textOf(rows[at]).length : lines[at].text.length
    const before = count => {
      let sum = 0
      for (let at = 0; at < Math.min(count, rows.length); at++) sum += lengthOf(at) + 1
      return sum
    }
    if (node === element) return offset < rows.length ? before(offset) : Math.max(0, before(offset) - 1)
    let row = node
    while (row.parentNode !== element) row = row.parentNode
    const range = document.createRange()
    range.setStart(row, 0)
    range.setEnd(node, offset)
    return before(rows.indexOf(row)) + String(range).length
  }
  /** The point in the elements of an offset in the text: a node and an offset in it. */
  const pointOf = place => {
    let rest = place
    let at = 0
    while (at < lines.length - 1 && rest > lines[at].text.length) rest -= lines[at++].text.length + 1
    const row = lines[at]?.element
    if (!row) return {node: element, offset: 0}
    for (const child of row.childNodes) {
      const node = textNodeOf(child)
      if (!node || keys.get(child)?.startsWith("widget")) continue
      if (rest <= node.data.length) return {node, offset: rest}
      rest -= node.data.length
    }
    return {node: row, offset: 0}
  }
  /** The anchor and the focus of the selection, as offsets in the text. */
  const selectionOf = () => {
    const {anchorNode, anchorOffset, focusNode, focusOffset} = /** @type {any} */ (getSelection())
    const places = [placeOf(anchorNode, anchorOffset), placeOf(focusNode, focusOffset)]
    return places[0] < 0 || places[1] < 0 ? saved : places
  }
  const place = (/** @type {number[]} */ [from, to]) => {
    const [anchor, focus] = [pointOf(from), pointOf(to)]
    getSelection()?.setBaseAndExtent(anchor.node, anchor.offset, focus.node, focus.offset)
    reveal(to)
  }
  const boxOf = place => {
    const {node, offset} = pointOf(place)
    const range = document.createRange()
    range.setStart(node, offset)
    const boxes = range.getClientRects()
    return boxes[boxes.length - 1] ?? /** @type {any} */ (node instanceof Text ? node.parentNode : node).getBoundingClientRect()
  }
  /** Scrolls until the place is in view. */
  const reveal = place => {
    const view = element.closest(".editor-scroll")
    if (!view) return
    const {top, bottom} = boxOf(place)
    const frame = view.getBoundingClientRect()
    if (top < frame.top + MARGIN) view.scrollTop -= frame.top + MARGIN - top
    else if (bottom > frame.bottom - MARGIN) view.scrollTop += bottom - frame.bottom + MARGIN
  }
  const selected = () => {
    const [from, to] = hasFocus() ? selectionOf() : saved
    return /** @type {[number, number]} */ ([Math.min(from, to), Math.max(from, to)])
  }

  // Edits

  /** The mark of a picture that Backspace or Delete removes as a whole. */
  const markBeside = type => {
    const [start, end] = selected()
    const side = {deleteContentBackward: "end", deleteContentForward: "start"}[type]
    if (!side || start < end) return null
    const [from, to] = linesAround(shown, start)
    const mark = marksOf(shown.slice(from, to)).find(one => from + one[side] === start)
    return mark ? [from + mark.start, from + mark.end] : null
  }
  const rangeOf = event => {
    const mark = markBeside(event.inputType)
    if (mark) return mark
    const [range] = event.getTargetRanges()
    if (range) return [placeOf(range.startContainer, range.startOffset), placeOf(range.endContainer, range.endOffset)]
    const [start, end] = selected()
    const [, by, direction] = event.inputType.match(/^delete(Content|Word|SoftLine|HardLine)(Backward|Forward)$/) ?? []
    if (start < end || !by) return [start, end]
    // Chromium does not report the range that a key would delete. It is what the same movement of the caret selects.
    const selection = /** @type {any} */ (getSelection())
    const granularity = {Content: "character", Word: "word", SoftLine: "lineboundary", HardLine: "lineboundary"}[by]
    selection.modify("extend", direction.toLowerCase(), granularity)
    const moved = placeOf(selection.focusNode, selection.focusOffset)
    selection.collapseToStart()
    return [Math.min(start, moved), Math.max(start, moved)]
  }

  element.onbeforeinput = event => {
    const {inputType: type} = event
    const isOurs = !isComposing && !event.isComposing && !/Composition|ReplacementText/.test(type)
    if (!isOurs) return
    event.preventDefault()
    const move = {historyUndo: "undo", historyRedo: "redo"}[type]
    if (move) return on.move(move)
    if (/^insert(Paragraph|LineBreak)$/.test(type)) return on.enter()
    const command = {formatBold: "bold", formatItalic: "italic"}[type]
    if (command) return on.command(command)
    const isDeletion = type.startsWith("delete")
    const text = isDeletion ? "" : event.data ?? event.dataTransfer?.getData("text/plain") ?? ""
    const [start, end] = rangeOf(event)
    if (start >= 0 && (text || end > start)) on.edit({start, end, text, select: [start + text.length, start + text.length]})
  }
  /** Reads the text after the browser has changed the elements. */
  const take = () => {
    isDirty = true
    const text = readBack()
    const places = selectionOf()
    on.typed(text)
    if (!isComposing) show(text, places)
    else element.toggleAttribute("data-empty", !text)
  }
  element.oninput = event => {
    // Firefox sends the last "input" of a composition after its end.
    isComposing = event.isComposing
    take()
  }
  element.addEventListener("compositionstart", () => {
    isComposing = true
    // A browser that joins lines keeps their looks as inline styles, which the content security policy blocks. If this edit ends the
    // composition, "compositionend" is sent before it returns.
    const [start, end] = selected()
    if (shown.slice(start, end).includes("\n")) on.edit({start, end, text: "", select: [start, start]})
  })
  // A key that no input method handles means that no composition is left, also if the browser did not tell its end.
  element.addEventListener("keydown", event => {
    if (!isComposing || event.isComposing || event.keyCode === 229) return
    isComposing = false
    take()
    on.composed()
  })
  element.addEventListener("compositionend", () => {
    isComposing = false
    take()
    on.composed()
  })

  // Clipboard, dragging, clicks

  element.oncopy = element.oncut = event => {
    const [start, end] = selected()
    if (start === end) return
    event.preventDefault()
    event.clipboardData?.setData("text/plain", shown.slice(start, end))
    if (event.type === "cut") on.edit({start, end, text: "", select: [start, start]})
  }
  element.ondragstart = event => {
    dragged = selected()
    event.dataTransfer?.setData("text/plain", shown.slice(...dragged))
  }
  element.ondragend = () => { dragged = null }
  element.ondrop = event => {
    const {dataTransfer: data, clientX, clientY, ctrlKey, altKey} = event
    const text = data.getData("text/plain")
    if (data.files.length || !text && !data.getData("text/html")) return
    event.preventDefault()
    const at = placeAt(clientX, clientY)
    element.focus({preventScroll: true})
    if (!dragged) {
      place([at, at])
      return on.paste(data)
    }
    if (ctrlKey || altKey) return on.edit({start: at, end: at, text, select: [at, at + text.length]})
    const [start, end] = dragged
    dragged = null
    if (at >= start && at <= end) return
    const [from, to] = [Math.min(start, at), Math.max(end, at)]
    const isAfter = at > end
    const between = isAfter ? shown.slice(end, at) : shown.slice(at, start)
    const begin = isAfter ? at - text.length : at
    on.edit({start: from, end: to, text: isAfter ? between + text : text + between, select: [begin, begin + text.length]})
  }
  /** The place in the text at a point of the screen. */
  const placeAt = (x, y) => {
    const page = /** @type {any} */ (document)
    const caret = page.caretPositionFromPoint?.(x, y)
    const range = caret ? null : page.caretRangeFromPoint?.(x, y)
    const at = caret ? placeOf(caret.offsetNode, caret.offset) : range ? placeOf(range.startContainer, range.startOffset) : -1
    return at < 0 ? shown.length : at
  }
  const hit = ({target, clientX}) => {
    const box = coarse.matches && target.closest(".md-check")?.querySelector(".md-box")
    const {left = 0, right = 0} = box ? box.getBoundingClientRect() : {}
    const isNear = box && Math.abs(clientX - (left + right) / 2) <= TOUCH / 2
    const part = isNear ? box : target.closest(".md-box, a, [data-about]")
    return part && {part, at: placeOf(part.firstChild, 0)}
  }
  // A click on a box or a link neither moves the caret nor opens the keyboard of a phone.
  element.onmousedown = event => {
    if (event.button === 0 && event.detail === 1 && !event.shiftKey && !event.altKey && hit(event)) event.preventDefault()
  }
  element.onclick = event => {
    const found = hit(event)
    if (!found || event.button || event.shiftKey || event.altKey || event.detail > 1) return
    event.preventDefault()
    const {part, at} = found
    if (part.matches(".md-box")) on.box(at)
    else on.follow(part.matches("a") ? "link" : part.matches(".md-date") ? "date" : "note", part.href ?? part.dataset.about)
  }
  element.onblur = () => { saved = selectionOf() }

  const rangeBetween = (start, end) => {
    const [from, to] = [pointOf(start), pointOf(end)]
    const range = document.createRange()
    range.setStart(from.node, from.offset)
    range.setEnd(to.node, to.offset)
    return range
  }

  return {
    element, show, boxOf, selected, reveal, placeAt, rangeOf: rangeBetween,
    refresh: () => { if (!isComposing) lines.filter(({text}) => text.includes("](attachment:")).forEach(draw) },
    isComposing: () => isComposing,
    select: (start, end = start) => {
      saved = [start, end]
      if (hasFocus()) place(saved)
    },
    focus: () => {
      element.focus({preventScroll: true})
      place(saved)
    },
  }
}
