// Swiping a row of the list with a finger: to the right to pin it, to the left to archive or delete it. A short swipe shows the
// buttons, a long one presses the first of them.

/** The distance from which a movement is a swipe, in px. */
const BEGIN = 12
/** The distance from which the buttons stay visible, in px. */
const STAY = 40
/** The width of a button in px, as in app.css. */
const BUTTON = 76
/** The distance of a long swipe, as a fraction of the row's width. */
const LONG = 0.55
/** The width of the edges of the screen, in px. Swipes that begin there are those of the browser: back and forward. */
const EDGE = 20

/** @type {RowSwipe} */
export const rowSwipe = (box, {isAllowed, show}) => {
  /** @type {any} */
  let swipe = null
  /** Whether the click that follows belongs to a swipe: it opens no note. */
  let isUsed = false

  const move = (x, isAtRest = false) => {
    swipe.x = x
    swipe.row.classList.toggle("settling", isAtRest)
    swipe.row.style.translate = x ? `${x}px` : ""
    swipe.actions.element.dataset.side = x > 0 ? "start" : "end"
    swipe.actions.element.toggleAttribute("data-long", Math.abs(x) > swipe.width * LONG)
  }
  const close = () => {
    if (swipe?.actions) {
      move(0, true)
      swipe.actions.element.remove()
      swipe.row.classList.remove("swiped")
    }
    swipe = null
  }
  const begin = () => {
    isUsed = true
    swipe.actions = show(swipe.row)
    swipe.row.classList.add("swiped")
    swipe.row.setPointerCapture(swipe.pointerId)
  }
  box.addEventListener("pointerdown", (/** @type {any} */ event) => {
    const {target, pointerId, pointerType, isPrimary, clientX, clientY} = event
    if (target.closest(".swipe")) return
    const row = target.closest("[data-note]")
    isUsed = Boolean(swipe?.actions)
    close()
    if (isUsed || !row || pointerType !== "touch" || !isPrimary || !isAllowed()) return
    if (clientX < EDGE || clientX > innerWidth - EDGE) return
    swipe = {row, pointerId, startX: clientX, startY: clientY, x: 0, width: row.offsetWidth, actions: null, isHeld: true}
  })
  box.addEventListener("pointermove", event => {
    if (!swipe?.isHeld || event.pointerId !== swipe.pointerId) return
    const [x, y] = [event.clientX - swipe.startX, event.clientY - swipe.startY]
    if (!swipe.actions) {
      if (Math.hypot(x, y) < BEGIN) return
      if (Math.abs(x) < 1.5 * Math.abs(y) || swipe.row.matches(".dragged")) return void (swipe = null)
      begin()
    }
    move(x)
  })
  box.addEventListener("pointerup", event => {
    if (!swipe?.isHeld || event.pointerId !== swipe.pointerId) return
    swipe.isHeld = false
    if (!swipe.actions) return void (swipe = null)
    const {x, width, actions: {pin, archive}} = swipe
    if (Math.abs(x) > width * LONG) {
      const button = x > 0 ? pin : archive
      button.click()
      close()
    } else if (Math.abs(x) > STAY) move(x > 0 ? BUTTON : -2 * BUTTON, true)
    else close()
  })
  box.addEventListener("pointercancel", close)
  box.addEventListener("scroll", close)
  return {close, isRecent: () => isUsed}
}
