// The list of notes. Only the rows in view are elements.
import {announce, copyOf, fill, menu, tell, viewOf} from "./dom.js"

/** The height of a row in px, as in app.css. */
const HEIGHT = 88
/** Rows that are drawn above and below those in view. */
const OVERSCAN = 6
/** A mouse drags after so many px, a finger after so many ms. */
const DRAG_DISTANCE = 6
const DRAG_DELAY = 380
/** The maximum time for which notes are prepared for a search at once, in ms. */
const SEARCH_SLICE = 20
/** How near to the edge of the list dragging scrolls it, in px. */
const SCROLL_EDGE = 56

const rowOf = ({target}) => target.closest("[data-note]")
const place = (element, at) => { element.style.transform = `translateY(${at * HEIGHT}px)` }
const within = (least, value, most) => Math.max(least, Math.min(most, value))

/** Shows the first picture of a note: its preview, or else its bytes. */
const showPicture = async (copy, found, image) => {
  const bytes = found && !found.preview && await copy.bytes(found.uniqueID)
  image.hidden = !found?.preview && !bytes
  if (!image.hidden) image.src = bytes ? URL.createObjectURL(bytes) : `data:image/jpeg;base64,${found.preview}`
}

/** @type {ListPane} */
export const noteList = ({copy, engine, attempt}, {box, run, mark, nothing, input}, open) => {
  let scope = {tag: "", archived: false}
  let ids = []
  const rows = new Map()
  let roving = ""
  let opened = ""
  let expected = "" // gets the focus as soon as it is in the list
  let drawing = 0
  let looking = 0
  let saying = 0
  let searching = 0

  const query = () => input.value.trim()
  const isMixed = () => query() && !scope.archived

  const empty = () => {
    const which = {
      "nothing-found": query(), "nothing-archived": scope.archived, "nothing-tagged": scope.tag,
      "on-their-way": engine.status.toFetch.objects, blank: true,
    }
    return viewOf(Object.keys(which).find(name => which[name]) ?? "",
      {clear: clearSearch, isSome: scope.tag || scope.archived})
  }

  const refresh = () => {
    // The row at the top stays there.
    const top = Math.floor(box.scrollTop / HEIGHT)
    const anchor = box.scrollTop > 0 ? ids[top] : ""
    // The first search after a start prepares the notes in slices, and shows what it has found so far, so that typing is not delayed.
    const arePrepared = Boolean(query()) && !copy.prepareSearch(SEARCH_SLICE)
    if (arePrepared) searching ||= setTimeout(() => { searching = 0; refresh() })
    ids = copy.notes({query: query(), tag: scope.tag, archived: isMixed() ? null : scope.archived, arePrepared})
    run.style.height = `${ids.length * HEIGHT}px`
    fill(nothing, !ids.length && !arePrepared && empty())
    if (ids.includes(anchor)) box.scrollTop += (ids.indexOf(anchor) - top) * HEIGHT
    if (!ids.includes(roving)) roving = ids.includes(opened) ? opened : ids[0] ?? ""
    for (const [id, row] of rows) {
      const note = copy.note(id)
      if (note) updateRow(row, note)
    }
    draw()
  }

  const draw = () => {
    drawing = 0
    const first = Math.floor(box.scrollTop / HEIGHT)
    const count = Math.ceil((box.clientHeight || innerHeight) / HEIGHT) + 1
    const wanted = new Set(ids.slice(Math.max(0, first - OVERSCAN), first + count + OVERSCAN))
    if (roving) wanted.add(roving) // Removing its element would lose the focus.
    for (const [id, {element}] of rows) {
      if (wanted.has(id)) continue
      element.remove()
      rows.delete(id)
    }
    const drawn = []
    for (const id of wanted) {
      const {element} = rows.get(id) ?? make(id)
      const at = ids.indexOf(id)
      drawn.push({at, element})
      place(element, at)
      element.ariaPosInSet = at + 1
      element.ariaSetSize = ids.length
      element.ariaSelected = id === opened
      element.tabIndex = id === roving ? 0 : -1
    }
    arrange(drawn.sort((one, other) => one.at - other.at).map(({element}) => element))
  }
  /** Orders the elements as they are displayed, for screen readers. An element that is moved loses the focus, so the focused one stays. */
  const arrange = elements => {
    if (elements.every((element, at) => run.children[at] === element)) return
    const focus = Math.max(0, elements.indexOf(document.activeElement))
    run.prepend(...elements.slice(0, focus))
    elements[focus]?.after(...elements.slice(focus + 1), mark)
  }
  const drawSoon = () => { drawing ||= requestAnimationFrame(draw) }

  const make = id => {
    const row = copyOf("row", {id, image: {
      onload: () => URL.revokeObjectURL(row.image.src), onerror: () => { row.image.hidden = true },
    }})
    updateRow(row, copy.note(id))
    rows.set(id, row)
    run.append(row.element)
    return row
  }
  const updateRow = (/** @type {any} */ {words, image}, note) => {
    const {title, excerpt, sortDate, pinned, archived, tags, attachments} = note
    const names = tags.map(id => copy.tag(id)?.name)
    const picture = attachments.flatMap(id => copy.attachment(id) ?? [])
      .find(({mimeType, preview, isHere}) => mimeType.startsWith("image/") && (preview || isHere))
    const values = {title, excerpt, sortDate, pinned, isAway: archived && isMixed(), files: attachments.length}
    tell(words, [values, names, picture], () => {
      showPicture(copy, picture, image).catch(image.onerror)
      return viewOf("row-words", {...values, tags: names.map(name => viewOf("note-tag", {name}))})
    })
  }

  const reveal = () => rows.get(roving)?.element.scrollIntoView({block: "nearest"})
  const focus = (id = "") => {
    id ||= opened || roving
    expected = ids.includes(id) ? "" : id
    setTimeout(() => { expected = "" }, 1_000)
    if (!expected) roving = id
    if (!ids.length) return input.focus()
    draw()
    reveal()
    rows.get(roving)?.element.focus({preventScroll: true})
  }
  const focused = () => document.activeElement?.getAttribute("data-note") ?? ""

  box.onscroll = drawSoon
  new ResizeObserver(drawSoon).observe(box)
  box.onkeydown = event => {
    const {key} = event
    const id = rowOf(event)?.dataset.note
    if (!id || event.ctrlKey || event.metaKey || event.altKey) return
    const at = ids.indexOf(id)
    const page = Math.floor(box.clientHeight / HEIGHT) - 1
    const to = {ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, PageDown: at + page, PageUp: at - page,
      Home: 0, End: ids.length}[key]
    if (to !== undefined) {
      focus(ids[within(0, to, ids.length - 1)])
      clearTimeout(looking)
      looking = setTimeout(open, 60, roving, "look")
    } else if (key === "Enter" || key === " ") open(id, key === "Enter" && id === opened ? "write" : "go")
    else return
    event.preventDefault()
  }
  box.onclick = event => {
    const id = rowOf(event)?.dataset.note
    if (!id || isDragging()) return
    focus(id)
    open(id, event.detail > 1 ? "write" : "go")
  }
  box.oncontextmenu = event => {
    const row = rowOf(event)
    const note = copy.note(row?.dataset.note)
    event.preventDefault()
    if (note && !isDragging()) menu(row, "row-menu", note)
  }
  const clearSearch = () => {
    input.value = ""
    refresh()
  }
  input.oninput = () => {
    box.scrollTop = 0
    refresh()
    clearTimeout(saying)
    saying = setTimeout(() => announce("found", {count: ids.length}), 600)
  }
  input.onkeydown = event => {
    const {key} = event
    if (event.isComposing || !["Escape", "ArrowDown", "Enter"].includes(key)) return
    if (key === "Escape" && input.value) clearSearch()
    else focus(key === "Escape" ? opened : ids[0])
    if (key !== "Escape" && ids.length) open(ids[0], key === "Enter" ? "go" : "look")
    event.preventDefault()
  }

  let waiting = 0
  const catchUp = () => {
    waiting = drag?.isOn ? setTimeout(catchUp, 100) : 0
    if (waiting) return
    const before = focused()
    refresh()
    if (ids.includes(expected)) focus(expected)
    else if (before && !focused()) focus(before)
  }
  // Not in an animation frame: hidden tabs have none.
  copy.addEventListener("change", () => { waiting ||= setTimeout(catchUp) })

  /** Moves a note to another place, by its sort date. */
  const move = async (id, to) => {
    const dateOf = other => Date.parse(copy.note(other)?.sortDate ?? "")
    const setDate = (other, date) => copy.setSortDate(other, new Date(date).toISOString())
    const others = ids.filter(other => other !== id)
    const group = others.filter(other => copy.note(other)?.pinned === copy.note(id)?.pinned)
    const at = within(0, to - others.indexOf(group[0]), group.length)
    const above = dateOf(group[at - 1])
    const below = dateOf(group[at]) || (above || 0) - 120_000
    const date = at ? below + Math.max(1, Math.floor((above - below) / 2)) : Math.max(Date.now(), below + 1000)
    // If there is no free moment between the dates of the neighbours, the notes above get later ones.
    for (let other = at - 1, least = date + 1; other >= 0 && dateOf(group[other]) < least; other--, least++) {
      await setDate(group[other], least)
    }
    await setDate(id, date)
    announce("moved", {place: ids.indexOf(id) + 1, count: ids.length})
  }

  let drag = null
  let dragged = 0
  let resting = 0
  const isDragging = () => drag?.isOn || Date.now() - dragged < 50 // A drag ends with a click.
  const begin = () => {
    drag.isOn = true
    drag.row.classList.add("dragged")
    box.setPointerCapture(drag.pointerId)
    follow()
  }
  const end = () => {
    clearTimeout(resting)
    if (drag?.isOn) {
      dragged = Date.now()
      drag.row.classList.remove("dragged")
      place(drag.row, drag.at)
      mark.hidden = true
    }
    drag = null
  }
  const follow = () => {
    if (!drag) return
    const {y, at, row} = drag
    const {top, bottom} = box.getBoundingClientRect()
    const over = Math.min(0, y - top - SCROLL_EDGE) + Math.max(0, y - bottom + SCROLL_EDGE)
    box.scrollTop += within(-14, over / 4, 14)
    const here = (y - top + box.scrollTop) / HEIGHT
    const to = within(0, Math.round(here), ids.length)
    drag.to = to > at ? to - 1 : to
    mark.hidden = drag.to === at
    place(mark, to)
    place(row, here - 0.5)
    requestAnimationFrame(follow)
  }
  box.onpointerdown = event => {
    const {clientX: x, clientY: y, pointerId, pointerType, button, isPrimary} = event
    const row = rowOf(event)
    end()
    if (!row || button || !isPrimary) return
    const at = ids.indexOf(row.dataset.note)
    drag = {pointerId, row, x, y, at, to: at}
    if (pointerType !== "mouse") resting = setTimeout(begin, DRAG_DELAY)
  }
  addEventListener("pointermove", ({clientX, clientY, pointerType, isPrimary}) => {
    if (!drag || !isPrimary) return
    const isFar = Math.hypot(clientX - drag.x, clientY - drag.y) > DRAG_DISTANCE
    if (drag.isOn) drag.y = clientY
    else if (isFar) pointerType === "mouse" ? begin() : end()
  })
  addEventListener("pointerup", () => {
    const {isOn, row, at, to} = drag ?? {}
    end()
    if (isOn && to !== at) attempt(move(row.dataset.note, to))
  })
  addEventListener("pointercancel", end)
  addEventListener("keydown", ({key}) => { if (key === "Escape") end() }, true)
  box.addEventListener("touchmove", event => { if (drag?.isOn) event.preventDefault() }, {passive: false})

  return {
    focus, focused,
    show: ({tag, archived}) => {
      if (tag !== scope.tag || archived !== scope.archived) {
        if (tag || archived) input.value = "" // to all notes, the search goes on
        roving = ""
        box.scrollTop = 0
      }
      scope = {tag, archived}
      refresh()
    },
    select: id => {
      opened = id
      if (ids.includes(id)) roving = id
      draw()
      if (id === roving) reveal()
    },
    after: id => ids[ids.indexOf(id) + 1] ?? ids[ids.indexOf(id) - 1] ?? "",
    shift: (id, by) => attempt(move(id, Math.max(0, ids.indexOf(id) + by))),
  }
}
