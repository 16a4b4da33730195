// The list of notes. Only the rows in view are elements.
import {matchesOf, queryOf} from "../model/search.js"
import {excerptOf} from "../model/text.js"
import {announce, copyOf, fill, menu, tell, toast, viewOf} from "./dom.js"
import {rowDrag, within} from "./drag.js"
import {rowSelection} from "./selection.js"
import {rowSwipe} from "./swipe.js"

/** The height of a row in px, as in app.css. */
const HEIGHT = 88
/** Rows that are drawn above and below those in view. */
const OVERSCAN = 6
/** The maximum time for which notes are prepared for a search at once, in ms. */
const SEARCH_SLICE = 20
const ORDERS = ["edited", "created", "title", "hand"]

const rowOf = ({target}) => target.closest("[data-note]")
const place = (element, at) => { element.style.transform = `translateY(${at * HEIGHT}px)` }

/** A text in which the matches of a query are marked. */
const marked = (query, text) => {
  let last = 0
  const pieces = matchesOf(query, text).map(([start, end]) => {
    const before = text.slice(last, start)
    last = end
    return [before, viewOf("match", {text: text.slice(start, end)})]
  })
  return [pieces, text.slice(last)]
}

/** Shows the first picture of a note: its preview, or else its bytes. */
const showPicture = async (copy, found, image) => {
  const bytes = found && !found.preview && await copy.bytes(found.uniqueID)
  image.hidden = !found?.preview && !bytes
  if (!image.hidden) image.src = bytes ? URL.createObjectURL(bytes) : `data:image/jpeg;base64,${found.preview}`
}

