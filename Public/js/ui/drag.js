// Dragging rows of the list: with a mouse at once, with a finger after a long press.

/** The movement after which a mouse drags, in px. */
const DRAG_DISTANCE = 6
/** The duration of the long press after which a finger drags, in ms. */
const DRAG_DELAY = 380
/** Dragging scrolls the list within this distance of its edges, in px. */
const SCROLL_EDGE = 56

export const within = (least, value, most) => Math.max(least, Math.min(most, value))

/** @type {RowDrag} */
export const rowDrag = ({box, mark}, {height, isAllowed, placeOf, count, place, move}) => {
  let drag = null
  let dragged = 0
  let resting = 0
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
    const here = (y - top + box.scrollTop) / height
    const to = within(0, Math.round(here), count())
    drag.to = to > at ? to - 1 : to
    mark.hidden = drag.to === at
    place(mark, to)
    place(row, here - 0.5)
    requestAnimationFrame(follow)
  }
  box.addEventListener("pointerdown", event => {
    const {clientX: x, clientY: y, pointerId, pointerType, button, isPrimary} = event
    const row = event.target.closest("[data-note]")
    end()
    if (!row || button || !isPrimary || event.ctrlKey || event.metaKey || event.shiftKey || !isAllowed()) return
    const at = placeOf(row)
    drag = {pointerId, row, x, y, at, to: at}
    if (pointerType !== "mouse") resting = setTimeout(begin, DRAG_DELAY)
  })
  addEventListener("pointermove", ({clientX, clientY, pointerType, isPrimary}) => {
    if (!drag || !isPrimary) return
    const isFar = Math.hypot(clientX - drag.x, clientY - drag.y) > DRAG_DISTANCE
    if (drag.isOn) drag.y = clientY
    else if (isFar) pointerType === "mouse" ? begin() : end()
  })
  addEventListener("pointerup", () => {
    const {isOn, row, at, to} = drag ?? {}
    end()
    if (isOn && to !== at) move(row, to)
  })
  addEventListener("pointercancel", end)
  addEventListener("keydown", ({key}) => { if (key === "Escape") end() }, true)
  box.addEventListener("touchmove", event => { if (drag?.isOn) event.preventDefault() }, {passive: false})
  // A drag ends with a click.
  return {isOn: () => Boolean(drag?.isOn), isRecent: () => drag?.isOn || Date.now() - dragged < 50}
}
