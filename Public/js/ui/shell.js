// The frame around the views: three panes on wide screens, two on medium ones, one on phones; which view a route shows, and where the focus goes.

import { newID } from "../model/uuid.js"
import { noteCommands, startKeys } from "./commands.js"
import { button, fill, h, iconButton, plural, set } from "./dom.js"
import { editor } from "./editor.js"
import { noteList } from "./list.js"
import { mark, setTheme, sidePane, theme } from "./tags.js"
import { takeDrops } from "./transfer.js"
import { announce, dialog, menu, startWidgets, toast } from "./widgets.js"
import { pages, parts } from "./views.js"

/**
 * What views are given.
 * - `go("#/note/…")` shows a route, `replace` without a way back; `back()` goes where the person came from, or to the list.
 * - `attempt(promise)` says it if it fails, `fail(error)` says it: the error's message is a sentence with the next step.
 * - `made(id)`: a new note is there now; `gone(id)`: the note is not there any more.
 * @typedef {{
 *   copy: import("../store/copy.js").Copy, engine: import("../sync/engine.js").Engine,
 *   go: (route: string, options?: {replace?: boolean, write?: boolean}) => void, back: () => void,
 *   attempt: (promise: Promise<any>) => Promise<void>, fail: (error: any) => void, made: (id: string) => void, gone: (id: string) => void,
 *   toast: typeof toast, announce: typeof announce, dialog: typeof dialog
 * }} App
 */
/**
 * A view: `title` stands over pages and in the tab; `stop` lets go of everything it listens to; `focus` puts the focus where one begins;
 * `take` (of "attachments") adds files that were chosen, pasted or dropped; the note is there by then.
 * @typedef {{element: HTMLElement, title?: string, stop?: () => void, focus?: () => void, take?: (files: File[]) => void}} View
 */
/** @typedef {(app: App, id: string) => View} Opener */

const wide = matchMedia("(min-width: 1100px)")
const narrow = matchMedia("(max-width: 719px)")

