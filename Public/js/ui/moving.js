// Reordering notes: a note's place is its sortDate. A mouse drags at once, a finger after it rested on the row.

import { h } from "./dom.js"

/** Of a row, in px; css/app.css says the same. */
export const HEIGHT = 88
const slop = 6 // px that a mouse moves before it drags
const rest = 380 // ms that a finger rests
const edge = 56 // px at the box's edges in which it scrolls

/** @param {Shell} app @param {HTMLElement} box @param {() => string[]} order the IDs as listed */
export const moving = ({ copy, announce, attempt, toast }, box, order) => {
  /**
   * Its new date lies between those of its new neighbours. Pinned notes are an order of their own.
   * @param {string} id @param {number} to without the note itself
   */
  const move = async (id, to) => {
    const note = copy.note(id)
    const others = order().filter(other => other !== id)
    const group = others.filter(other => copy.note(other)?.pinned === note?.pinned)
    const at = Math.max(0, Math.min(group.length, to - Math.max(0, others.indexOf(group[0]))))
    const dates = group.map(other => Date.parse(copy.note(other)?.sortDate ?? ""))
    const [above, below] = [dates[at - 1], dates[at]]
    const date = at === 0 ? Math.max(Date.now(), (below ?? 0) + 1000)
      : at === group.length ? above - 60_000 : below + Math.max(1, Math.floor((above - below) / 2))
    // Where there is no room (notes that came in together) those above make some, a millisecond each.
    for (let other = at - 1, least = date + 1; other >= 0 && dates[other] < least; other--, least++) {
      await copy.setSortDate(group[other], new Date(least).toISOString())
    }
    await copy.setSortDate(id, new Date(date).toISOString())
    announce(`Moved to ${order().indexOf(id) + 1} of ${order().length}`)
  }

  const mark = h("div", { class: "drop-mark" })
  /** @type {Drag | null} */
  let drag = null
  let timer = 0
  let ended = 0

  /** @param {PointerEvent} event */
  const begin = event => {
    if (!drag) return
    drag.isOn = true
    drag.row.classList.add("dragged")
    box.setPointerCapture(event.pointerId)
    box.firstElementChild?.append(mark)
    follow()
  }
  const end = () => {
    clearTimeout(timer)
    if (drag?.isOn) ended = Date.now()
    drag?.row.classList.remove("dragged")
    drag?.tag?.classList.remove("drop-here")
    if (drag) drag.row.style.transform = `translateY(${drag.at * HEIGHT}px)`
    mark.remove()
    drag = null
  }
  // Every frame, because the box may scroll under a pointer that rests.
  const follow = () => {
    if (!drag?.isOn) return
    const { top, bottom, left } = box.getBoundingClientRect()
    const over = Math.min(0, drag.y - top - edge) + Math.max(0, drag.y - bottom + edge)
    box.scrollTop += Math.max(-14, Math.min(14, over / 4))
    const y = drag.y - top + box.scrollTop
    drag.to = Math.max(0, Math.min(order().length, Math.round(y / HEIGHT)))
    mark.style.transform = `translateY(${drag.to * HEIGHT}px)`
    drag.row.style.transform = `translateY(${y - HEIGHT / 2}px)`
    const tag = drag.x < left ? document.elementFromPoint(drag.x, drag.y)?.closest("[data-tag]") : null
    if (tag !== drag.tag) drag.tag?.classList.remove("drop-here")
    tag?.classList.add("drop-here")
    drag.tag = tag
    mark.hidden = drag.x < left || drag.to === drag.at || drag.to === drag.at + 1
    requestAnimationFrame(follow)
  }

  box.addEventListener("pointerdown", event => {
    const row = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-note]"))
    const id = row?.dataset.note
    end()
    if (!row || !id || event.button !== 0 || !event.isPrimary) return
    const at = order().indexOf(id)
    drag = { id, row, x: event.clientX, y: event.clientY, at, to: at, isOn: false }
    if (event.pointerType !== "mouse") timer = window.setTimeout(begin, rest, event)
  })
  addEventListener("pointermove", event => {
    if (!drag || !event.isPrimary) return
    const isMouse = event.pointerType === "mouse"
    const isFar = Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > slop
    if (!drag.isOn && isFar) isMouse ? begin(event) : end() // a finger that does not rest scrolls
    if (drag?.isOn) [drag.x, drag.y] = [event.clientX, event.clientY]
  })
  addEventListener("pointerup", () => {
    const done = drag
    end()
    if (!done?.isOn) return
    const { id, at, to, tag } = done
    const name = tag?.getAttribute("data-tag")
    if (name) attempt(copy.addTag(id, name).then(() => toast(`Tagged ${copy.tag(name)?.name}`)))
    else if (to !== at && to !== at + 1) attempt(move(id, to > at ? to - 1 : to))
  })
  addEventListener("pointercancel", end)
  addEventListener("keydown", ({ key }) => { if (key === "Escape" && drag?.isOn) end() }, true)
  // Once a finger drags a row, it does not scroll the page.
  box.addEventListener("touchmove", event => { if (drag?.isOn) event.preventDefault() }, { passive: false })
  return {
    /** @param {string} id @param {number} to without the note itself */
    to: (id, to) => attempt(move(id, to)),
    // The click that a drag ends with is none.
    isOn: () => Boolean(drag?.isOn) || Date.now() - ended < 50,
  }
}