/** @type {ListPane} */
export const noteList = (app, parts, open) => {
  const {copy, engine, attempt} = app
  const {box, run, mark, nothing, input, sort} = parts
  let scope = {tag: "", archived: false}
  let order = /** @type {ListOrder} */ (ORDERS.find(name => name === localStorage.order) ?? "edited")
  let ids = []
  const rows = new Map()
  let roving = ""
  let opened = ""
  let expected = "" // gets the focus as soon as it is in the list
  let expecting = 0
  let drawing = 0
  let looking = 0
  let saying = 0
  let searching = 0
  let isLoaded = false

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
    // The notes that are loaded first are the first ones only in the default order.
    const isKnown = isLoaded || order === "edited" && !scope.archived
    ids = isKnown ? copy.notes({query: query(), tag: scope.tag, archived: isMixed() ? null : scope.archived, order, arePrepared}) : []
    run.style.height = `${ids.length * HEIGHT}px`
    fill(nothing, !ids.length && !arePrepared && isLoaded && empty())
    if (ids.includes(anchor)) box.scrollTop += (ids.indexOf(anchor) - top) * HEIGHT
    if (!ids.includes(roving)) roving = ids.includes(opened) ? opened : ids[0] ?? ""
    for (const [id, row] of rows) {
      const note = copy.note(id)
      if (note) updateRow(row, note)
    }
    selection.follow()
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
      if (element.matches(".swiped")) swipe.close()
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
      element.ariaSelected = selection.isOn() ? selection.has(id) : id === opened
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
    const {title, text, creationDate, edited, pinned, archived, tags, attachments} = note
    const names = tags.map(id => copy.tag(id)?.name)
    const picture = attachments.flatMap(id => copy.attachment(id) ?? [])
      .find(({mimeType, preview, isHere}) => mimeType.startsWith("image/") && (preview || isHere))
    const wanted = query() && queryOf(query())
    const excerpt = wanted ? excerptOf(text, line => matchesOf(wanted, line)) : note.excerpt
    const date = order === "created" ? creationDate : edited
    const values = {title, excerpt, date, pinned, isAway: archived && isMixed(), files: attachments.length}
    const show = words => wanted ? marked(wanted, words) : words
    tell(words, [values, names, picture, query()], () => {
      showPicture(copy, picture, image).catch(image.onerror)
      return viewOf("row-words", {
        ...values, name: show(title), body: show(excerpt), tags: names.map(name => viewOf("note-tag", {name: show(name ?? "")}))})
    })
  }

  const reveal = () => rows.get(roving)?.element.scrollIntoView({block: "nearest"})
  const focus = (id = "") => {
    id ||= opened || roving
    expected = ids.includes(id) ? "" : id
    clearTimeout(expecting)
    expecting = setTimeout(() => { expected = "" }, 1_000)
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
    const {key, shiftKey} = event
    const isMod = event.ctrlKey || event.metaKey
    const id = rowOf(event)?.dataset.note
    if (!id || event.altKey || isMod && !/^[a ]$/i.test(key)) return
    const at = ids.indexOf(id)
    const page = Math.floor(box.clientHeight / HEIGHT) - 1
    const to = {ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, PageDown: at + page, PageUp: at - page,
      Home: 0, End: ids.length}[key]
    if (isMod && key !== " ") selection.all()
    else if (key === " " && (isMod || selection.isOn())) selection.toggle(id)
    else if (isMod || key === "Escape" && !selection.end()) return
    else if (to !== undefined) {
      const next = ids[within(0, to, ids.length - 1)]
      if (shiftKey) selection.extend(next, id)
      focus(next)
      clearTimeout(looking)
      if (!selection.isOn()) looking = setTimeout(open, 60, roving, "look")
    } else if (key === "Enter" || key === " ") {
      selection.end()
      open(id, key === "Enter" && id === opened ? "write" : "go")
    } else if (key !== "Escape") return
    event.preventDefault()
  }
  box.onclick = event => {
    const id = rowOf(event)?.dataset.note
    if (!id || drag.isRecent() || swipe.isRecent()) return
    const first = ids.includes(opened) ? opened : ""
    const isTouch = event.pointerType && event.pointerType !== "mouse"
    if (event.shiftKey) selection.extend(id, first || roving)
    else if (event.ctrlKey || event.metaKey) selection.toggle(id, first)
    else if (selection.isPicking() || isTouch && selection.isOn()) selection.toggle(id)
    else {
      selection.end()
      focus(id)
      return open(id, event.detail > 1 ? "write" : "go")
    }
    focus(id)
  }
  box.oncontextmenu = event => {
    const row = rowOf(event)
    const note = copy.note(row?.dataset.note)
    event.preventDefault()
    if (!note || drag.isRecent()) return
    swipe.close()
    if (selection.isOn() && !selection.has(note.uniqueID)) selection.end()
    menu(row, "row-menu", {...note, select: () => selection.pick(note.uniqueID)})
  }
  const setOrder = name => {
    order = localStorage.order = name
    box.scrollTop = 0
    refresh()
  }
  const orderEntry = name => ({ariaChecked: String(name === order), onclick: () => setOrder(name)})
  sort.onclick = () => menu(sort, "sort-menu",
    {...Object.fromEntries(ORDERS.map(name => [name, orderEntry(name)])), select: () => selection.pick("")})

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
    waiting = drag.isOn() ? setTimeout(catchUp, 100) : 0
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

  const selection = rowSelection(app, parts, () => ids, () => drawSoon())
  const drag = rowDrag(parts, {
    height: HEIGHT, place, count: () => ids.length, isAllowed: () => order === "hand" && !selection.isOn(),
    placeOf: row => ids.indexOf(row.dataset.note), move: (row, to) => attempt(move(row.dataset.note, to)),
  })
  const swipe = rowSwipe(box, {isAllowed: () => !selection.isOn() && !drag.isOn(), show: row => {
    const id = row.dataset.note ?? ""
    const actions = copyOf("swipe", copy.note(id))
    // The buttons are shortcuts for the row that has the focus.
    actions.element.addEventListener("click", () => focus(id), true)
    actions.element.onclick = () => setTimeout(swipe.close)
    place(actions.element, ids.indexOf(id))
    run.append(actions.element)
    return actions
  }})
  copy.loaded.then(() => {
    isLoaded = true
    refresh()
  })

  return {
    focus, focused,
    show: ({tag, archived}) => {
      if (tag !== scope.tag || archived !== scope.archived) {
        selection.end()
        if (tag || archived) input.value = "" // in all notes, a search continues
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
    shift: (id, by) => {
      if (order === "hand") return attempt(move(id, Math.max(0, ids.indexOf(id) + by)))
      toast("not-by-hand", {}, () => setOrder("hand"))
    },
    selected: () => selection.ids(),
    endSelection: () => selection.end(),
  }
}
