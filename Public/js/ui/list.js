// The list of notes: only the rows in view are there, whatever there is in all. Search, and a focus that goes from row
// to row.

import { fill, h, icon, plural, shortDate } from "./dom.js"
import { HEIGHT, moving } from "./moving.js"

const beyond = 6 // rows above and below those in view

/**
 * The first picture of a note: its preview, else its bytes once they are here.
 * @param {Copy} copy @param {string[]} attachments
 */
const thumbnail = (copy, attachments) => {
  const found = attachments.flatMap(id => copy.attachment(id) ?? [])
    .find(({ mimeType, preview, isHere }) => mimeType.startsWith("image/") && (preview || isHere))
  if (!found) return null
  const onerror = () => image.remove()
  const image = h("img", { class: "thumbnail", alt: "", decoding: "async", draggable: "false", onerror })
  if (found.preview) image.src = `data:image/jpeg;base64,${found.preview}`
  else {
    copy.bytes(found.uniqueID).then(bytes => {
      if (!bytes) return
      image.src = URL.createObjectURL(bytes)
      image.onload = () => URL.revokeObjectURL(image.src)
    }, onerror)
  }
  return image
}

/**
 * @param {Copy} copy @param {Note} note
 * @param {boolean} isMixed whether to say what is archived
 */
const contentOf = (copy, { title, excerpt, sortDate, pinned, archived, tags, attachments }, isMixed) => {
  const otherwise = attachments.length ? "A note without words" : "An empty note"
  const image = thumbnail(copy, attachments)
  return [
    h("span", { class: "row-words" },
      h("span", { class: "note-title" },
        h("bdi", { class: title ? "" : "muted" }, title || otherwise),
        pinned && h("span", { class: "pinned" }, icon("pin"), h("span", { class: "visually-hidden" }, "pinned"))),
      h("span", { class: "note-excerpt", dir: "auto" }, excerpt),
      h("span", { class: "note-meta" }, h("time", { class: "number", datetime: sortDate }, shortDate(sortDate)),
        isMixed && archived && h("span", null, "Archived"),
        tags.map(id => h("bdi", { class: "note-tag" }, copy.tag(id)?.name)),
        !image && attachments.length > 0 && h("span", { class: "note-files" }, icon("attach"), attachments.length))),
    image]
}

/**
 * The ID of the note whose row it happened in.
 * @param {Event} event
 */
const idOf = event => /** @type {Element} */ (event.target).closest("[data-note]")?.getAttribute("data-note")

/**
 * @param {Shell} app
 * @param {ListFrame} frame
 */
