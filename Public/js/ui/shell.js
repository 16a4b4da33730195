// The frame around the views: three panes on wide screens, two on medium ones, one on phones; which view a route shows,
// and where the focus goes. Routes: "#/" "#/tag/<id>" "#/archive" (the list), "#/note/<id>", and `pages`.

import { newID } from "../model/hash.js"
import { devices, signin, takeDrops, transfer } from "./account.js"
import { noteCommands, startKeys } from "./commands.js"
import { button, fill, h, iconButton, plural, set } from "./dom.js"
import { editor } from "./editor.js"
import { banners, deleted, edits } from "./history.js"
import { noteList } from "./list.js"
import { takeKept } from "./saving.js"
import { indicator } from "./sync-panel.js"
import { mark, setTheme, sidePane } from "./tags.js"
import { actOnToast, announce, dialog, menu, startWidgets, toast } from "./widgets.js"

/** By the first word of the route. */
const pages = { signin, deleted, devices, history: edits, transfer }

const wide = matchMedia("(min-width: 1100px)")
const narrow = matchMedia("(max-width: 719px)")

/** @param {Copy} copy @param {Engine} engine */
export const startShell = (copy, engine) => {
  setTheme()
  startWidgets()

  /** @type {Scope} */
  let scope = { tag: null, archived: false }
  /** @type {Partial<Editor> | null} */
  let view = null
  let shown = "" // the route that is on the page
  let before = "" // the one that was before it
  let noteID = "" // the note that is open
  let fresh = "" // the same, if it is new: it is made with its first words
  let isLeaving = false // a command is about to go where the note was
  let who = copy.session?.account.uniqueID
  const home = () => scope.tag ? `#/tag/${scope.tag}` : scope.archived ? "#/archive" : "#/"

  /** @type {Shell} */
  const app = {
    copy, engine, toast, announce, dialog,
    go: (to, { replace = false, write = false } = {}) => {
      if (to !== location.hash) history[replace ? "replaceState" : "pushState"](null, "", to)
      show()
      if (write) view?.write?.()
    },
    back: () => before && before !== shown ? history.back() : app.go(home(), { replace: true }),
    fail: error => {
      console.warn(error)
      toast(error?.message || "That did not work. Reload the page and try again.", { seconds: 12 })
    },
    attempt: promise => promise.catch(app.fail),
    gone: id => {
      if (noteID !== id || isLeaving) return
      app.go(home(), { replace: true })
      toast("This note was deleted.", { label: "Recently deleted", act: () => app.go("#/deleted") })
    },
  }
  const create = () => {
    fresh = newID()
    app.go(`#/note/${fresh}`, { write: true })
  }
  const commands = noteCommands(app, id => {
    const next = list.after(id)
    isLeaving = true
    return () => {
      const hadRow = noteID !== id || list.focused()
      setTimeout(() => { isLeaving = false })
      if (noteID === id) app.go(next && !narrow.matches ? `#/note/${next}` : home(), { replace: true })
      // After the list took its rows anew.
      if (hadRow) setTimeout(() => list.focus(next), 20)
    }
  })
  const list = noteList(app, {
    open: (id, how) => {
      if (how === "look" && (narrow.matches || view?.isWriting?.())) return
      app.go(`#/note/${id}`, { replace: Boolean(noteID) && !narrow.matches, write: how === "write" })
    },
    empty: (where, query) => emptyList(app, where, query, create, list.clear),
    menu: (row, id) => {
      const { pinned, archived } = copy.note(id) ?? {}
      const away = archived ? "Back from the archive" : "Archive"
      menu(row, [
        { label: pinned ? "Unpin" : "Pin", icon: "pin", hint: "p", act: () => commands.pin(id) },
        { label: away, icon: "archive", hint: "e", act: () => commands.archive(id) },
        { label: "Delete", icon: "trash", hint: "Del", looks: "danger", act: () => commands.remove(id) },
      ])
    },
  })

  /** @param {boolean} isOpen */
  const drawer = isOpen => {
    const hadFocus = side.element.contains(document.activeElement)
    frame.classList.toggle("drawer-open", isOpen)
    side.element.inert = !isOpen && !wide.matches
    listPane.inert = main.inert = isOpen && !wide.matches
    set(toSide, "aria-expanded", isOpen)
    if (isOpen) side.focus()
    else if (hadFocus && !wide.matches) toSide.focus()
  }
  const toSide = iconButton("menu", "Tags and more", { class: "to-side", "aria-controls": "side",
    "aria-expanded": false, onclick: () => drawer(true) })
  const heading = h("h1", { class: "list-title", dir: "auto" })
  const syncButton = indicator(app, "").element
  const plus = iconButton("plus", "New note", { class: "create", "aria-keyshortcuts": "n", onclick: create })
  const listPane = h("section", { class: "list-pane", "aria-label": "Notes" },
    h("header", { class: "list-head" }, toSide, heading, syncButton, plus), list.parts)
  const main = h("main", { class: "main-pane" })

  /**
   * For a key that is about a note: the row with the focus, else the one that is open.
   * @param {(id: string) => void} act @returns {() => void}
   */
  const about = act => () => {
    const id = list.focused() || noteID
    if (copy.note(id)) act(id)
  }
  const shortcuts = startKeys([
    ["Notes", "New note", "n", create],
    ["Notes", "Search", "/ Mod+k", () => {
      if (narrow.matches || !list.parts[0].offsetParent) app.go(home())
      list.find()
    }],
    ["Notes", "Next note", "ArrowDown j", () => list.focus()],
    ["Notes", "Note before", "ArrowUp k", () => list.focus()],
    ["Notes", "Open, then write", "Enter", () => view?.write?.()],
    ["Notes", "Done; back to the list", "Escape", () => {
      if (frame.classList.contains("drawer-open")) drawer(false)
      else if (narrow.matches && noteID || frame.dataset.shows === "page") app.back()
      else list.focus(noteID || undefined)
    }],
    ["The note", "Archive, or back", "e", about(commands.archive)],
    ["The note", "Pin, or no longer", "p", about(commands.pin)],
    ["The note", "Delete", "Delete #", about(commands.remove)],
    ["The note", "Tags", "t", about(id => {
      app.go(`#/note/${id}`)
      const field = /** @type {HTMLElement | null} */ (main.querySelector(".tag-input"))
      field?.focus()
    })],
    ["The note", "History", "h", about(id => app.go(`#/history/${id}`))],
    ["The note", "Move up", "Alt+ArrowUp", about(id => list.shift(id, -1))],
    ["The note", "Move down", "Alt+ArrowDown", about(id => list.shift(id, 1))],
    ["Everywhere", "Go to notes and tags", "g", () => wide.matches ? side.focus() : drawer(true)],
    ["Everywhere", "How sync stands", "s", () => syncButton.click()],
    ["Everywhere", "Undo deleting, archiving", "Mod+z", () => actOnToast()],
  ], app)
  const side = sidePane(app, { shortcuts, close: () => drawer(false) })
  const frame = h("div", { class: "app" }, h("div", { class: "banners" }, banners(app, "").element),
    h("div", { class: "panes" }, side.element, listPane, main,
      h("div", { class: "veil", onclick: () => drawer(false) })))
  document.body.append(frame)

  /** Puts the view of the route on the page. */
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
    if (isList) scope = { tag: name === "tag" ? id : null, archived: name === "archive" }
    if (isList || !before) list.show(scope)
    if (fresh || copy.note(noteID)) {
      view = editor(app, noteID, { tags: scope.tag ? [scope.tag] : [], commands })
      fill(main, view.element)
    } else if (noteID) {
      // It may still be on its way, or be gone.
      const isSynced = engine.status.phase === "synced"
      const why = isSynced ? "It was deleted, or belongs to another account." : "It may still be on its way to this browser."
      fill(main, say("This note is not here", h("p", null, why),
        h("div", { class: "actions" }, button("All notes", { class: "primary", onclick: () => app.go("#/") }),
          button("Recently deleted", { onclick: () => app.go("#/deleted") }))))
    } else if (Object.hasOwn(pages, name)) {
      const page = view = pages[name](app, id)
      const title = h("h1", { tabindex: -1 }, page.title)
      page.focus ??= () => title.focus()
      fill(main, h("div", { class: "page" },
        copy.session && h("header", { class: "page-head" }, iconButton("back", "Back", { onclick: app.back }), title),
        h("div", { class: "page-body" }, page.element)))
    } else if (isList) {
      fill(main, h("div", { class: "empty resting" }, mark(),
        h("p", null, "Choose a note, or press ", h("kbd", null, "n"), " for a new one.")))
    } else return app.go("#/", { replace: true })
    // On a phone the list is all there is: then it is the main part.
    set(listPane, "role", isList && narrow.matches ? "main" : null)
    frame.dataset.shows = isList ? "list" : noteID ? "note" : copy.session ? "page" : "signin"
    list.select(noteID)
    side.current(isList || noteID ? home() : now)
    drawer(false)
    titles()
    if (isList && wasNote && !hadRow) list.focus(wasNote)
    else if (!isList && (!noteID || narrow.matches || before && !hadRow)) view?.focus?.()
  }
  const titles = () => {
    const tag = copy.tag(scope.tag ?? "")
    const name = tag?.name ?? (scope.archived ? "Archive" : "All notes")
    fill(heading, name)
    document.title = `${noteID ? copy.note(noteID)?.title || "New note" : view?.title ?? name} · Hesper`
  }

  takeDrops(app)
  addEventListener("popstate", show)
  addEventListener("hashchange", show)
  wide.addEventListener("change", () => drawer(false))
  const again = () => {
    shown = ""
    show()
  }
  copy.addEventListener("session", () => {
    if (who === (who = copy.session?.account.uniqueID)) return
    again()
    app.attempt(takeKept(copy)) // Whoever signs out leaves nothing.
  })
  copy.addEventListener("change", event => {
    const { ids } = /** @type {CustomEvent<{ids: Set<string> | null}>} */ (event).detail
    if (ids && !ids.has(noteID) && !ids.has(scope.tag ?? "")) return
    if (noteID && !view && copy.note(noteID)) again()
    titles()
  })
  show()
  app.attempt(takeKept(copy))
}

