// One note: its text to read, and the same text to write; around it what belongs to the note.

import { moveCaret, splice } from "../model/text.js"
import { attachments } from "./attachments.js"
import { fill, h, icon, iconButton, longDate, set } from "./dom.js"
import { notices } from "./history.js"
import { Saving } from "./saving.js"
import { tagField } from "./tags.js"
import { placeAt, textView } from "./text-view.js"
import { copyText, menu } from "./widgets.js"

const typingShows = 6_000 // ms that "editing on …" stays after the last sign of it

/**
 * Where the caret was in each note.
 * @type {Map<string, number>}
 */
const carets = new Map()

/**
 * @param {Shell} app @param {string} id of a note, or of a new one, made when something is written
 * @param {{tags: string[], commands: Commands}} options `tags`: of a note that is made
 * @returns {Editor}
 */
export const editor = (app, id, { tags, commands }) => {
  const { copy, engine } = app
  const listening = new AbortController()
  const { signal } = listening
  let last = copy.note(id)
  let hasTyped = false
  let typing = 0

  const area = h("textarea", { class: "text", dir: "auto", "aria-label": "Text of the note", hidden: true,
    placeholder: "Write. It is kept as you type." })
  const reading = h("div", { class: "text reading", dir: "auto", tabindex: 0, role: "group",
    "aria-label": "Note. Press Enter to write." })
  const heading = h("h1", { class: "visually-hidden" })
  const line = h("span", { class: "editor-line muted small", role: "status" })
  const pencil = iconButton("pencil", "Write", { onclick: () => area.hidden ? write() : read() })
  const pin = iconButton("pin", "Pin", { "aria-pressed": false, onclick: () => commands.pin(id) })
  const archive = iconButton("archive", "Archive", { onclick: () => commands.archive(id) })
  const more = iconButton("more", "More", { "aria-haspopup": "menu", "aria-expanded": false, onclick: () => menu(more, [
    { label: "History", icon: "history", act: () => app.go(`#/history/${id}`) },
    { label: "Copy text", icon: "copy", act: () => copyText(text()) },
    { label: "Delete", icon: "trash", looks: "danger", hint: "Del", act: () => commands.remove(id) },
  ]) })
  const files = h("input", { type: "file", multiple: true, hidden: true, "aria-label": "Files", onchange: () => {
    take(files.files ?? [])
    files.value = ""
  } })
  const [said, held] = [notices(app, id), attachments(app, id)]
  const field = tagField(app, () => copy.note(id)?.tags ?? tags, () => saving.ensure().then(() => id))
  const foot = h("p", { class: "muted small editor-foot" })
  const measure = h("div", { class: "measure" }, said.element, reading, area, held.element, field.element,
    foot)
  const scroll = h("div", { class: "editor-scroll" }, measure)
  const element = h("article", { class: "editor", "aria-label": "Note" }, heading,
    h("header", { class: "editor-head" },
      iconButton("back", "Back to the list", { class: "to-list", onclick: app.back }), line, pencil,
      iconButton("attach", "Add pictures or files", { onclick: () => files.click() }), files, pin, archive, more), scroll)

  /** @returns {string} */
  const text = () => area.hidden ? copy.note(id)?.text ?? saving.base.value : area.value
  const saving = new Saving(copy, id, {
    tags, read: text, settled: () => meet("here"), failed: error => error.slug === "gone" ? vanish() : app.fail(error),
  })

  /** Shows the text to read. */
  const read = () => {
    if (area.hidden) return
    carets.set(id, area.selectionStart)
    const hadFocus = document.activeElement === area
    saving.commit()
    showText()
    reading.hidden = false
    if (hadFocus) reading.focus({ preventScroll: true })
    area.hidden = true
    set(pencil, "aria-label", "Write")
  }

  /** Has the text written in, from this place on. */
  const write = (place = carets.get(id) ?? text().length) => {
    if (area.hidden) {
      area.value = text()
      area.hidden = false
      fit()
      area.setSelectionRange(place, place)
      reading.hidden = true
      set(pencil, "aria-label", "Done")
    }
    area.focus({ preventScroll: true })
    engine.opened(id)
  }

  /** Browsers without `field-sizing` have to be told how high the text is. */
  const fit = () => {
    if (CSS.supports("field-sizing", "content")) return
    const top = scroll.scrollTop
    area.style.height = "auto"
    area.style.height = `${area.scrollHeight}px`
    scroll.scrollTop = top
  }

  const showText = () => {
    const nothing = h("span", { class: "muted" }, "Nothing written yet. Click, or press Enter.")
    fill(reading, text() ? textView(text(), copy.note(id)?.title ?? "") : nothing)
  }

  /**
   * Takes over what came from elsewhere: caret, selection and what is in view stay where they are.
   * @param {string} source
   */
  const meet = source => {
    const words = saving.meet(source)
    if (words === null || area.hidden) return
    const { value, selectionStart, selectionEnd, scrollHeight } = area
    const { start, end, text: inserted } = splice(value, words)
    area.setRangeText(inserted, start, end)
    area.setSelectionRange(moveCaret(selectionStart, value, words), moveCaret(selectionEnd, value, words))
    fit()
    if (end <= selectionStart) scroll.scrollTop += area.scrollHeight - scrollHeight
    if (words !== saving.base.value) saving.typed()
  }

  /** The note was deleted on another device: what was written here goes into a new note. */
  const vanish = async () => {
    const words = text()
    listening.abort()
    saving.base = { clock: null, value: words }
    if (!last || !hasTyped || !words.trim()) return app.gone(id)
    const known = copy.notices().find(notice => notice.kind === "rescued" && notice.uniqueID === id)
    const into = known && copy.note(known.into)
    if (into && into.text !== words) await copy.write(into.uniqueID, words, { clock: into.textClock, value: into.text })
    app.go(`#/note/${into?.uniqueID ?? await copy.rescue(last, words)}`, { replace: true, write: true })
    app.toast("This note was deleted on another device. What you wrote is kept in this new note.", { seconds: 12 })
  }

  /** @param {Iterable<File>} chosen pasted or dropped; the note is made first if it is a new one */
  const take = chosen => {
    const kept = [...chosen]
    if (kept.length) app.attempt(saving.ensure().then(() => held.take?.(kept)))
  }

  /** All that is not text being written, as it stands in the copy. */
  const update = () => {
    const note = copy.note(id)
    last = note ?? last
    if (area.hidden) showText()
    const title = note?.title || "New note"
    if (heading.textContent !== title) fill(heading, title)
    field.update()
    set(pin, "aria-pressed", Boolean(note?.pinned))
    const label = note?.archived ? "Back from the archive" : "Archive"
    set(archive, "aria-label", label)
    set(archive, "title", label)
    pin.classList.toggle("on", Boolean(note?.pinned))
    archive.classList.toggle("on", Boolean(note?.archived))
    for (const control of [pin, archive, more]) control.disabled = !note
    fill(foot, note && `Written ${longDate(note.creationDate)}`)
    if (!typing) fill(line, note?.archived && "In the archive")
  }

  engine.addEventListener("typing", event => {
    const { uniqueID, device } = /** @type {CustomEvent} */ (event).detail
    if (uniqueID !== id) return
    clearTimeout(typing)
    fill(line, h("span", { class: "typing" }, icon("pencil"), `editing on ${device.name}`))
    typing = window.setTimeout(() => { typing = 0; update() }, typingShows)
  }, { signal })
  copy.addEventListener("change", event => {
    const { ids, source } = /** @type {CustomEvent} */ (event).detail
    const note = copy.note(id)
    if (ids && !ids.has(id) && !note?.tags.some(tag => ids.has(tag))) return
    if (last && !note) return void (source === "sync" ? app.attempt(vanish()) : app.gone(id))
    meet(source)
    update()
  }, { signal })

  area.addEventListener("input", () => {
    hasTyped = true
    fit()
    saving.typed()
    engine.typing(id)
  })
  area.addEventListener("compositionstart", () => { saving.isComposing = true })
  area.addEventListener("compositionend", () => { saving.isComposing = false; saving.typed() })
  area.addEventListener("keydown", event => {
    const isDone = event.key === "Escape" || event.key === "Enter" && (event.metaKey || event.ctrlKey)
    if (event.isComposing || !isDone) return
    event.preventDefault()
    event.stopPropagation()
    read()
  })
  // Leaving for another window is no leaving: the element stays the active one.
  area.addEventListener("blur", () => setTimeout(() => { if (document.activeElement !== area) read() }))
  reading.addEventListener("keydown", event => {
    const isText = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey
    if (event.target !== reading || event.isComposing || !isText && event.key !== "Enter") return
    if (!isText) event.preventDefault()
    event.stopPropagation()
    write()
  })
  scroll.addEventListener("click", event => {
    const at = /** @type {Element} */ (event.target)
    const isText = reading.contains(at)
    if (at.closest("a") || String(getSelection()) || !isText && at !== scroll && at !== measure) return
    const { length } = text()
    write(isText ? Math.min(placeAt(reading, event.clientX, event.clientY) ?? length, length) : length)
  })
  element.addEventListener("paste", event => {
    const data = event.clipboardData
    // Word processors put a picture of the words beside them.
    if (!data?.files.length || data.types.includes("text/plain")) return
    event.preventDefault()
    take(data.files)
  })
  for (const name of /** @type {const} */ (["dragover", "drop", "dragleave"])) {
    element.addEventListener(name, event => {
      element.classList.toggle("dropping", name === "dragover")
      if (name === "dragleave" || !event.dataTransfer?.types.includes("Files")) return
      event.preventDefault()
      if (name === "drop") take(event.dataTransfer.files)
    })
  }
  document.addEventListener("visibilitychange", () => { if (document.hidden) saving.keep() }, { signal })
  addEventListener("pagehide", () => saving.keep(), { signal })

  engine.opened(last ? id : null)
  update()
  return {
    element, write, isWriting: () => !area.hidden, focus: () => reading.focus({ preventScroll: true }),
    stop: () => {
      if (!area.hidden) carets.set(id, area.selectionStart)
      saving.commit()
      listening.abort()
      engine.opened(null)
      said.stop?.()
      held.stop?.()
    },
  }
}
