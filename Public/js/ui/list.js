// The list of notes: only the rows in view are there, whatever there is in all. Search, roving focus, reordering.

import { fill, h, icon, plural } from "./dom.js"
import { dragging } from "./dragging.js"
import { fillRow } from "./row.js"

const height = 88 // px of a row; css/notes.css says the same
const beyond = 6 // rows that are there above and below those in view

/** @typedef {{tag: string | null, archived: boolean}} Scope which notes the list is about */

/**
 * @param {import("./shell.js").App} app
 * @param {{open: (id: string, how: "look" | "go" | "write") => void, empty: (scope: Scope, query: string) => HTMLElement, menu: (row: HTMLElement, id: string) => void}} options
 *   `open`: "look" while the arrow keys go by, "go" on a click or Enter, "write" on a double click
 */
export const noteList = (app, { open, empty, menu }) => {
  const { copy } = app
  const run = h("div", { class: "run" })
  const box = h("div", { class: "rows-box", role: "listbox", "aria-label": "Notes" }, run)
  const nothing = h("div", { class: "nothing" })
  const input = h("input", {
    type: "search", class: "search-input", placeholder: "Search", "aria-label": "Search notes", "aria-keyshortcuts": "/", enterkeyhint: "search",
    autocomplete: "off", spellcheck: "false", dir: "auto",
  })
  const search = h("div", { class: "search", role: "search" }, icon("search"), input, h("kbd", { "aria-hidden": true }, "/"))

  /** @type {Scope} */
  let scope = { tag: null, archived: false }
  /** @type {string[]} */
  let ids = []
  /** @type {Map<string, number>} */
  let places = new Map()
  /** @type {Map<string, HTMLElement>} */
  const rows = new Map()
  /** The row that Tab goes to, and the note that is open. */
  let roving = ""
  let opened = ""
  let frame = 0

  const filter = () => {
    const query = input.value.trim()
    return { query, tag: scope.tag, archived: query && !scope.archived ? null : scope.archived }
  }

  /** Reads the order again; what was at the top stays there, unless the list was at its very top. */
  const refresh = (keepPlace = true, isStale = (/** @type {string} */ _id) => true) => {
    const first = Math.floor(box.scrollTop / height)
    const anchor = keepPlace && box.scrollTop > 0 ? ids[first] : undefined
    ids = copy.notes(filter())
    places = new Map(ids.map((id, at) => [id, at]))
    run.style.height = `${ids.length * height}px`
    nothing.hidden = ids.length > 0
    box.hidden = ids.length === 0
    if (!ids.length) fill(nothing, empty(scope, filter().query))
    const now = anchor && places.get(anchor)
    if (typeof now === "number" && now !== first) box.scrollTop += (now - first) * height
    if (!places.has(roving)) roving = places.has(opened) ? opened : ids[0] ?? ""
    for (const [id, row] of rows) if (!places.has(id) || isStale(id)) { row.remove(); rows.delete(id) }
    draw()
  }

  const draw = () => {
    frame = 0
    const from = Math.max(0, Math.floor(box.scrollTop / height) - beyond)
    const to = Math.min(ids.length, Math.ceil((box.scrollTop + (box.clientHeight || innerHeight)) / height) + beyond)
    const wanted = new Set(ids.slice(from, to))
    // The row that holds the focus stays, wherever it is: a focused element that goes takes the focus with it.
    if (roving) wanted.add(roving)
    for (const [id, row] of rows) if (!wanted.has(id)) { row.remove(); rows.delete(id) }
    for (const id of wanted) {
      const row = rows.get(id) ?? makeRow(id)
      const at = /** @type {number} */ (places.get(id))
      row.style.transform = `translateY(${at * height}px)`
      row.setAttribute("aria-posinset", String(at + 1))
      row.setAttribute("aria-setsize", String(ids.length))
      row.setAttribute("aria-selected", String(id === opened))
      row.tabIndex = id === roving ? 0 : -1
    }
  }
  const drawSoon = () => { frame ||= requestAnimationFrame(draw) }

  /** @param {string} id */
  const makeRow = id => {
    const row = h("div", { class: "note-row", role: "option", id: `row-${id}`, "data-note": id })
    const note = copy.note(id)
    if (note) fillRow(copy, row, note, filter().archived === null)
    rows.set(id, row)
    run.append(row)
    return row
  }

  /** @param {string} id */
  const reveal = id => {
    const top = (places.get(id) ?? 0) * height
    if (top < box.scrollTop) box.scrollTop = top
    else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight
  }

  /**
   * Puts the focus on a row.
   * @param {string} [id]
   */
  const focus = (id = places.has(opened) ? opened : roving) => {
    if (!places.has(id)) return input.focus()
    roving = id
    reveal(id)
    draw()
    rows.get(id)?.focus({ preventScroll: true })
  }

  let looking = 0
  /** @param {number} at */
  const step = at => {
    const id = ids[Math.max(0, Math.min(ids.length - 1, at))]
    if (!id) return
    focus(id)
    // A key that is held down goes by faster than notes are worth opening.
    clearTimeout(looking)
    looking = window.setTimeout(() => open(id, "look"), 60)
  }

  box.addEventListener("scroll", drawSoon, { passive: true })
  new ResizeObserver(drawSoon).observe(box)
  box.addEventListener("keydown", event => {
    const id = rowOf(event)
    if (!id || event.ctrlKey || event.metaKey || event.altKey) return
    const at = places.get(id) ?? 0
    const page = Math.max(1, Math.floor(box.clientHeight / height) - 1)
    const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: ids.length - 1 }[event.key]
    if (to !== undefined) step(to)
    else if (event.key === "Enter" || event.key === " ") open(id, "go")
    else return
    event.preventDefault()
    event.stopPropagation()
  })
  box.addEventListener("click", event => {
    const id = rowOf(event)
    if (!id || reorder.isDragging()) return
    focus(id)
    open(id, "go")
  })
  box.addEventListener("dblclick", event => { const id = rowOf(event); if (id) open(id, "write") })
  box.addEventListener("contextmenu", event => {
    const id = rowOf(event)
    if (!id) return
    event.preventDefault()
    if (reorder.isDragging()) return
    const row = rows.get(id)
    if (row) menu(row, id)
  })

  let saying = 0
  input.addEventListener("input", () => {
    box.scrollTop = 0
    refresh(false)
    clearTimeout(saying)
    saying = window.setTimeout(() => app.announce(ids.length ? plural(ids.length, "note") : "Nothing found"), 600)
  })
  input.addEventListener("keydown", event => {
    if (event.isComposing) return
    if (event.key === "Escape" && input.value) { input.value = ""; refresh(false) }
    else if (event.key === "Escape") focus()
    else if (event.key === "ArrowDown" || event.key === "Enter") { if (ids[0]) { focus(ids[0]); open(ids[0], event.key === "Enter" ? "go" : "look") } }
    else return
    event.preventDefault()
    event.stopPropagation()
  })

  /**
   * Puts a note before the one at this place: its sortDate lies between those of its new neighbours.
   * @param {string} id @param {number} to
   */
  const move = async (id, to) => {
    const note = copy.note(id)
    const others = ids.filter(other => other !== id)
    if (!note) return
    // Pinned notes are an order of their own.
    const group = others.filter(other => copy.note(other)?.pinned === note.pinned)
    const start = group.length ? others.indexOf(group[0]) : 0
    const at = Math.max(0, Math.min(group.length, to - start))
    const dates = group.map(other => Date.parse(copy.note(other)?.sortDate ?? ""))
    const below = dates[at]
    const above = dates[at - 1]
    const date = above === undefined ? Math.max(Date.now(), (below ?? 0) + 1000)
      : below === undefined ? above - 60_000 : below + Math.max(1, Math.floor((above - below) / 2))
    // Where there is no room (notes that came in together), those above make some, a millisecond each.
    let least = date + 1
    for (let other = at - 1; other >= 0 && dates[other] < least; other--, least++) {
      await copy.setSortDate(group[other], new Date(least).toISOString())
    }
    await copy.setSortDate(id, new Date(date).toISOString())
    app.announce(`Moved to ${at + 1 + start} of ${ids.length}`)
  }
  const reorder = dragging(box, height, {
    at: id => places.get(id) ?? 0, count: () => ids.length,
    drop: (id, to) => app.attempt(move(id, to)),
    tag: (id, tag) => app.attempt(copy.addTag(id, tag).then(() => app.toast(`Tagged ${copy.tag(tag)?.name}`))),
  })

  /**
   * What changed since the list was last looked at; null: everything.
   * @type {Set<string> | null}
   */
  let changed = new Set()
  let waiting = 0
  const catchUp = () => {
    waiting = 0
    if (reorder.isDragging()) return void (waiting = requestAnimationFrame(catchUp))
    const told = changed
    changed = new Set()
    const focused = document.activeElement?.getAttribute("data-note")
    refresh(true, id => {
      const note = copy.note(id)
      return !told || !note || [id, ...note.tags, ...note.attachments].some(one => told.has(one))
    })
    if (focused && document.activeElement === document.body) focus(places.has(focused) ? focused : undefined)
  }
  copy.addEventListener("change", event => {
    const { ids: told } = /** @type {CustomEvent<{ids: Set<string> | null}>} */ (event).detail
    if (!told) changed = null
    else for (const id of told) changed?.add(id)
    // During a first sync changes come in pages: one look each frame is enough.
    waiting ||= requestAnimationFrame(catchUp)
  })

  return {
    search, box, nothing,
    /** @param {Scope} wanted */
    show: wanted => {
      const isOther = wanted.tag !== scope.tag || wanted.archived !== scope.archived
      scope = wanted
      if (isOther) { input.value = ""; box.scrollTop = 0; roving = "" }
      refresh(!isOther)
    },
    /**
     * Marks the note that is open.
     * @param {string} id
     */
    select: id => {
      opened = id
      if (places.has(id)) { roving = id; reveal(id) }
      draw()
    },
    focus, refresh,
    /**
     * The note in its place when this one goes.
     * @param {string} id
     */
    after: id => ids[(places.get(id) ?? -1) + 1] ?? ids[(places.get(id) ?? 0) - 1] ?? "",
    focused: () => document.activeElement?.getAttribute("data-note") ?? "",
    /** @param {string} id @param {-1 | 1} by */
    shift: (id, by) => { if (places.has(id)) app.attempt(move(id, Math.max(0, (places.get(id) ?? 0) + by))) },
    count: () => ids.length,
    query: () => input.value.trim(),
    find: () => { input.focus(); input.select() },
    clear: () => { input.value = ""; refresh(false) },
  }
}

/** @param {Event} event @returns {string} the ID of the note whose row it happened in, or "" */
const rowOf = event => /** @type {Element} */ (event.target).closest("[data-note]")?.getAttribute("data-note") ?? ""
