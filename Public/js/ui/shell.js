// The frame: which view a route shows, where the focus goes, keyboard shortcuts.

import {newID} from "../model/hash.js"
import {sharedText} from "../model/text.js"
import {devices, signin} from "./account.js"
import {actOnToast, announce, copyOf, dialog, failureWords, fill, toast, tryIn, viewOf, wordsOf} from "./dom.js"
import {noteList} from "./list.js"
import {editor, takeKept} from "./note.js"
import {setTheme, sidePane} from "./side.js"
import {banners, indicate, news, openSync} from "./status.js"
import {takeDrops, transfer} from "./transfer.js"

/**
 * A page whose module is loaded when the page is opened; `id` is its template.
 *
 * @type {(id: string, load: (app: Shell, id?: any) => Promise<Pane>) => Opener}
 */
const later = (id, load) => (app, ...rest) => {
  const element = viewOf("later", viewOf(id).dataset)
  let isOver = false
  /** @type {Pane | undefined} */
  let page
  const loaded = tryIn(element, async () => {
    page = await load(app, ...rest)
    return page.element
  })
  const stop = () => {
    isOver = true
    page?.stop?.()
  }
  loaded.then(() => { if (isOver) stop() })
  return {element, stop, focus: () => loaded.then(() => { if (!isOver) page?.focus?.() })}
}

const pages = {
  __proto__: null, signin, devices, transfer,
  capture: later("capture", async app => (await import("./capture.js")).capture(app)),
  deleted: later("recent", async app => (await import("./history.js")).deleted(app)),
  history: later("history", async (app, id) => (await import("./history.js")).edits(app, id)),
}

/**
 * Moves text that another app shares from the address into the entry of the browser's history, where a reload finds it again. The
 * bookmarklet has the text behind "#": the server does not receive it, and it can be longer than an address may be.
 */
const takeShared = () => {
  if (location.pathname !== "/capture") return
  const shared = new URLSearchParams(`${location.search.slice(1)}&${location.hash.slice(1)}`)
  history.replaceState({shared: sharedText(Object.fromEntries(shared))}, "", "/#/capture")
}
const wide = matchMedia("(min-width: 1100px)")
const narrow = matchMedia("(max-width: 719px)")

/** A key with its modifiers, as `keys` has it: "Mod+k". */
const nameOf = ({key, code, ctrlKey, metaKey, altKey}) => {
  // On keyboards without Latin letters, the position of the key decides.
  const letter = /^[^ -~]$/.test(key) && code.startsWith("Key") ? code.slice(3) : key
  return (ctrlKey || metaKey ? "Mod+" : "") + (altKey ? "Alt+" : "") + (letter[1] ? letter : letter.toLowerCase())
}

/** Whether single letters are shortcuts. They can be turned off (WCAG 2.1.4). */
const hasLetters = () => localStorage.letters !== "false"

const showShortcuts = () => dialog(viewOf("shortcuts", {
  letters: {checked: hasLetters(), onchange: ({target}) => { localStorage.letters = target.checked }},
}))

/** Shortcuts that work wherever the focus is, except in text fields. All others work only if the list, or nothing, has the focus. */
const EVERYWHERE = ["Enter", "Escape", "Mod+k", "Mod+z"]

/** Handles shortcuts, and clicks on elements with `data-key`. */
const startKeys = (keys, listPane) => {
  addEventListener("click", ({target}) => keys[/** @type {any} */ (target).closest("[data-key]")?.dataset.key]?.())
  addEventListener("keydown", event => {
    const name = nameOf(event)
    const at = /** @type {HTMLInputElement} */ (event.target)
    if (!keys[name] || event.defaultPrevented || event.isComposing) return
    if (document.querySelector("dialog[open], :popover-open")) return
    // The search field has the focus when the last note of the list was deleted. It is empty then.
    const isIdle = name === "Mod+k" || name === "Mod+z" && at.matches("[type=search]") && !at.value
    if (at.matches("input:not([type=checkbox], [type=file]), textarea, select, [contenteditable]") && !isIdle) return
    const isFree = at === document.body || name === "Enter" && at.matches(".after-text")
    if (/^(Enter|Arrow\w+)$/.test(name) && !isFree || !name[1] && !hasLetters()) return
    if (!EVERYWHERE.includes(name) && at !== document.body && !listPane.contains(at)) return
    event.preventDefault()
    keys[name]()
  })
}

