// One note: its text, to read and to write, its tags and its files.

import {findings, foldName, moveCaret, rebase, splice} from "../model/text.js"
import {
  announce, copyOf, copyText, dialog, failureOf, fill, follow, menu, problemView, save, tell, toast, tryIn, viewOf, wordsOf,
} from "./dom.js"
import {notices} from "./pages.js"

const searched = 200_000 // characters in which links are looked for
const moment = 1_000 // ms of typing that are one edit
const KEPT = "typed " // and the ID of a note

/** @param {Copy} copy */
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

// RFC 5545
const calendar = (date, title) => {
  const [begin, now] = [date.slice(0, 16), new Date().toISOString()].map(text => text.replace(/[-:]|\.\d+/g, ""))
  const words = title.replace(/[\\;,]/g, "\\$&").replace(/\s+/g, " ")
  return viewOf("calendar", {begin, now, words, hasTime: begin[8]}).textContent.replace(/\n/g, "\r\n")
}

const usable = (text, about) => {
  let last = 0
  const found = findings(text.slice(0, searched)).map(({kind, value, start, end}) => {
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

/** @type {TagField} */
export const tagField = ({copy, attempt}, {field, chips, input, options}, read, ensure) => {
  let active = null

  const add = async name => {
    const note = await ensure()
    await copy.addTag(note, await copy.createTag(name))
    announce("tag-added", {name})
  }
  const remove = async tag => {
    await copy.removeTag(await ensure(), tag)
    announce("tag-removed", copy.tag(tag))
  }

  const choose = option => {
    active = option
    for (const one of options.children) one.ariaSelected = one === option
    option?.scrollIntoView({block: "nearest"})
    input.ariaExpanded = options.childElementCount > 0
    input.ariaActiveDescendantElement = option
  }
  const close = () => {
    fill(options)
    choose(null)
  }
  const take = name => {
    input.value = ""
    close()
    attempt(add(name))
  }
  const suggest = () => {
    const typed = input.value.trim()
    const folded = foldName(typed)
    const known = copy.tagNamed(typed)
    const found = copy.tags().map(tag => ({...tag, at: foldName(tag.name).indexOf(folded)}))
      .filter(({at, uniqueID}) => at >= 0 && (uniqueID === known || !read().includes(uniqueID)))
      .sort((one, other) => one.at - other.at).slice(0, 8)
    fill(options, found.map(tag => viewOf("suggestion", tag)),
      typed && !known && viewOf("new-tag", {name: typed}))
    choose(typed ? options.firstChild : null)
  }

  input.oninput = input.onfocus = suggest
  input.onblur = close
  input.onkeydown = event => {
    const {key} = event
    const name = input.value.trim()
    if (event.isComposing) return
    if (key.startsWith("Arrow") && !options.firstChild) suggest()
    if (key === "ArrowDown") choose(active?.nextSibling ?? options.firstChild)
    else if (key === "ArrowUp") choose(active?.previousSibling ?? options.lastChild)
    else if (name && key === ",") take(name)
    else if (active && (key === "Enter" || key === "Tab" && name)) take(active.dataset.name)
    else if (key === "Backspace" && !input.value && read().length) attempt(remove(read().slice(-1)[0]))
    else if (key === "Escape" && options.firstChild) close()
    else return
    event.preventDefault()
  }
  options.onpointerdown = event => {
    const {name} = event.target.closest("[data-name]")?.dataset ?? {}
    event.preventDefault()
    if (name) take(name)
  }
  field.onclick = ({target}) => { if (target === field) input.focus() }

  return () => tell(chips, read().map(id => [id, copy.tag(id)?.name]), () => read().map(id => viewOf("tag-chip", {
    ...copy.tag(id), id, remove: () => { input.focus(); attempt(remove(id)) },
  })))
}

// In all others something could run.
const isPicture = ({mimeType}) => /^image\/(jpeg|png|gif|webp|avif|bmp|hei[cf])$/.test(mimeType)
const PREVIEW = 48 // the longest side, in pixels

const measure = async file => {
  const bitmap = await createImageBitmap(file)
  const {width, height} = bitmap
  const scale = Math.min(1, PREVIEW / Math.max(width, height))
  const canvas = viewOf("canvas", {width: Math.ceil(width * scale), height: Math.ceil(height * scale)})
  const context = canvas.getContext("2d")
  Object.assign(context, {imageSmoothingQuality: "high", fillStyle: "#fff"})
  context.fillRect(0, 0, canvas.width, canvas.height) // JPEG has black for what is transparent.
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  return {width, height, preview: canvas.toDataURL("image/jpeg", 0.7).replace(/.*,/, "")}
}

const looksOf = preview => preview ? {src: `data:image/jpeg;base64,${preview}`} : {}

/** @type {Opener} */
export const attachments = (app, note) => {
  const {copy, engine, attempt} = app
  const urls = []
  const tiles = {}
  const {element, strip, progress, problem} = copyOf("attachments")

  const all = () => (copy.note(note)?.attachments ?? []).flatMap(id => copy.attachment(id) ?? [])
  const show = async (image, {uniqueID, mimeType}) => {
    const blob = await engine.want(uniqueID)
    const whole = new Image()
    whole.src = URL.createObjectURL(blob.slice(0, blob.size, mimeType))
    urls.push(whole.src)
    await whole.decode()
    image.src = whole.src
    image.classList.remove("blurred")
  }
  const nameOf = id => copy.attachment(id)?.filename ?? "file"
  const remove = id => app.undoable(copy.detach(note, id), () => copy.reattach(note, id), "file-out", {name: nameOf(id)})
  const download = id => attempt(engine.want(id).then(blob => save(blob, nameOf(id))))

  const tile = attachment => {
    const {uniqueID, filename: name = "file", mimeType, preview} = attachment
    const sayName = () => image.replaceWith(name)
    let isShown = !isPicture(attachment)
    const {element, image, state} = copyOf(isShown ? "file" : "picture", {
      ...attachment, name, kind: mimeType.split("/")[1], out: () => remove(uniqueID),
      main: isShown ? () => download(uniqueID) : () => viewer(uniqueID),
      image: {...looksOf(preview), onerror: sayName},
    })
    const update = () => {
      const {isUnsent, isHere} = copy.attachment(uniqueID) ?? attachment
      state.hidden = !isUnsent
      if (isShown || !isHere) return
      isShown = true
      show(image, attachment).catch(() => preview || sayName())
    }
    return {update, element}
  }
  const layOut = () => {
    const known = all()
    const shown = known.map(attachment => tiles[attachment.uniqueID] ??= tile(attachment))
    shown.forEach(({update}) => update())
    tell(strip, known.map(({uniqueID}) => uniqueID), () => shown.map(({element}) => element))
    const {uploads} = engine.status
    fill(progress, uploads.count > 0 && known.some(({isUnsent}) => isUnsent) && viewOf("uploading", uploads))
  }

  const viewer = first => {
    let at = first
    const step = by => {
      const list = all().filter(isPicture)
      const index = (list.findIndex(({uniqueID}) => uniqueID === at) + by + list.length) % list.length
      const now = list[index]
      at = now.uniqueID
      const {element, image, failure} = copyOf("full", {...now, image: looksOf(now.preview)})
      fill(picture, element)
      fill(about, viewOf("caption", {...now, place: index + 1, count: list.length, hasOthers: list[1]}))
      tryIn(failure, () => show(image, now))
    }
    const {element, picture, about, previous, next} = copyOf("viewer", {
      previous: () => step(-1), next: () => step(1), save: () => download(at), out: () => remove(at),
    })
    step(0)
    dialog(element).onkeydown = ({key}) => ({ArrowLeft: previous, ArrowRight: next})[key]?.click()
  }

  const take = async files => {
    fill(problem)
    for (const file of files) {
      try {
        // What this browser cannot measure is kept all the same.
        const size = isPicture({mimeType: file.type}) ? await measure(file).catch(() => ({})) : {}
        await copy.attach(note, file, {filename: file.name, ...size})
        announce("file-added", file)
      } catch (error) {
        problem.append(problemView({slug: "not-added", title: file.name, detail: wordsOf(failureOf(error), Object(error))}))
      }
    }
  }
  const end = follow(layOut, [copy, "change"], [engine, "status"])
  const stop = () => {
    end()
    urls.forEach(URL.revokeObjectURL)
  }
  return {take, stop, element}
}

/** @type {NoteView} */
export const editor = (app, id, tags) => {
  const {copy, engine} = app
  const parts = copyOf("editor")
  const {element, heading, typist, done, files, pin, more, scroll, measure, area, reading} = parts
  const listening = new AbortController()
  const {signal} = listening
  let last = copy.note(id)
  let base = {clock: last?.textClock ?? null, value: last?.text ?? ""}
  let words = base.value
  let hasTyped = false
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
  // One write at a time: each has the one before as its base (clients.md, rules 2 and 3).
  /** @returns {Promise<void>} */
  const commit = async () => {
    if (running) return running.then(commit)
    if (words === base.value) return
    running = store().catch(error => error.slug === "gone" ? vanish() : app.fail(error))
      .finally(() => { running = null })
    await running
    meet("here")
  }
  const typed = () => {
    waiting ||= setTimeout(() => {
      waiting = 0
      isComposing ? typed() : commit()
    }, moment)
  }
  const ensure = async () => {
    await commit()
    if (!copy.note(id)) await store()
    return id
  }
  // The page may end before a transaction does.
  const keep = () => {
    if (words === base.value || !copy.session) return
    localStorage[KEPT + id] = JSON.stringify({account: copy.session.account.uniqueID, value: words, base, tags})
    commit()
  }

  const meet = source => {
    const note = copy.note(id)
    if (!note || running || isComposing || note.textClock === base.clock && note.text === base.value) return
    const both = words === base.value ? note.text : source === "tab" ? rebase(base.value, words, note.text) : null
    if (both === null) return
    base = {clock: note.textClock, value: note.text}
    words = both
    if (words !== base.value) typed()
    if (area.hidden) return
    const {value, selectionStart, selectionEnd, scrollHeight} = area
    const {start, end, text} = splice(value, words)
    area.setRangeText(text, start, end)
    area.setSelectionRange(moveCaret(selectionStart, value, words), moveCaret(selectionEnd, value, words))
    fit()
    if (end <= selectionStart) scroll.scrollTop += area.scrollHeight - scrollHeight
  }

  // clients.md, rule 4
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
    // Keys may come meanwhile.
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
  const fit = () => {
    if (CSS.supports("field-sizing", "content")) return
    const top = scroll.scrollTop
    area.style.height = "auto"
    area.style.height = `${area.scrollHeight}px`
    scroll.scrollTop = top
  }

  const said = notices(app, id)
  const held = attachments(app, id)
  const updateTags = tagField(app, parts, () => copy.note(id)?.tags ?? tags, ensure)
  const take = chosen => {
    const kept = [...chosen]
    if (kept.length) app.attempt(ensure().then(() => held.take?.(kept)))
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
    meet(source)
    update()
  }, {signal})
  document.addEventListener("visibilitychange", () => { if (document.hidden) keep() }, {signal})
  addEventListener("pagehide", keep, {signal})

  done.onclick = read
  files.onchange = () => {
    take(files.files)
    files.value = ""
  }
  more.onclick = () => menu(more, "note-menu", {copyText: () => copyText(words)})
  area.oninput = event => {
    words = area.value
    hasTyped = true
    isComposing = event.isComposing
    fit()
    typed()
    engine.typing(id)
  }
  area.addEventListener("compositionend", () => { isComposing = false })
  area.onkeydown = event => {
    const isDone = event.key === "Escape" || event.key === "Enter" && (event.metaKey || event.ctrlKey)
    if (event.isComposing || !isDone) return
    event.preventDefault()
    read()
  }
  // When the window is left, it stays the active one.
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
    // Word processors add a picture of the words.
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

  measure.prepend(said.element)
  area.after(held.element)
  engine.opened(last ? id : null)
  update()
  return {
    element, write, isWriting: () => !area.hidden, focus: () => reading.focus({preventScroll: true}),
    stop: () => {
      commit()
      listening.abort()
      engine.opened(null)
      said.stop?.()
      held.stop?.()
    },
  }
}
