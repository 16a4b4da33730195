// One note: its text to read, and the same text to write; around it what belongs to the note.

import { moveCaret, splice } from "../model/difference.js"
import { fill, h, icon, iconButton, longDate, set } from "./dom.js"
import { Saving } from "./saving.js"
import { tagField } from "./tag-field.js"
import { placeAt, textView } from "./text-view.js"
import { parts } from "./views.js"
import { menu } from "./widgets.js"

const typingShows = 6_000 // ms that "editing on …" stays after the last sign of it

/**
 * Where the caret was in each note.
 * @type {Map<string, number>}
 */
const carets = new Map()

/**
 * @param {import("./shell.js").App} app @param {string} id of a note, or a new one that is made when something is written
 * @param {{tags: string[], commands: import("./commands.js").Commands}} options `tags`: of a note that is made
 * @returns {import("./shell.js").View & {write: () => void, isWriting: () => boolean}}
 */
export const editor = (app, id, { tags, commands }) => {
  const { copy, engine } = app
  const listening = new AbortController()
  const { signal } = listening
  let last = copy.note(id)
  let hasTyped = false

  const area = h("textarea", { class: "text", dir: "auto", "aria-label": "Text of the note", spellcheck: "true", autocapitalize: "sentences",
    placeholder: "Write. It is kept as you type.", hidden: true })
  const reading = h("div", { class: "text reading", dir: "auto", tabindex: 0, role: "group", "aria-label": "Note. Press Enter to write." })
  const line = h("span", { class: "editor-line muted small", "aria-live": "polite" })
  const pencil = iconButton("pencil", "Write", { onclick: () => area.hidden ? write() : read() })
  const pin = iconButton("pin", "Pin", { onclick: () => commands.pin(id), "aria-pressed": false })
  const archive = iconButton("archive", "Archive", { onclick: () => commands.archive(id) })
  const more = iconButton("more", "More", { "aria-haspopup": "menu", "aria-expanded": false, onclick: () => menu(more, [
    { label: "History", icon: "history", act: () => app.go(`#/history/${id}`) },
    { label: "Copy text", icon: "copy", act: () => app.attempt(navigator.clipboard.writeText(text()).then(() => app.toast("Copied"))) },
    { label: "Delete", icon: "trash", looks: "danger", hint: "Del", act: () => commands.remove(id) },
  ]) })
  const notices = parts.notices?.(app, id)
  const attachments = parts.attachments?.(app, id)
  const files = h("input", { type: "file", multiple: true, hidden: true, "aria-label": "Files", onchange: () => {
    take([...files.files ?? []])
    files.value = ""
  } })
  const attach = attachments?.take && iconButton("attach", "Add pictures or files", { onclick: () => files.click() })
  const field = tagField(app, () => copy.note(id)?.tags ?? tags, async () => { await saving.ensure(); return id })
  const foot = h("p", { class: "muted small editor-foot" })
  const scroll = h("div", { class: "editor-scroll" },
    h("div", { class: "measure" }, notices?.element, reading, area, attachments?.element, field.element, foot))
  const heading = h("h1", { class: "visually-hidden" })
  const element = h("article", { class: "editor", "aria-label": "Note" }, heading,
    h("header", { class: "editor-head" }, iconButton("back", "Back to the list", { class: "to-list", onclick: app.back }), line,
      pencil, attach, files, pin, archive, more), scroll)

  /** @returns {string} */
  const text = () => area.hidden ? copy.note(id)?.text ?? saving.base.value : area.value
  const saving = new Saving(copy, id, {
    tags, read: text, settled: () => meet("here"),
    failed: error => error.slug === "gone" ? vanish() : app.fail(error),
  })

  /** Shows the text to read. */
  const read = () => {
    if (area.hidden) return
    carets.set(id, area.selectionStart)
    const hadFocus = document.activeElement === area
    const words = area.value
    saving.commit()
    showText(words)
    reading.hidden = false
    if (hadFocus) reading.focus({ preventScroll: true })
    area.hidden = true
    set(pencil, "aria-label", "Write")
    element.classList.remove("writing")
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
      element.classList.add("writing")
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

  /** @param {string} words */
  const showText = words => {
    fill(reading, words ? textView(words, copy.note(id)?.title ?? "") : h("span", { class: "muted" }, "Nothing written yet. Click, or press Enter."))
  }

  /**
   * Takes over what came from elsewhere: caret, selection and what is in view stay where they are.
   * @param {string} source
   */
  const meet = source => {
    const words = saving.meet(source)
    if (words === null || area.hidden) return
    const { start, end, text: inserted } = splice(area.value, words)
    const selection = [area.selectionStart, area.selectionEnd].map(place => moveCaret(place, area.value, words))
    const isAbove = end <= area.selectionStart
    const height = area.scrollHeight
    area.setRangeText(inserted, start, end, "preserve")
    area.setSelectionRange(selection[0], selection[1], area.selectionDirection)
    fit()
    if (isAbove) scroll.scrollTop += area.scrollHeight - height
    if (saving.hasWords) saving.typed()
  }

  /** The note was deleted on another device: what was written here goes into a new note. */
  const vanish = async () => {
    const words = text()
    const isOurs = hasTyped && last && words.trim()
    listening.abort()
    if (!last || !isOurs) return app.gone(id)
    const known = copy.notices().find(notice => notice.kind === "rescued" && notice.uniqueID === id && notice.into)
    const into = known ? copy.note(known.into) : undefined
    if (into && into.text !== words) await copy.write(into.uniqueID, words, { clock: into.textClock, value: into.text })
    const rescued = into?.uniqueID ?? await copy.rescue(last, words)
    app.toast("This note was deleted on another device. What you wrote is kept in this new note.", { seconds: 12 })
    app.go(`#/note/${rescued}`, { replace: true, write: true })
  }

  /** @param {File[]} chosen pasted or dropped; the note is made first if it is a new one */
  const take = chosen => { if (chosen.length) app.attempt(saving.ensure().then(() => attachments?.take?.(chosen))) }

  /** All that is not text, as it stands in the copy. */
  const update = () => {
    const note = copy.note(id)
    if (note && !last) app.made(id)
    last = note ?? last
    if (area.hidden) showText(text())
    const title = note?.title || "New note"
    if (heading.textContent !== title) heading.textContent = title
    field.update()
    set(pin, "aria-pressed", Boolean(note?.pinned))
    pin.classList.toggle("on", Boolean(note?.pinned))
    const label = note?.archived ? "Back from the archive" : "Archive"
    set(archive, "aria-label", label)
    set(archive, "title", label)
    archive.classList.toggle("on", Boolean(note?.archived))
    for (const control of [pin, archive, more]) control.disabled = !note
    fill(foot, note && `Written ${longDate(note.creationDate)}`)
    if (!typingTimer) fill(line, note?.archived && "In the archive")
  }

  let typingTimer = 0
  engine.addEventListener("typing", event => {
    const { uniqueID, device } = /** @type {CustomEvent} */ (event).detail
    if (uniqueID !== id) return
    clearTimeout(typingTimer)
    fill(line, h("span", { class: "typing" }, icon("pencil"), `editing on ${device.name}`))
    typingTimer = window.setTimeout(() => { typingTimer = 0; fill(line); update() }, typingShows)
  }, { signal })
  copy.addEventListener("change", event => {
    const { ids, source } = /** @type {CustomEvent} */ (event).detail
    if (ids && !ids.has(id) && !copy.note(id)?.tags.some(tag => ids.has(tag))) return
    if (last && !copy.note(id)) return void (source === "here" ? app.gone(id) : app.attempt(vanish()))
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
    if (event.isComposing || !(event.key === "Escape" || event.key === "Enter" && (event.metaKey || event.ctrlKey))) return
    event.preventDefault()
    event.stopPropagation()
    read()
  })
  // Leaving for another window is no leaving: the element stays the active one.
  area.addEventListener("blur", () => { if (document.activeElement !== area) setTimeout(read) })
  reading.addEventListener("click", event => {
    if (/** @type {Element} */ (event.target).closest("a") || String(getSelection())) return
    const words = text()
    write(words ? Math.min(placeAt(reading, event.clientX, event.clientY) ?? words.length, words.length) : 0)
  })
  reading.addEventListener("keydown", event => {
    if (event.target !== reading || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    if (event.key === "Enter") event.preventDefault()
    if (event.key === "Enter" || event.key.length === 1) { event.stopPropagation(); write() }
  })
  scroll.addEventListener("click", event => { if (event.target === scroll || event.target === scroll.firstChild) write(text().length) })
  element.addEventListener("paste", event => {
    const { files: pasted, types } = event.clipboardData ?? new DataTransfer()
    // Word processors put a picture of the words beside them.
    if (!pasted.length || !attachments?.take || types.includes("text/plain")) return
    event.preventDefault()
    take([...pasted])
  })
  for (const name of ["dragover", "drop"]) {
    element.addEventListener(name, event => {
      const data = /** @type {DragEvent} */ (event).dataTransfer
      if (!data?.types.includes("Files")) return
      event.preventDefault()
      element.classList.toggle("dropping", name === "dragover")
      if (name === "drop") take([...data.files])
    })
  }
  element.addEventListener("dragleave", () => element.classList.remove("dropping"))
  document.addEventListener("visibilitychange", () => { if (document.hidden) saving.commit() }, { signal })
  addEventListener("pagehide", () => saving.commit(), { signal })

  engine.opened(last ? id : null)
  update()
  return {
    element, title: last?.title || "New note", write, isWriting: () => !area.hidden,
    focus: () => reading.focus({ preventScroll: true }),
    stop: () => {
      saving.commit()
      if (!area.hidden) carets.set(id, area.selectionStart)
      listening.abort()
      engine.opened(null)
      notices?.stop?.()
      attachments?.stop?.()
    },
  }
}
