// One note: its text, with its tags and files.
import {moveCaret, rebase} from "../model/difference.js"
import {randomID} from "../model/hash.js"
import {canStyle, styleLine} from "../model/markdown.js"
import {onOwnLines} from "../model/marks.js"
import {breakLine, indent, linesAround, linkOf, makeLink, outdent, toggleBox, toggleChecklist, toggleMark} from "../model/typing.js"
import {EditHistory} from "../model/undo.js"
import {adoptMarks, attachments, insertFiles, pastedText} from "./attachments.js"
import {copyOf, copyText, fill, menu, save, toast, viewOf, wordsOf} from "./dom.js"
import {noteLinks} from "./links.js"
import {noteMatches} from "./matches.js"
import {plainSurface} from "./plain.js"
import {notices} from "./status.js"
import {styledSurface} from "./surface.js"
import {tagField} from "./tags.js"

/** Typing within this time is one edit, in ms. */
const COMMIT_DELAY = 1_000
/**
 * The prefix of keys in localStorage of text that was not saved. The note's ID, a space and the page's ID follow, so that a page
 * does not delete text that another page has left.
 */
const KEPT = "typed "
const PAGE = randomID()

/**
 * Writes text into the copy that closed pages left in localStorage. Text that cannot be written stays there.
 *
 * @param {Copy} copy
 */