/**
 * Shows the frame, and the view of the address from now on.
 *
 * @param {Copy} copy
 * @param {Engine} engine
 */
export const startShell = (copy, engine) => {
  const parts = copyOf("app")
  const {element: frame, over, side, listPane, heading, input, main} = parts
  let scope = {tag: "", archived: false}
  let view = /** @type {any} */ (null)
  let shown = ""
  let before = ""
  let noteID = "" // the open note
  let fresh = "" // the same, if it does not exist yet
  let isLoaded = false
  let account = copy.session?.account.uniqueID
  const home = () => scope.tag ? `#/tag/${scope.tag}` : scope.archived ? "#/archive" : "#/"

  /** Archives or deletes a note: the next one in the list takes its place. */
  const takeAway = (note, said, work, undo) => {
    const id = note.uniqueID
    const next = list.after(id)
    const hadRow = noteID !== id || list.focused()
    if (noteID === id) app.go(next && !narrow.matches ? `#/note/${next}` : home(), {replace: true})
    if (hadRow) list.focus(next)
    app.undoable(work, undo, said, note)
  }
  /** A shortcut for the focused or open note. `name`: what bulk.js does instead if several notes are selected. */
  const forNote = (act, name = "") => () => {
    const several = name ? list.selected() : []
    if (name === "remove" && several.includes(noteID)) app.go(home(), {replace: true})
    if (several.length) return app.attempt(import("./bulk.js").then(bulk => bulk[name](app, list)))
    const note = copy.note(list.focused() || noteID)
    if (note) act(note.uniqueID, note)
  }
  const create = () => {
    fresh = newID()
    app.go(`#/note/${fresh}`, {write: true})
  }
  const find = () => {
    if (narrow.matches || !input.offsetParent) app.go(home())
    input.focus()
    input.select()
  }
  const toList = () => list.focus()
  const toastDeleted = said => toast(said, {}, () => app.go("#/deleted"))

  const keys = {
    n: () => {
      const tag = copy.tag(scope.tag)
      if (!tag || copy.resolve(scope.tag)) return create()
      // A name that only tags below it have becomes a tag, for the new note.
      app.attempt(copy.createTag(tag.name).then(id => {
        scope = {...scope, tag: id}
        create()
      }))
    },
    "/": find, "Mod+k": find, ArrowDown: toList, j: toList, ArrowUp: toList, k: toList,
    Enter: () => view?.write?.(),
    Escape: () => {
      if (list.endSelection()) return
      if (!(narrow.matches && noteID) && frame.dataset.shows !== "page") list.focus(noteID)
      else if (before) history.back()
      else app.go(home(), {replace: true})
    },
    "Mod+e": forNote((id, note) => takeAway(note, "archived", copy.setArchived([id], !note.archived),
      () => copy.setArchived([id], note.archived)), "archive"),
    p: forNote((id, note) => app.attempt(copy.setAttribute(id, "pinned", !note.pinned).then(() => announce("pinned", note))), "pin"),
    "Mod+Delete": forNote((id, note) => {
      const wasOpen = noteID === id
      takeAway(note, "deleted", copy.remove(id), async () => {
        if (!await copy.undoRemove(id)) toastDeleted("too-late")
        else if (wasOpen) app.go(`#/note/${id}`)
        else list.focus(id)
      })
    }, "remove"),
    "Mod+Backspace": () => keys["Mod+Delete"](),
    t: forNote(id => {
      app.go(`#/note/${id}`)
      main.querySelector(".tag-input").focus()
    }, "tag"),
    h: forNote(id => app.go(`#/history/${id}`)),
    "Alt+ArrowUp": forNote(id => list.shift(id, -1)),
    "Alt+ArrowDown": forNote(id => list.shift(id, 1)),
    g: () => wide.matches ? pane.focus() : side.showPopover(),
    s: () => openSync(app),
    "Mod+z": actOnToast,
    "?": showShortcuts,
  }
  /** @type {Shell} */
  const app = {
    copy, engine, searchBox: input,
    go: (to, {replace = false, write = false} = {}) => {
      if (to !== location.hash) history[replace ? "replaceState" : "pushState"](null, "", to)
      show()
      if (write !== false) view?.write?.(write === true ? undefined : write)
    },
    fail: error => {
      console.warn(error)
      toast("failed", {message: failureWords(error)})
    },
    attempt: promise => promise.catch(app.fail),
    undoable: (work, undo, said, values) => app.attempt(work.then(() => toast(said, values, () => app.attempt(undo())))),
    gone: id => {
      if (noteID !== id) return
      app.go(home(), {replace: true})
      toastDeleted("gone")
    },
  }
  const list = noteList(app, parts, (id, how) => {
    if (how === "look" && (narrow.matches || view?.isWriting?.())) return
    app.go(`#/note/${id}`, {replace: Boolean(noteID) && !narrow.matches, write: how === "write"})
  })
  const pane = sidePane(app, parts)

  /** Shows a note or a page; false if there is no such page. */
  const put = (name, id) => {
    if (fresh || copy.note(noteID)) {
      view = editor(app, noteID, copy.resolve(scope.tag) ? [scope.tag] : [])
      fill(main, view.element)
    } else if (noteID) fill(main, isLoaded && viewOf("missing"))
    else if (pages[name]) {
      const page = view = pages[name](app, id)
      const {element, title} = copyOf("page", {title: page.element.dataset.title, isIn: copy.session, body: page.element})
      page.focus ??= () => title.focus()
      fill(main, element)
    } else return false
    return true
  }
  const show = () => {
    const [name, id] = copy.session ? location.hash.replace(/^#?\/?/, "").split(/[/?]/) : ["signin"]
    const now = `#/${name}${id ? `/${id}` : ""}`
    if (now === shown) return
    const hadRow = list.focused()
    const wasNote = noteID
    view?.stop?.()
    view = null
    before = shown
    shown = now
    noteID = name === "note" ? id : ""
    if (noteID !== fresh) fresh = ""
    const isList = ["", "tag", "archive"].includes(name)
    if (isList) scope = {tag: name === "tag" ? id : "", archived: name === "archive"}
    if (isList || !before) list.show(scope)
    if (isList) fill(main, viewOf("resting"))
    else if (!put(name, id)) return app.go("#/", {replace: true})
    listPane.role = isList && narrow.matches ? "main" : null
    frame.dataset.shows = isList ? "list" : noteID ? "note" : copy.session ? "page" : "signin"
    list.select(noteID)
    pane.current(isList || noteID ? home() : now)
    side.hidePopover()
    updateTitle()
    if (isList && wasNote && !hadRow) list.focus(wasNote)
    else if (!isList && (!noteID || narrow.matches || before && !hadRow)) view?.focus?.()
  }
  const updateTitle = () => {
    const name = copy.tag(scope.tag)?.name ?? wordsOf(scope.archived ? "archive" : "all-notes")
    fill(heading, name)
    document.title = `${noteID ? copy.note(noteID)?.title || wordsOf("new-note") : view?.element.dataset.title ?? name} · Hesper`
  }
  const again = () => {
    shown = ""
    show()
  }

  takeShared()
  setTheme()
  startKeys(keys, listPane)
  takeDrops(app)
  indicate(app, parts)
  over.append(news, banners(app).element)
  document.body.prepend(frame)
  addEventListener("popstate", show)
  addEventListener("hashchange", show)
  wide.addEventListener("change", () => side.hidePopover())
  copy.addEventListener("session", () => {
    const before = account
    account = copy.session?.account.uniqueID
    if (account === before) return
    again()
    app.attempt(takeKept(copy))
  })
  copy.addEventListener("change", ({detail: {ids}}) => {
    if (ids && !ids.has(noteID) && !ids.has(scope.tag)) return
    if (noteID && !view && copy.note(noteID)) again()
    updateTitle()
  })
  copy.loaded.then(() => {
    isLoaded = true
    if (noteID && !view) again()
  })
  show()
  app.attempt(takeKept(copy))
}
