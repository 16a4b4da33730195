// The text of a note in a text area: for texts that are too long to be styled while they are written, and for people who prefer it.

/** @type {SurfaceOf} */
export const plainSurface = (element, on) => {
  const area = /** @type {HTMLTextAreaElement} */ (element)
  let isComposing = false

  /** Fits the height to the text, in browsers that do not do it themselves. */
  const fit = () => {
    const view = area.closest(".editor-scroll")
    if (!view || CSS.supports("field-sizing", "content")) return
    const top = view.scrollTop
    area.style.height = "auto"
    area.style.height = `${area.scrollHeight}px`
    view.scrollTop = top
  }
  element.onbeforeinput = event => {
    const move = {historyUndo: "undo", historyRedo: "redo"}[event.inputType]
    if (move) {
      event.preventDefault()
      on.move(move)
    } else if (/^insert(Paragraph|LineBreak)$/.test(event.inputType) && !isComposing) {
      event.preventDefault()
      on.enter()
    }
  }
  area.oninput = event => {
    isComposing = /** @type {InputEvent} */ (event).isComposing
    fit()
    on.typed(area.value)
  }
  area.addEventListener("compositionstart", () => { isComposing = true })
  area.addEventListener("compositionend", () => {
    isComposing = false
    on.composed()
  })
  return {
    element,
    show: (text, selection) => {
      const {selectionStart, selectionEnd} = area
      if (area.value !== text) area.value = text
      area.setSelectionRange(Math.min(...selection ?? [selectionStart]), Math.max(...selection ?? [selectionEnd]))
      fit()
    },
    selected: () => [area.selectionStart, area.selectionEnd],
    select: (start, end = start) => area.setSelectionRange(Math.min(start, end), Math.max(start, end)),
    rangeOf: () => null,
    placeAt: () => area.selectionEnd,
    refresh: () => {},
    reveal: () => {},
    boxOf: () => area.getBoundingClientRect(),
    isComposing: () => isComposing,
    focus: () => area.focus({preventScroll: true}),
  }
}
