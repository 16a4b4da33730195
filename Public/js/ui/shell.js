// The frame around the views: three panes on wide screens, two on medium ones, one on phones; and which view a route shows.

import { fill, h, iconButton, set } from "./dom.js"
import { announce, dialog, startWidgets, toast } from "./widgets.js"
import { pages, parts } from "./views.js"

/**
 * What views are given. `go("#/note/…")` shows a route; `back()` goes where the person came from, or to the list.
 * @typedef {{
 *   copy: import("../store/copy.js").Copy, engine: import("../sync/engine.js").Engine, go: (route: string) => void, back: () => void,
 *   toast: typeof toast, announce: typeof announce, dialog: typeof dialog
 * }} App
 */
/**
 * A view: `title` stands over pages and in the tab; `stop` lets go of everything it listens to; `focus` puts the focus where one begins;
 * `take` (of "attachments") adds what was pasted or dropped and says whether it wanted it.
 * @typedef {{element: HTMLElement, title?: string, stop?: () => void, focus?: () => void, take?: (data: DataTransfer) => boolean}} View
 */
/** @typedef {(app: App, id: string) => View} Opener */

/** The route's first word and its ID: "#/note/5f0c…" is ["note", "5f0c…"], the list is ["", ""]. */
export const route = () => {
  const [name = "", id = ""] = location.hash.replace(/^#\/?/, "").split("/")
  return { name, id: decodeURIComponent(id) }
}

/** @param {App["copy"]} copy @param {App["engine"]} engine */
export const startShell = (copy, engine) => {
  /** @type {App} */
  const app = { copy, engine, toast, announce, dialog, go, back }
  const banners = h("div", { class: "banners" }, parts.banners?.(app, "").element)
  const main = h("main", { class: "main-pane" })
  const frame = h("div", { class: "app" }, banners, main)
  document.body.append(frame)
  startWidgets()

  /** @type {View | null} */
  let view = null
  const show = () => {
    const { name, id } = route()
    const opener = pages[copy.session ? name : "signin"]
    view?.stop?.()
    view = opener ? opener(app, id) : null
    document.title = view?.title ? `${view.title} · Hesper` : "Hesper"
    set(frame, "data-shows", copy.session ? name : "signin")
    fill(main, view && h("div", { class: "page" },
      copy.session && h("header", { class: "page-head" }, iconButton("back", "Back", { onclick: back }), h("h1", null, view.title)),
      h("div", { class: "page-body" }, view.element)))
    view?.focus?.()
  }
  addEventListener("hashchange", show)
  copy.addEventListener("session", show)
  show()
}

/** @param {string} to */
const go = to => { location.hash = to }

const back = () => history.length > 1 ? history.back() : go("#/")
