// One note: its text, to read and to edit, with its tags and files.
import {moveCaret, rebase, splice} from "../model/difference.js"
import {findings} from "../model/text.js"
import {EditHistory} from "../model/undo.js"
import {attachments} from "./attachments.js"
import {copyOf, copyText, fill, menu, save, toast, viewOf} from "./dom.js"
import {notices} from "./status.js"
import {tagField} from "./tags.js"

/** How much of a text is searched for links and dates, in characters. */
const MAX_SEARCHED = 200_000
/** Typing within this time is one edit, in ms. */
const COMMIT_DELAY = 1_000
/** Text that was typed when the page was closed is in localStorage under this and the note's ID. */
const KEPT = "typed "

/**
 * Writes text into the copy that a closed page left in localStorage.
 *
 * @param {Copy} copy
 */
export const takeKept = async copy => {
  await copy.loaded
  for (const name of Object.keys(localStorage).filter(name => name.startsWith(KEPT))) {
    const id = name.slice(KEPT.length)
    const {account, value, base, tags} = JSON.parse(localStorage[name])
    if (account === copy.session?.account.uniqueID && copy.note(id)?.text !== value) {
      const into = copy.note(id) ? id : await copy.rescueOf(id)
      if (into) await copy.write(into, value, {...base, isMoved: into !== id})
      else if (base.clock) await copy.rescue({uniqueID: id, tags, attachments: []}, value)
      else await copy.createNote({uniqueID: id, text: value, tags})
    }
    delete localStorage[name]
  }
}

/** A calendar event (RFC 5545). */
const calendar = (date, title) => {
  const [begin, now] = [date.slice(0, 16), new Date().toISOString()].map(text => text.replace(/[-:]|\.\d+/g, ""))
  const words = title.replace(/[\\;,]/g, "\\$&").replace(/\s+/g, " ")
  return viewOf("calendar", {begin, now, words, hasTime: begin[8]}).textContent.replace(/\n/g, "\r\n")
}

/** A text with its links, mail addresses and dates as links. */
const usable = (text, about) => {
  let last = 0
  const found = findings(text.slice(0, MAX_SEARCHED)).map(({kind, value, start, end}) => {
    const between = text.slice(last, start)
    const take = event => {
      event.preventDefault()
      save(new Blob([calendar(value, about)]), `${about.slice(0, 40) || "Date"}.ics`)
    }
    last = end
    return [between, viewOf(`found-${kind}`, {value, words: text.slice(start, end), take})]
  })
  return [found, text.slice(last)]
}

