/* Reads the text and the selection of the open note. The editor is a text area, or an editable element with one element for each
 * line. Places are in UTF-16 code units.
 *
 * An expression: its value is an object with the properties below.
 */
(() => {
  const element = [...document.querySelectorAll(".text:is(textarea, [contenteditable])")].find(one => one.checkVisibility())
  const isOpen = Boolean(element)
  const isArea = isOpen && "value" in element
  const lines = () => [...element.children]

  /** The place of a position in the document, which is in a line or between two lines. */
  const placeOf = (node, offset) => {
    const index = node === element ? offset : lines().findIndex(line => line.contains(node))
    const before = lines().slice(0, index).reduce((sum, line) => sum + line.textContent.length + 1, 0)
    if (node === element) return Math.min(before, lines().reduce((sum, line) => sum + line.textContent.length + 1, -1))
    const range = document.createRange()
    range.setStart(lines()[index], 0)
    range.setEnd(node, offset)
    return before + range.toString().length
  }
  /** The position in the document of a place: a node and an offset in it. */
  const positionOf = place => {
    let rest = place
    for (const line of lines()) {
      if (rest > line.textContent.length) {
        rest -= line.textContent.length + 1
        continue
      }
      const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT)
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        if (rest <= text.length) return [text, rest]
        rest -= text.length
      }
      return [line, 0]
    }
    return [element, element.childNodes.length]
  }

  return {
    /** The text as it is shown; null without an open note. */
    get text() {
      if (isArea) return element.value
      return isOpen ? lines().map(line => line.textContent).join("\n") : null
    },
    /** Whether the text in the editor is in the copy on disk. */
    isSaved(copy) {
      return !isOpen || !this.text || copy.note(location.hash.split("/")[2]?.split("?")[0])?.text === this.text
    },
    get selection() {
      if (isArea) return [element.selectionStart, element.selectionEnd]
      const { anchorNode, anchorOffset, focusNode, focusOffset } = getSelection()
      if (!isOpen || !element.contains(anchorNode)) return [0, 0]
      return [placeOf(anchorNode, anchorOffset), placeOf(focusNode, focusOffset)].sort((a, b) => a - b)
    },
    select(start, end = start) {
      if (isArea) element.setSelectionRange(start, end)
      else getSelection().setBaseAndExtent(...positionOf(start), ...positionOf(end))
    },
  }
})()
