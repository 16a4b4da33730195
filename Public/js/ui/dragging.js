// Reordering by hand: rows of one height in a box that scrolls. A mouse drags at once, a finger after it rested on the row for a moment.

import { h } from "./dom.js"

const slop = 6 // px that a mouse moves before it drags
const rest = 380 // ms that a finger rests
const edge = 56 // px at the box's edges in which it scrolls

/**
 * @param {HTMLElement} box @param {number} height of a row in px
 * @param {{at: (id: string) => number, count: () => number, drop: (id: string, to: number) => void, tag: (id: string, tag: string) => void}} list
 *   `drop`: `to` counts without the row itself; `tag`: dropped on a tag at the side
 */
export const dragging = (box, height, list) => {
  const mark = h("div", { class: "drop-mark" })
  /** @type {{id: string, row: HTMLElement, x: number, y: number, at: number, to: number, pointer: number, timer: number, isOn: boolean, tag: Element | null} | null} */
  let drag = null
  let frame = 0
  let ended = 0

  const begin = () => {
    if (!drag) return
    drag.isOn = true
    drag.row.classList.add("dragged")
    box.setPointerCapture(drag.pointer)
    box.firstElementChild?.append(mark)
    navigator.vibrate?.(8)
    tick()
  }
  const end = () => {
    if (!drag) return
    clearTimeout(drag.timer)
    cancelAnimationFrame(frame)
    mark.remove()
    drag.row.classList.remove("dragged")
    drag.row.style.transform = `translateY(${drag.at * height}px)`
    drag.tag?.classList.remove("drop-here")
    if (drag.isOn) ended = Date.now()
    drag = null
  }
  /** Every frame, because the box may scroll under a pointer that rests. */
  const tick = () => {
    if (!drag?.isOn) return
    const area = box.getBoundingClientRect()
    const over = drag.y < area.top + edge ? drag.y - area.top - edge : drag.y > area.bottom - edge ? drag.y - area.bottom + edge : 0
    box.scrollTop += Math.max(-14, Math.min(14, over / 4))
    const y = drag.y - area.top + box.scrollTop
    drag.to = Math.max(0, Math.min(list.count(), Math.round(y / height)))
    mark.style.transform = `translateY(${drag.to * height}px)`
    drag.row.style.transform = `translateY(${y - height / 2}px)`
    const tag = drag.x < area.left ? document.elementFromPoint(drag.x, drag.y)?.closest("[data-drop-tag]") ?? null : null
    if (tag !== drag.tag) drag.tag?.classList.remove("drop-here")
    tag?.classList.add("drop-here")
    drag.tag = tag
    mark.hidden = drag.x < area.left || drag.to === drag.at || drag.to === drag.at + 1
    frame = requestAnimationFrame(tick)
  }

  box.addEventListener("pointerdown", event => {
    const row = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-note]"))
    const id = row?.getAttribute("data-note")
    end()
    if (!row || !id || event.button !== 0 || !event.isPrimary) return
    const timer = event.pointerType === "mouse" ? 0 : window.setTimeout(begin, rest)
    drag = { id, row, x: event.clientX, y: event.clientY, at: list.at(id), to: list.at(id), pointer: event.pointerId, timer, isOn: false, tag: null }
  })
  addEventListener("pointermove", event => {
    if (!drag || event.pointerId !== drag.pointer) return
    const isFar = Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > slop
    if (drag.isOn || event.pointerType === "mouse" && isFar) { drag.x = event.clientX; drag.y = event.clientY }
    if (drag.isOn || !isFar) return
    if (event.pointerType === "mouse") begin()
    else end() // the finger scrolls
  })
  addEventListener("pointerup", () => {
    if (!drag) return
    const { id, at, to, isOn, tag } = drag
    const dropped = tag?.getAttribute("data-drop-tag")
    end()
    if (!isOn) return
    if (dropped) list.tag(id, dropped)
    else if (to !== at && to !== at + 1) list.drop(id, to > at ? to - 1 : to)
  })
  addEventListener("pointercancel", end)
  addEventListener("keydown", event => { if (event.key === "Escape" && drag?.isOn) { end(); event.stopPropagation() } }, true)
  // Once a finger drags a row, it does not scroll the page.
  box.addEventListener("touchmove", event => { if (drag?.isOn) event.preventDefault() }, { passive: false })
  return { isDragging: () => Boolean(drag?.isOn) || Date.now() - ended < 50 }
}