/** @type {NoteView} */
export const editor = (app, id, tags) => {
  const {copy, engine} = app
  const parts = copyOf("editor")
  const {element, heading, typist, done, files, pin, more, scroll, measure, area, reading} = parts
  const listening = new AbortController()
  const {signal} = listening
  /** The note as it was last seen. */
  let last = copy.note(id)
  /** The version that is edited. */
  let base = {clock: last?.textClock ?? null, value: last?.text ?? ""}
  /** The text as it is in the editor. */
  let words = base.value
  let hasTyped = false
  const undoHistory = new EditHistory()
  let isComposing = false
  let running = null
  let waiting = 0
  let showing = 0

  const store = async () => {
    const value = words
    const isThere = base.clock || copy.note(id)
    if (!isThere) await copy.createNote({uniqueID: id, text: value, tags})
    const clock = isThere ? await copy.write(id, value, base) : copy.note(id)?.textClock ?? null
    base = {clock, value}
    delete localStorage[KEPT + id]
  }
  /**
   * Writes what was typed. One write at a time: each has the one before as its base (clients.md, rules 2 and 3).
   *
   * @returns {Promise<void>}
   */
  const commit = async () => {
    if (running) return running.then(commit)
    if (words === base.value) return
    running = store().catch(error => error.slug === "gone" ? vanish() : app.fail(error))
      .finally(() => { running = null })
    await running
    merge("here")
  }
  const typed = () => {
    waiting ||= setTimeout(() => {
      waiting = 0
      isComposing ? typed() : commit()
    }, COMMIT_DELAY)
  }
  /** Makes the note if it does not exist yet. Its ID. */
  const ensure = async () => {
    await commit()
    if (!copy.note(id)) await store()
    return id
  }
  /** Saves the text when the page may be closed: it may end before a transaction does. */
  const keep = () => {
    if (words === base.value || !copy.session) return
    localStorage[KEPT + id] = JSON.stringify({account: copy.session.account.uniqueID, value: words, base, tags})
    commit()
  }

  /** Takes another device's or tab's changes of the text in; the caret stays among its words. */
  const merge = source => {
    const note = copy.note(id)
    if (!note || running || isComposing || note.textClock === base.clock && note.text === base.value) return
    const both = words === base.value ? note.text : source === "tab" ? rebase(base.value, words, note.text) : null
    if (both === null) return
    base = {clock: note.textClock, value: note.text}
    undoHistory.transform(words, both)
    words = both
    if (words !== base.value) typed()
    if (area.hidden) return
    const {selectionStart, scrollHeight} = area
    const {end} = replace()
    fit()
    if (end <= selectionStart) scroll.scrollTop += area.scrollHeight - scrollHeight
  }
  /** Puts `words` into the text area and keeps the caret at its words. The browser's own undo no longer works after that. */
  const replace = () => {
    const {value, selectionStart, selectionEnd} = area
    const change = splice(value, words)
    area.setRangeText(change.text, change.start, change.end)
    area.setSelectionRange(moveCaret(selectionStart, value, words), moveCaret(selectionEnd, value, words))
    return change
  }
  /** Undoes or redoes the last edit of this person. `name` is "undo" or "redo". */
  const move = name => {
    const moved = undoHistory[name](words)
    if (!moved) return
    words = moved.text
    replace()
    area.setSelectionRange(moved.caret, moved.caret)
    fit()
    typed()
  }

  /** The note was deleted: what was typed continues in the note that has its words (clients.md, rule 4). */
  const vanish = async () => {
    listening.abort()
    const isWriting = !area.hidden
    let into = await copy.rescueOf(id) ?? "", from = {...base, isMoved: true}
    base = {clock: null, value: words}
    if (!into) {
      if (!last || !hasTyped || !words.trim()) return app.gone(id)
      const known = copy.notices().find(one => one.kind === "rescued" && one.uniqueID === id && copy.note(one.into))
      into = known?.into || await copy.rescue(last, words)
      const {textClock: clock = null, text: value = words} = copy.note(into) ?? {}
      from = {clock, value, isMoved: false}
    }
    // The person may type while this is being written.
    while (words !== from.value) {
      const value = words
      from = {clock: await copy.write(into, value, from), value, isMoved: true}
    }
    const place = isWriting && moveCaret(area.selectionStart, words, copy.note(into)?.text ?? words)
    app.go(`#/note/${into}`, {replace: true, write: place})
    toast("rescued")
  }

  const showText = () => {
    const about = copy.note(id)?.title ?? ""
    const line = words.indexOf("\n", words.search(/\S/)) >>> 0
    fill(reading, words && [viewOf("title-line", {words: usable(words.slice(0, line), about)}),
      usable(words.slice(line), about)])
  }
  const read = () => {
    if (area.hidden) return
    const hadFocus = document.activeElement === area
    commit()
    showText()
    area.hidden = true
    if (hadFocus) reading.focus({preventScroll: true})
  }
  const write = (place = -1) => {
    if (area.value !== words) area.value = words // else the caret is where it was
    if (place >= 0) area.setSelectionRange(place, place)
    area.hidden = false
    fit()
    area.focus({preventScroll: true})
    engine.opened(id)
  }
  /** Fits the height to the text, in browsers that do not do it themselves. */
  const fit = () => {
    if (CSS.supports("field-sizing", "content")) return
    const top = scroll.scrollTop
    area.style.height = "auto"
    area.style.height = `${area.scrollHeight}px`
    scroll.scrollTop = top
  }

  const mergeNotices = notices(app, id)
  const attachmentPart = attachments(app, id)
  const updateTags = tagField(app, parts, () => copy.note(id)?.tags ?? tags, ensure)
  const take = chosen => {
    const kept = [...chosen]
    if (kept.length) app.attempt(ensure().then(() => attachmentPart.take?.(kept)))
  }
  const update = () => {
    const note = copy.note(id)
    last = note ?? last
    if (area.hidden) showText()
    fill(heading, note?.title || "New note")
    updateTags()
    pin.ariaPressed = Boolean(note?.pinned)
    element.toggleAttribute("data-archived", Boolean(note?.archived))
    parts.controls.disabled = !note
    fill(parts.foot, note && viewOf("written", note))
  }

  engine.addEventListener("typing", ({detail: {uniqueID, device}}) => {
    if (uniqueID !== id) return
    clearTimeout(showing)
    showing = setTimeout(fill, 6_000, typist)
    fill(typist, `editing on ${device.name}`)
  }, {signal})
  copy.addEventListener("change", ({detail: {ids, source}}) => {
    const note = copy.note(id)
    if (ids && !ids.has(id) && !note?.tags.some(tag => ids.has(tag))) return
    if (last && !note) return void (source === "sync" ? app.attempt(vanish()) : app.gone(id))
    merge(source)
    update()
  }, {signal})
  document.addEventListener("visibilitychange", () => { if (document.hidden) keep() }, {signal})
  addEventListener("pagehide", keep, {signal})
  addEventListener("beforeprint", () => { if (!area.hidden) showText() }, {signal})

  done.onclick = read
  files.onchange = () => {
    take(files.files)
    files.value = ""
  }
  more.onclick = () => menu(more, "note-menu", {copyText: () => copyText(words)})
  area.onbeforeinput = event => {
    const name = {historyUndo: "undo", historyRedo: "redo"}[event.inputType]
    if (!name) return
    event.preventDefault()
    move(name)
  }
  area.oninput = event => {
    undoHistory.add(words, area.value, event.timeStamp)
    words = area.value
    hasTyped = true
    isComposing = event.isComposing
    fit()
    typed()
    engine.typing(id)
  }
  area.addEventListener("compositionend", () => { isComposing = false })
  area.onkeydown = event => {
    const key = event.key.toLowerCase()
    const isUndo = (event.ctrlKey || event.metaKey) && !event.altKey && (key === "z" || key === "y" && event.ctrlKey)
    if (isUndo && !isComposing) {
      event.preventDefault()
      move(key === "y" || event.shiftKey ? "redo" : "undo")
    }
    // Tab inserts a tab. To move the focus out of the text, press Escape, then Tab.
    if (key === "tab" && !event.shiftKey && !event.ctrlKey && !isComposing) {
      event.preventDefault()
      area.setRangeText("\t", area.selectionStart, area.selectionEnd, "end")
      area.dispatchEvent(new InputEvent("input"))
    }
    const isDone = event.key === "Escape" || event.key === "Enter" && (event.metaKey || event.ctrlKey)
    if (event.isComposing || !isDone) return
    event.preventDefault()
    read()
  }
  // When the window loses the focus, the text area remains its active element.
  area.onblur = () => setTimeout(() => { if (document.activeElement !== area) read() })
  scroll.onclick = ({target}) => {
    const isText = reading.contains(target)
    const selection = /** @type {any} */ (getSelection())
    const {focusNode, focusOffset} = selection
    if (target.closest("a") || String(selection) || !isText && target !== scroll && target !== measure) return
    if (!isText || !reading.contains(focusNode)) return write(words.length)
    const range = document.createRange()
    range.setStart(reading, 0)
    range.setEnd(focusNode, focusOffset)
    write(String(range).length)
  }
  element.onpaste = event => {
    const {files, types} = event.clipboardData
    // Word processors add a picture of the text that is copied.
    if (!files.length || types.includes("text/plain")) return
    event.preventDefault()
    take(files)
  }
  element.ondragover = element.ondrop = element.ondragleave = event => {
    const {type, dataTransfer: {files, types}} = event
    element.classList.toggle("dropping", type === "dragover")
    if (type === "dragleave" || !types.includes("Files")) return
    event.preventDefault()
    if (type === "drop") take(files)
  }

  measure.prepend(mergeNotices.element)
  area.after(attachmentPart.element)
  engine.opened(last ? id : null)
  update()
  return {
    element, write, isWriting: () => !area.hidden, focus: () => reading.focus({preventScroll: true}),
    stop: () => {
      commit()
      listening.abort()
      engine.opened(null)
      mergeNotices.stop?.()
      attachmentPart.stop?.()
    },
  }
}