/** @param {string} title @param {...import("./dom.js").Child} rest */
const say = (title, ...rest) => h("div", { class: "empty" }, h("p", { class: "empty-title" }, title), ...rest)

/**
 * What an empty list says to do.
 * @param {Shell} app @param {Scope} scope @param {string} query @param {() => void} create @param {() => void} clear
 */
const emptyList = ({ copy, engine, go }, { archived, tag }, query, create, clear) => {
  const { toFetch } = engine.status
  const write = button("New note", { class: "primary", onclick: create })
  const all = button("Search all notes", { onclick: () => go("#/") })
  if (query) {
    const which = `${archived ? "archived " : ""}note${tag ? " with this tag" : ""}`
    return say("Nothing found", h("p", null, `No ${which} has all of these words.`),
      h("div", { class: "actions" }, button("Clear the search", { onclick: clear }), (tag || archived) && all))
  }
  if (archived) {
    return say("The archive is empty",
      h("p", null, "Put a note away with its button Archive, or with ", h("kbd", null, "e"), ". Search still finds it."))
  }
  if (tag) {
    return say("No notes with this tag",
      h("p", null, "Write the first one, or add the tag under the text of another."), write)
  }
  if (toFetch.objects) {
    return say("Your notes are on their way",
      h("p", null, plural(toFetch.objects, "object"), " to fetch. The newest come first."))
  }
  return say("A blank page", h("p", null, "Write your first note. It is kept in this browser at once, and on your other ",
    "devices when there is a network."), write,
    h("p", { class: "small" }, "Notes from elsewhere? ", h("a", { href: "#/transfer" }, "Import them"),
      copy.notes({ archived: true }).length > 0 && [" · ", h("a", { href: "#/archive" }, "The archive")]))
}