/** The route's first word and its ID: "#/note/5f0c…" is ["note", "5f0c…"], the list is ["", ""]. */
const route = () => {
  const [name = "", id = ""] = location.hash.replace(/^#\/?/, "").split("/")
  return { name, id: decodeURIComponent(id) }
}

/** @param {App["copy"]} copy @param {App["engine"]} engine */
export const startShell = (copy, engine) => {
  setTheme(theme())
  startWidgets()

  /** @type {import("./list.js").Scope} */
  let scope = { tag: null, archived: false }
  /** @type {View & {write?: () => void, isWriting?: () => boolean} | null} */
  let view = null
  let shown = "" // the route that is on the page
  let before = "" // the one that was before it
  let noteID = "" // the note that is open
  const scopeRoute = () => scope.tag ? `#/tag/${scope.tag}` : scope.archived ? "#/archive" : "#/"

  /** @type {App} */
  const app = {
    copy, engine, toast, announce, dialog,
    go: (to, { replace = false, write = false } = {}) => {
      if (to !== location.hash) history[replace ? "replaceState" : "pushState"](null, "", to)
      show()
      if (write) view?.write?.()
    },
    back: () => /^#?\/?$|^#\/(tag|archive|note)/.test(before) && before !== shown && history.length > 1 ? history.back() : app.go(scopeRoute(), { replace: true }),
    fail: error => {
      console.error(error)
      toast(error?.message || "That did not work. Reload the page and try again.", { seconds: 12 })
    },
    attempt: promise => promise.catch(app.fail),
    made: id => {
      if (noteID !== id || shown !== "#/new") return
      shown = `#/note/${id}`
      history.replaceState(null, "", shown)
      list.select(id)
    },
    gone: id => {
      if (noteID !== id || hasLeft) return
      app.go(scopeRoute(), { replace: true })
      toast("This note was deleted on another device.", { label: "Recently deleted", act: () => app.go("#/deleted") })
    },
  }
  let hasLeft = false
  takeDrops(app)

  const commands = noteCommands(app, {
    create: () => app.go("#/new", { write: true }),
    leave: id => {
      const next = list.after(id)
      const fromList = Boolean(list.focused())
      hasLeft = true
      return () => {
        setTimeout(() => { hasLeft = false })
        if (noteID === id) app.go(next && !narrow.matches ? `#/note/${next}` : scopeRoute(), { replace: true })
        if (fromList || noteID !== id) requestAnimationFrame(() => requestAnimationFrame(() => list.focus(next || undefined)))
      }
    },
  })
  const list = noteList(app, {
    open: (id, how) => {
      if (how === "look" && (narrow.matches || view?.isWriting?.())) return
      const isBrowsing = route().name === "note" && !narrow.matches
      app.go(`#/note/${id}`, { replace: isBrowsing, write: how === "write" })
    },
    empty: (where, query) => emptyList(app, where, query, commands.create, list.clear),
    menu: (row, id) => {
      const note = copy.note(id)
      menu(row, [
        { label: note?.pinned ? "Unpin" : "Pin", icon: "pin", hint: "P", act: () => commands.pin(id) },
        { label: note?.archived ? "Back from the archive" : "Archive", icon: "archive", hint: "E", act: () => commands.archive(id) },
        { label: "Delete", icon: "trash", hint: "Del", looks: "danger", act: () => commands.remove(id) },
      ])
    },
  })

  // The frame.
  const drawer = (/** @type {boolean} */ isOpen) => {
    frame.classList.toggle("drawer-open", isOpen)
    side.element.inert = !isOpen && !wide.matches
    set(menuButton, "aria-expanded", isOpen)
    for (const pane of [listPane, main]) pane.inert = isOpen && !wide.matches
    if (isOpen) side.focus()
    else if (side.element.contains(document.activeElement)) menuButton.focus()
  }
  const menuButton = iconButton("menu", "Tags and more", { class: "to-side", "aria-controls": "side", "aria-expanded": false, onclick: () => drawer(true) })
  const heading = h("h1", { class: "list-title", dir: "auto" })
  const listPane = h("section", { class: "list-pane", "aria-label": "Notes" },
    h("header", { class: "list-head" }, menuButton, heading, parts.indicator?.(app, "").element,
      iconButton("plus", "New note", { class: "create", "aria-keyshortcuts": "n", onclick: commands.create })),
    list.search, list.box, list.nothing)
  const main = h("main", { class: "main-pane" })
  const banners = h("div", { class: "banners" }, parts.banners?.(app, "").element)
  const veil = h("div", { class: "veil", onclick: () => drawer(false) })

  /** The note that a key is about: the row with the focus, else the one that is open. */
  const about = () => list.focused() || noteID
  /** @param {(id: string) => void} act */
  const withNote = act => () => { if (copy.note(about())) act(about()) }
  const shortcuts = startKeys([
    { group: "Notes", keys: ["n"], does: "New note", act: commands.create },
    { group: "Notes", keys: ["/", "Mod+k"], does: "Search", always: true, act: () => { if (narrow.matches || !list.box.offsetParent) app.go(scopeRoute()); list.find() } },
    { group: "Notes", keys: ["ArrowDown", "j"], does: "Next note", act: () => list.focus() },
    { group: "Notes", keys: ["ArrowUp", "k"], does: "Note before", act: () => list.focus() },
    { group: "Notes", keys: ["Enter"], does: "Open, then write", act: event => { if (event.target === document.body) view?.write?.() } },
    { group: "Notes", keys: ["Escape"], does: "Done writing, back to the list", act: () => leave() },
    { group: "The note", keys: ["e"], does: "Archive, or back", act: withNote(commands.archive) },
    { group: "The note", keys: ["p"], does: "Pin, or no longer", act: withNote(commands.pin) },
    { group: "The note", keys: ["Delete", "#"], does: "Delete", act: withNote(commands.remove) },
    { group: "The note", keys: ["t"], does: "Tags", act: withNote(id => { app.go(`#/note/${id}`); /** @type {HTMLElement | null} */ (main.querySelector(".tag-input"))?.focus() }) },
    { group: "The note", keys: ["h"], does: "History", act: withNote(id => app.go(`#/history/${id}`)) },
    { group: "The note", keys: ["Alt+ArrowUp"], does: "Move up", act: withNote(id => list.shift(id, -1)) },
    { group: "The note", keys: ["Alt+ArrowDown"], does: "Move down", act: withNote(id => list.shift(id, 1)) },
    { group: "Everywhere", keys: ["g"], does: "Go to notes and tags", act: () => wide.matches ? side.focus() : drawer(true) },
    { group: "Everywhere", keys: ["s"], does: "How sync stands", act: () => /** @type {HTMLElement | null} */ (listPane.querySelector(".sync-indicator"))?.click() },
  ], app)
  const leave = () => {
    if (frame.classList.contains("drawer-open")) return drawer(false)
    if (narrow.matches || frame.dataset.shows === "page") return app.back()
    list.focus(noteID || undefined)
  }
  const side = sidePane(app, { shortcuts, close: () => drawer(false) })
  const frame = h("div", { class: "app" }, banners, h("div", { class: "panes" }, side.element, listPane, main, veil))
  document.body.append(frame)

  /** Puts the view of the route on the page. */
  const show = () => {
    const { name, id } = copy.session ? route() : { name: "signin", id: "" }
    const now = `#/${name}${id && `/${id}`}`
    if (now === shown) return
    before = shown
    shown = now
    const hadRow = list.focused()
    view?.stop?.()
    view = null
    const wasNote = noteID
    noteID = name === "note" ? id : name === "new" ? newID() : ""
    const isList = name === "" || name === "tag" || name === "archive"
    if (isList) scope = { tag: name === "tag" ? id : null, archived: name === "archive" }
    if (isList || !before) list.show(scope)
    if (name === "note" && !copy.note(id)) return missing()
    if (noteID) {
      const opened = editor(app, noteID, { tags: scope.tag ? [scope.tag] : [], commands })
      view = opened
      fill(main, opened.element)
    } else if (pages[name]) {
      view = pages[name](app, id)
      const title = h("h1", { tabindex: -1 }, view.title)
      fill(main, h("div", { class: "page" },
        copy.session && h("header", { class: "page-head" }, iconButton("back", "Back", { onclick: app.back }), title),
        h("div", { class: "page-body" }, view.element)))
      if (view.focus) view.focus()
      else title.focus()
    } else if (!isList) {
      return app.go("#/", { replace: true })
    } else {
      fill(main, h("div", { class: "empty resting" }, mark(), h("p", null, "Choose a note, or press ", h("kbd", null, "n"), " for a new one.")))
    }
    // On a phone the list is all there is: then it is the main part.
    set(listPane, "role", isList && narrow.matches ? "main" : null)
    frame.dataset.shows = isList ? "list" : noteID ? "note" : copy.session ? "page" : "signin"
    list.select(noteID)
    side.current(isList || noteID ? scopeRoute() : now)
    titles()
    drawer(false)
    if (isList && wasNote && !hadRow) list.focus(wasNote)
    if (noteID && !hadRow && before) view?.focus?.()
    if (noteID && narrow.matches) view?.focus?.()
  }
  /** The note of an address may still be on its way, or be gone. */
  const missing = () => {
    frame.dataset.shows = "note"
    fill(main, h("div", { class: "empty" }, h("p", { class: "empty-title" }, "This note is not here"),
      h("p", null, engine.status.phase === "synced" ? "It was deleted, or belongs to another account." : "It may still be on its way to this browser."),
      h("div", { class: "actions" }, button("All notes", { class: "primary", onclick: () => app.go("#/") }), button("Recently deleted", { onclick: () => app.go("#/deleted") }))))
  }
  const titles = () => {
    const tag = scope.tag ? copy.tag(scope.tag) : null
    if (scope.tag && !tag) scope = { tag: null, archived: false }
    fill(heading, tag ? h("bdi", null, tag.name) : scope.archived ? "Archive" : "All notes")
    const title = noteID ? copy.note(noteID)?.title || "New note" : view?.title ?? heading.textContent
    document.title = `${title} · Hesper`
  }

  addEventListener("hashchange", show)
  addEventListener("popstate", show)
  let who = copy.session?.account.uniqueID
  copy.addEventListener("session", () => {
    const now = copy.session?.account.uniqueID
    if (now !== who) { who = now; shown = ""; show() }
  })
  copy.addEventListener("change", event => {
    const { ids } = /** @type {CustomEvent<{ids: Set<string> | null}>} */ (event).detail
    if (noteID && !view && (!ids || ids.has(noteID)) && copy.note(noteID)) { shown = ""; show() }
    if (!ids || ids.has(noteID) || scope.tag && ids.has(scope.tag)) titles()
  })
  wide.addEventListener("change", () => drawer(false))
  show()
}

/**
 * What an empty list says to do.
 * @param {App} app @param {import("./list.js").Scope} scope @param {string} query @param {() => void} create @param {() => void} clear
 */
const emptyList = ({ copy, engine, go }, scope, query, create, clear) => {
  /** @param {string} title @param {...import("./dom.js").Child} rest */
  const say = (title, ...rest) => h("div", { class: "empty" }, h("p", { class: "empty-title" }, title), ...rest)
  const { toFetch, phase } = engine.status
  if (query) {
    return say("Nothing found", h("p", null, "No ", scope.archived ? "archived note" : "note", scope.tag && " with this tag", " has all of these words."),
      h("div", { class: "actions" }, button("Clear the search", { onclick: clear }), (scope.tag || scope.archived) && button("Search all notes", { onclick: () => go("#/") })))
  }
  if (scope.archived) return say("The archive is empty", h("p", null, "Press ", h("kbd", null, "e"), " on a note to put it away. It stays searchable."))
  if (scope.tag) return say("No notes with this tag", h("p", null, "Write the first one here, or add the tag under a note’s text."), button("New note", { class: "primary", onclick: create }))
  if (phase === "syncing" && toFetch.objects) return say("Your notes are on their way", h("p", null, plural(toFetch.objects, "object"), " to fetch. The first ones show as they come."))
  return say("Good evening", h("p", null, "Write your first note. It is kept in this browser at once, and on your other devices as soon as there is a network."),
    button("New note", { class: "primary", onclick: create }),
    h("p", { class: "small" }, "Notes from elsewhere? ", h("a", { href: "#/transfer" }, "Import them"), copy.notes({ archived: true }).length > 0 && [" · ", h("a", { href: "#/archive" }, "The archive")]))
}