export const noteList = (app, { open, empty, menu }) => {
  const { copy } = app
  const run = h("div", { class: "run" })
  const box = h("div", { class: "rows-box", role: "listbox", "aria-label": "Notes" }, run)
  const nothing = h("div", { class: "nothing" })
  const input = h("input", { type: "search", class: "search-input", placeholder: "Search", "aria-label": "Search notes",
    "aria-keyshortcuts": "/", autocomplete: "off", spellcheck: "false", dir: "auto" })
  const search = h("div", { class: "search", role: "search" }, icon("search"), input,
    h("kbd", { "aria-hidden": true }, "/"))

  /** @type {Scope} */
  let scope = { tag: null, archived: false }
  /** @type {string[]} */
  let ids = []
  /** @type {Map<string, number>} */
  let places = new Map()
  /** @type {Map<string, HTMLElement>} */
  const rows = new Map()
  let roving = "" // the row that Tab goes to
  let opened = ""
  let expected = "" // the row that gets the focus as soon as it is there
  let frame = 0
  let looking = 0
  let saying = 0

  const query = () => input.value.trim()
  const isMixed = () => Boolean(query()) && !scope.archived

  /**
   * Reads the order again. What is at the top stays there, unless the list is at its very top.
   * @param {Set<string> | null} told what changed; null: anything may have
   */
  const refresh = (told = null) => {
    const top = Math.floor(box.scrollTop / HEIGHT)
    const anchor = box.scrollTop > 0 ? ids[top] : ""
    ids = copy.notes({ query: query(), tag: scope.tag, archived: isMixed() ? null : scope.archived })
    places = new Map(ids.map((id, at) => [id, at]))
    run.style.height = `${ids.length * HEIGHT}px`
    nothing.hidden = ids.length > 0
    box.hidden = !nothing.hidden
    if (box.hidden) fill(nothing, empty(scope, query()))
    box.scrollTop += ((places.get(anchor) ?? top) - top) * HEIGHT
    if (!places.has(roving)) roving = places.has(opened) ? opened : ids[0] ?? ""
    for (const [id, row] of rows) {
      const note = places.has(id) && copy.note(id)
      if (note && told && ![id, ...note.tags, ...note.attachments].some(one => told.has(one))) continue
      if (note) fill(row, contentOf(copy, note, isMixed()))
      else drop(id, row)
    }
    draw()
  }

  /** @param {string} id @param {HTMLElement} row */
  const drop = (id, row) => {
    row.remove()
    rows.delete(id)
  }

  const draw = () => {
    frame = 0
    const first = box.scrollTop / HEIGHT
    const count = (box.clientHeight || innerHeight) / HEIGHT
    const wanted = new Set(ids.slice(Math.max(0, Math.floor(first) - beyond), Math.ceil(first + count) + beyond))
    // The row with the focus stays, wherever it is: an element that goes takes the focus with it.
    if (roving) wanted.add(roving)
    for (const [id, row] of rows) if (!wanted.has(id)) drop(id, row)
    for (const id of wanted) {
      const row = rows.get(id) ?? make(id)
      const at = places.get(id) ?? 0
      row.style.transform = `translateY(${at * HEIGHT}px)`
      row.ariaPosInSet = String(at + 1)
      row.ariaSetSize = String(ids.length)
      row.ariaSelected = String(id === opened)
      row.tabIndex = id === roving ? 0 : -1
    }
  }
  const drawSoon = () => { frame ||= requestAnimationFrame(draw) }

  /** @param {string} id */
  const make = id => {
    const note = copy.note(id)
    const content = note && contentOf(copy, note, isMixed())
    const row = h("div", { class: "note-row", role: "option", "data-note": id }, content)
    rows.set(id, row)
    run.append(row)
    return row
  }

  /** @param {string} id */
  const reveal = id => {
    const top = (places.get(id) ?? 0) * HEIGHT
    box.scrollTop = Math.min(top, Math.max(box.scrollTop, top + HEIGHT - box.clientHeight))
  }

  /** @param {string} [id] of the row that gets the focus */
  const focus = (id = opened || roving) => {
    // A note that was written just now comes in a moment.
    expected = places.has(id) ? "" : id
    setTimeout(() => { expected = "" }, 1_000)
    if (!expected) roving = id
    if (!ids.length) return input.focus()
    reveal(roving)
    draw()
    rows.get(roving)?.focus({ preventScroll: true })
  }

  box.addEventListener("scroll", drawSoon, { passive: true })
  new ResizeObserver(drawSoon).observe(box)
  box.addEventListener("keydown", event => {
    const id = idOf(event)
    if (!id || event.ctrlKey || event.metaKey || event.altKey) return
    const at = places.get(id) ?? 0
    const page = Math.max(1, Math.floor(box.clientHeight / HEIGHT) - 1)
    const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, PageDown: at + page, PageUp: at - page,
      Home: 0, End: ids.length }[event.key]
    if (to !== undefined) {
      focus(ids[Math.max(0, Math.min(ids.length - 1, to))])
      // A key that is held down goes by faster than notes are worth opening.
      clearTimeout(looking)
      looking = window.setTimeout(() => open(roving, "look"), 60)
    } else if (event.key === "Enter" && id === opened) open(id, "write")
    else if (event.key === "Enter" || event.key === " ") open(id, "go")
    else return
    event.preventDefault()
    event.stopPropagation()
  })
  for (const [kind, how] of /** @type {const} */ ([["click", "go"], ["dblclick", "write"]])) {
    box.addEventListener(kind, event => {
      const id = idOf(event)
      if (!id || move.isOn()) return
      focus(id)
      open(id, how)
    })
  }
  box.addEventListener("contextmenu", event => {
    const row = rows.get(idOf(event) ?? "")
    event.preventDefault()
    if (row && !move.isOn()) menu(row, row.dataset.note ?? "")
  })
  input.addEventListener("input", () => {
    box.scrollTop = 0
    refresh()
    clearTimeout(saying)
    saying = window.setTimeout(() => app.announce(ids.length ? plural(ids.length, "note") : "Nothing found"), 600)
  })
  input.addEventListener("keydown", event => {
    const { key } = event
    if (event.isComposing || !["Escape", "ArrowDown", "Enter"].includes(key)) return
    if (key === "Escape" && input.value) clear()
    else focus(key === "Escape" ? opened : ids[0])
    if (key !== "Escape" && ids.length) open(ids[0], key === "Enter" ? "go" : "look")
    event.preventDefault()
    event.stopPropagation()
  })
  const clear = () => {
    input.value = ""
    refresh()
  }
  const move = moving(app, box, () => ids)

  /** @type {Set<string> | null} */
  let changed = new Set()
  let waiting = 0
  const catchUp = () => {
    waiting = move.isOn() ? window.setTimeout(catchUp, 100) : 0
    if (waiting) return
    const told = changed
    changed = new Set()
    const focused = list.focused()
    refresh(told)
    if (places.has(expected)) focus(expected)
    else if (focused && !list.focused()) focus(focused)
  }
  copy.addEventListener("change", event => {
    const { ids: told } = /** @type {CustomEvent<{ids: Set<string> | null}>} */ (event).detail
    if (!told) changed = null
    else for (const id of told) changed?.add(id)
    // What changed together is looked at once. (Not in a frame: those that nobody sees have none.)
    waiting ||= window.setTimeout(catchUp)
  })

  const list = {
    parts: [search, box, nothing], focus, clear,
    /** @param {Scope} wanted */
    show: wanted => {
      if (wanted.tag !== scope.tag || wanted.archived !== scope.archived) input.value = roving = ""
      if (!roving) box.scrollTop = 0
      scope = wanted
      refresh()
    },
    /**
     * Marks the note that is open.
     * @param {string} id
     */
    select: id => {
      opened = id
      if (places.has(id)) reveal(roving = id)
      draw()
    },
    /**
     * The note in its place when this one goes.
     * @param {string} id
     */
    after: id => ids[(places.get(id) ?? -2) + 1] ?? ids[(places.get(id) ?? 0) - 1] ?? "",
    focused: () => document.activeElement?.getAttribute("data-note") ?? "",
    /** @param {string} id @param {number} by */
    shift: (id, by) => move.to(id, Math.max(0, (places.get(id) ?? 0) + by)),
    find: () => { input.focus(); input.select() },
  }
  return list
}