export const takeKept = async copy => {
  await copy.loaded
  const failures = []
  for (const name of Object.keys(localStorage).filter(name => name.startsWith(KEPT))) {
    const kept = localStorage[name]
    if (!kept) continue // Another tab has taken it meanwhile.
    try {
      await take(copy, name.slice(KEPT.length).split(" ")[0], JSON.parse(kept))
      delete localStorage[name]
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length) throw failures[0]
}

/** Writes such text into the note with this ID, or, if it was deleted, into the note that has its words. */
const take = async (copy, id, {account, value, base, tags}) => {
  if (account !== copy.session?.account.uniqueID || copy.note(id)?.text === value) return
  const into = copy.note(id) ? id : await copy.rescueOf(id)
  if (into) await copy.write(into, value, {...base, isMoved: into !== id})
  else if (base.clock) await copy.rescue({uniqueID: id, tags, attachments: []}, value)
  else await copy.createNote({uniqueID: id, text: value, tags})
}

/** A calendar event (RFC 5545). */
const calendar = (date, title) => {
  const [begin, now] = [date.slice(0, 16), new Date().toISOString()].map(text => text.replace(/[-:]|\.\d+/g, ""))
  const words = title.replace(/[\\;,]/g, "\\$&").replace(/\s+/g, " ")
  return viewOf("calendar", {begin, now, words, hasTime: begin[8]}).textContent.replace(/\n/g, "\r\n")
}

/** The commands of keys, and of the buttons above a phone's keyboard. @type {Record<string, Typing>} */
const COMMANDS = {
  bold: (text, start, end) => toggleMark(text, start, end, "**"),
  italic: (text, start, end) => toggleMark(text, start, end, "*"),
  link: makeLink, check: toggleChecklist, indent, outdent,
}
const SHORTCUTS = {__proto__: null, "Mod+b": "bold", "Mod+i": "italic", "Mod+k": "link", "Mod+Shift+c": "check", Tab: "indent", "Shift+Tab": "outdent"}
const nameOfKey = ({key, ctrlKey, metaKey, shiftKey, altKey}) =>
  `${ctrlKey || metaKey ? "Mod+" : ""}${altKey ? "Alt+" : ""}${shiftKey ? "Shift+" : ""}${key[1] ? key : key.toLowerCase()}`

/** Whether this browser can edit a styled text as plain text. */
const CAN_STYLE = (() => {
  const probe = document.createElement("div")
  probe.setAttribute("contenteditable", "plaintext-only")
  return probe.contentEditable === "plaintext-only"
})()
/** Whether the person prefers the text without styles. */
const prefersPlain = () => localStorage.plainText === "true"

/** @type {NoteView} */
export const editor = (app, id, tags) => {
  const {copy, engine} = app
  const parts = copyOf("editor")
  const {element, heading, typist, done, files, pin, more, scroll, measure, area, styled, printed, rest, bar} = parts
  const listening = new AbortController()
  const {signal} = listening
  /** The note as it was last seen. */
  let last = copy.note(id)
  /** The version that is edited. */
  let base = {clock: last?.textClock ?? null, value: last?.text ?? ""}
  /** The text as it is in the editor. */
  let words = base.value
  let hasTyped = false
  /** Whether the text was moved to another note. A sync and the editor's own write may both find that the note was deleted. */
  let hasMoved = false
  /** Whether Shift is pressed. Shift+Enter does not continue a list. */
  let isShift = false
  const undoHistory = new EditHistory()
  const kept = `${KEPT}${id} ${PAGE}`
  let running = null
  let waiting = 0
  let showing = 0

  const store = async () => {
    const value = words
    const isThere = base.clock || copy.note(id)
    if (!isThere) await copy.createNote({uniqueID: id, text: value, tags})
    const clock = isThere ? await copy.write(id, value, base) : copy.note(id)?.textClock ?? null
    base = {clock, value}
    if (words === value) delete localStorage[kept]
  }
  /**
   * Writes what was typed. One write at a time: each has the one before as its base (clients.md, rules 2 and 3).
   *
   * @returns {Promise<void>}
   */
  const commit = async () => {
    if (running) return running.then(commit)
    if (words === base.value) {
      delete localStorage[kept]
      // The text of another device may have waited for a change that was then reverted.
      return merge("here")
    }
    running = store().catch(error => {
      if (error.slug === "gone") return vanish()
      app.fail(error)
      keepWords()
    }).finally(() => { running = null })
    await running
    merge("here")
  }
  const typed = () => {
    waiting ||= setTimeout(() => {
      waiting = 0
      surface.isComposing() ? typed() : commit()
    }, COMMIT_DELAY)
  }
  /** Creates the note if it does not exist yet, and returns its ID. */
  const ensure = async () => {
    await commit()
    if (!copy.note(id)) await store()
    return id
  }
  /** Keeps unsaved text outside the copy. Whether there is any. */
  const keepWords = () => {
    if (words === base.value || !copy.session) return false
    localStorage[kept] = JSON.stringify({account: copy.session.account.uniqueID, value: words, base, tags})
    return true
  }
  /** Keeps unsaved text when the page may be closed, because the page may end before a transaction does. */
  const keep = () => {
    if (keepWords()) commit()
  }

  /** Merges changes of the text by another device or tab. The caret stays at the same words. */
  const merge = source => {
    const note = copy.note(id)
    if (!note || running || surface.isComposing() || note.textClock === base.clock && note.text === base.value) return
    const both = words === base.value ? note.text : source === "tab" ? rebase(base.value, words, note.text) : null
    if (both === null) return
    base = {clock: note.textClock, value: note.text}
    if (both !== words) {
      undoHistory.transform(words, both)
      const places = surface.selected().map(place => moveCaret(place, words, both))
      words = both
      // The line of the caret stays where it is on the screen.
      const {top} = surface.boxOf(surface.selected()[1])
      draw(places)
      if (isWriting()) scroll.scrollTop += surface.boxOf(places[1]).top - top
    }
    if (words !== base.value) typed()
  }
  /** Records a change by the person, and saves it soon. */
  const change = (text, /** @type {TextEdit | undefined} */ edit = undefined) => {
    if (text === words) return
    // If text was only inserted or only removed, the texts need not be compared.
    const isSimple = edit && (!edit.text || edit.start === edit.end)
    undoHistory.add(words, text, performance.now(), isSimple ? edit : undefined)
    words = text
    hasTyped = true
    typed()
    engine.typing(id)
  }
  /** Applies an edit of the person that the browser has not applied itself. */
  const apply = edit => {
    if (!edit) return
    const {start, end, text, select} = edit
    change(words.slice(0, start) + text + words.slice(end), edit)
    draw(select)
    links.suggest()
  }
  const run = name => apply(COMMANDS[name](words, ...surface.selected()))
  /** Undoes or redoes the last edit of this person. `name` is "undo" or "redo". */
  const move = name => {
    const moved = undoHistory[name](words)
    if (!moved) return
    words = moved.text
    draw([moved.caret, moved.caret])
    typed()
    engine.typing(id)
  }
  const follow = (kind, value) => {
    if (kind === "date") {
      const about = copy.note(id)?.title ?? ""
      save(new Blob([calendar(value, about)]), `${about.slice(0, 40) || wordsOf("date-name")}.ics`)
    } else if (kind === "link") viewOf("found-link", {value}).click()
    else links.open(value)
  }
  /** Opens the link or date at a place, or toggles the check box of its line. Returns whether there was one. */
  const followAt = place => {
    const [from, to] = linesAround(words, place)
    let at = from
    for (const {text, looks, about} of styleLine(words.slice(from, to), "").parts) {
      const kind = ["note-link", "link", "date"].find(one => looks.split(" ").includes(one))
      if (kind && about && place >= at && place <= at + text.length) {
        follow(kind === "note-link" ? "note" : kind, about)
        return true
      }
      at += text.length
    }
    const edit = toggleBox(words, place)
    apply(edit)
    return Boolean(edit)
  }

  /** After the note was deleted on another device: continues in the note to which its text was moved (clients.md, rule 4). */
  const vanish = async () => {
    listening.abort()
    const wasWriting = isWriting()
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
    const place = wasWriting && moveCaret(surface.selected()[0], words, copy.note(into)?.text ?? words)
    app.go(`#/note/${into}`, {replace: true, write: place})
    if (!hasMoved) toast("rescued")
    hasMoved = true
  }

  /** @type {SurfaceEvents} */
  const events = {
    edit: apply, move, follow,
    typed: text => {
      change(text)
      links.suggest()
    },
    command: run,
    paste: data => { pasteText(data) },
    enter: () => {
      const [start, end] = surface.selected()
      const goesOn = isShift ? null : breakLine(words, start, end)
      apply(goesOn ?? {start, end, text: "\n", select: [start + 1, start + 1]})
    },
    composed: () => merge("here"),
    box: at => apply({...toggleBox(words, at), select: surface.selected()}),
    embed: mark => attachmentPart.embed?.(mark) ?? null,
  }
  const surfaces = {styled: styledSurface(styled, events), area: plainSurface(area, events)}
  let surface = surfaces.area
  /** Shows the text, styled or plain. */
  const draw = (/** @type {number[] | undefined} */ places = undefined) => {
    const wanted = CAN_STYLE && !prefersPlain() && canStyle(words) ? surfaces.styled : surfaces.area
    const wasWriting = isWriting()
    const selected = places ?? surface.selected()
    surface = wanted
    for (const one of [styled, area]) one.hidden = one !== surface.element
    surface.show(words, selected)
    if (wasWriting && !isWriting()) surface.focus()
    matches.update()
  }
  const isWriting = () => document.activeElement === surface.element
  const write = (place = -1) => {
    if (place >= 0) surface.select(place)
    surface.focus()
    engine.opened(id)
  }

  const leave = () => rest.focus({preventScroll: true})
  const noteText = {text: () => words, surface: () => surface, apply}
  const links = noteLinks(app, id, noteText)
  const matches = noteMatches(app, noteText)

  const mergeNotices = notices(app, id)
  const attachmentPart = attachments(app, id)
  const tagPart = tagField(app, () => copy.note(id)?.tags ?? tags, ensure)
  /** Replaces the selection with text. `areLines`: on lines of their own. */
  const put = (text, areLines = false) => {
    if (!text) return
    const [start, end] = surface.selected()
    const plain = text.replace(/\r\n?/g, "\n")
    const whole = areLines ? onOwnLines(words.slice(0, start), plain, words.slice(end)) : plain
    apply(linkOf(words, start, end, whole) ?? {start, end, text: whole, select: [start + whole.length, start + whole.length]})
  }
  /** Adds files to the note. Pictures get marks at the caret, if the person is writing. */
  const take = async chosen => {
    const [kept, wasWriting] = [[...chosen], isWriting()]
    if (!kept[0]) return
    await app.attempt(ensure().then(() => insertFiles(app, id, kept)).then(marks => { if (wasWriting) put(marks, true) }))
  }
  const takeText = async (html, plain) => put(await adoptMarks(app, await ensure(), await pastedText(html, plain)))
  const update = () => {
    const note = copy.note(id)
    last = note ?? last
    fill(heading, note?.title || wordsOf("new-note"))
    tagPart.update()
    surface.refresh()
    pin.ariaPressed = Boolean(note?.pinned)
    element.toggleAttribute("data-archived", Boolean(note?.archived))
    parts.controls.disabled = !note
    fill(parts.foot, note && viewOf("written", note))
  }

  engine.addEventListener("typing", ({detail: {uniqueID, device}}) => {
    if (uniqueID !== id) return
    clearTimeout(showing)
    showing = setTimeout(fill, 6_000, typist)
    fill(typist, wordsOf("editing-on", device))
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
  addEventListener("beforeprint", () => fill(printed, surface === surfaces.area && words), {signal})

  done.onclick = () => leave()
  files.onchange = () => {
    take(files.files)
    files.value = ""
  }
  more.onclick = () => menu(more, "note-menu", {
    copyText: () => copyText(words),
    plain: () => {
      localStorage.plainText = !prefersPlain()
      draw()
    },
    isPlain: prefersPlain(),
  })
  bar.onmousedown = event => event.preventDefault() // The text keeps the focus, and the phone its keyboard.
  bar.onclick = ({target}) => {
    const {command} = target.closest("[data-command]")?.dataset ?? {}
    if (command) run(command)
  }
  measure.onkeydown = event => {
    isShift = event.shiftKey
    if (event.isComposing || surface.isComposing() || event.target !== surface.element) return
    const name = nameOfKey(event)
    if (links.onkey(name)) return event.preventDefault()
    const undo = {"Mod+z": "undo", "Mod+Shift+z": "redo", "Mod+y": "redo"}[name]
    const [start, end] = surface.selected()
    if (undo) move(undo)
    else if (SHORTCUTS[name]) {
      const edit = COMMANDS[SHORTCUTS[name]](words, start, end)
      // Outside of lists, Tab inserts a tab. To move the focus out of the text, press Escape, then Tab.
      if (!edit && name === "Shift+Tab") return
      apply(edit ?? {start, end, text: "\t", select: [start + 1, start + 1]})
    } else if (name === "Escape") leave()
    else if (name !== "Mod+Enter") return
    else if (!followAt(end)) leave()
    event.preventDefault()
  }
  // When the window loses the focus, the text remains its active element.
  const left = () => setTimeout(() => {
    if (isWriting()) return
    commit()
    links.close()
    links.offer()
  })
  for (const one of [styled, area]) {
    one.addEventListener("blur", left)
    one.addEventListener("focus", () => engine.opened(id))
  }
  scroll.onclick = ({target}) => {
    // A click below the text writes at its end.
    if ((target === scroll || target === measure) && getSelection()?.isCollapsed) write(words.length)
  }
  /** Puts text of the clipboard or a drag in the place of the selection: HTML as Markdown. False if there is none. */
  const pasteText = data => {
    const [html, plain] = ["text/html", "text/plain"].map(type => data.getData(type))
    if (html || plain.includes("](attachment:")) app.attempt(takeText(html, plain))
    else put(plain)
    return Boolean(html || plain)
  }
  element.onpaste = event => {
    const {clipboardData: data, target} = event
    // Word processors add a picture of the text that is copied.
    if (data.files.length && !data.types.includes("text/plain")) take(data.files)
    else if (!target.closest?.(".text") || !pasteText(data)) return
    event.preventDefault()
  }
  element.ondragover = element.ondrop = element.ondragleave = event => {
    const {type, target, clientX, clientY, dataTransfer: {files, types}} = event
    const areFiles = types.includes("Files")
    element.classList.toggle("dropping", type === "dragover" && areFiles)
    if (type === "dragleave" || !areFiles) return
    event.preventDefault()
    if (type !== "drop") return
    if (target.closest(".text")) {
      surface.select(surface.placeAt(clientX, clientY))
      surface.focus()
    }
    take(files)
  }
  // Safari does not shrink the page when the keyboard of a phone opens. This keeps the text above the keyboard.
  globalThis.visualViewport?.addEventListener("resize", () => {
    const {height, offsetTop} = /** @type {VisualViewport} */ (visualViewport)
    element.style.setProperty("--keyboard", `${Math.max(0, Math.round(innerHeight - height - offsetTop))}px`)
  }, {signal})

  measure.prepend(mergeNotices.element)
  parts.foot.before(tagPart.element)
  measure.append(links.options, links.backlinks)
  rest.after(attachmentPart.element)
  engine.opened(last ? id : null)
  scroll.before(matches.element)
  draw([0, 0])
  update()
  const beginning = requestAnimationFrame(matches.begin)
  return {
    element, write, isWriting, focus: leave,
    stop: () => {
      commit()
      listening.abort()
      engine.opened(null)
      links.stop()
      cancelAnimationFrame(beginning)
      matches.stop()
      mergeNotices.stop?.()
      attachmentPart.stop?.()
    },
  }
}
