// The pane at the side: all notes, the archive, the tags, and the way to everything else.

import { fill, h, icon, iconButton, set } from "./dom.js"
import { menu } from "./widgets.js"

/** The evening star over the horizon. */
export const mark = () => {
  const image = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  for (const [d, name] of [["M12 2.5c.7 5.3 2.700 7.3 8 8-5.3.7-7.3 2.700-8 8-.7-5.3-2.700-7.3-8-8 5.3-.7 7.3-2.700 8-8z", "star"], ["M3 21.200h18", "horizon"]]) {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path")
    path.setAttribute("d", d)
    path.setAttribute("class", name)
    image.append(path)
  }
  image.setAttribute("viewBox", "0 0 24 24")
  image.setAttribute("class", "mark")
  image.setAttribute("aria-hidden", "true")
  return image
}

/** @typedef {"system" | "light" | "dark"} Theme */

/**
 * The theme of this browser.
 * @returns {Theme}
 */
export const theme = () => {
  const chosen = localStorage.getItem("theme")
  return chosen === "light" || chosen === "dark" ? chosen : "system"
}

/** @param {Theme} choice */
export const setTheme = choice => {
  localStorage.setItem("theme", choice)
  if (choice === "system") delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = choice
  // The browser's own frame takes the colour of the page.
  for (const meta of document.querySelectorAll("meta[name=theme-color]")) {
    meta.setAttribute("content", (choice === "system" ? meta.getAttribute("media")?.includes("dark") : choice === "dark") ? "#12132a" : "#f5f1e8")
  }
}

/**
 * @param {import("./shell.js").App} app
 * @param {{shortcuts: () => void, close: () => void}} frame
 */
export const sidePane = (app, { shortcuts, close }) => {
  const { copy } = app
  const list = h("ul", { class: "side-list", "aria-label": "Tags" })
  const places = h("ul", { class: "side-list" })
  const others = h("ul", { class: "side-list" },
    [["#/deleted", "trash", "Recently deleted"], ["#/devices", "device", "Account and devices"], ["#/transfer", "transfer", "Import and export"]].map(([href, drawing, label]) =>
      h("li", null, h("a", { href, class: "side-link" }, icon(drawing), h("span", null, label)))))
  const look = iconButton("moon", "Light or dark", { "aria-haspopup": "menu", "aria-expanded": false, onclick: () =>
    menu(look, /** @type {[Theme, string, string][]} */ ([["system", "Like the system", "laptop"], ["light", "Light", "sun"], ["dark", "Dark", "moon"]])
      .map(([choice, label, drawing]) => ({ label, icon: drawing, checked: theme() === choice, act: () => setTheme(choice) }))) })
  const account = h("span", { class: "side-account muted small" })
  const element = h("nav", { class: "side", "aria-label": "Notes and tags", id: "side" },
    h("div", { class: "side-head" }, mark(), h("span", { class: "wordmark" }, "Hesper"), iconButton("close", "Close", { class: "side-close", onclick: close })),
    h("div", { class: "side-scroll" }, places, h("h2", { class: "side-title" }, "Tags"), list, h("hr"), others),
    h("div", { class: "side-foot" }, account, look, iconButton("help", "Keyboard", { onclick: shortcuts })))

  /** @param {string} id */
  const rename = id => {
    const tag = copy.tag(id)
    const row = list.querySelector(`[data-tag="${CSS.escape(id)}"]`)
    if (!tag || !row) return
    let isDone = false
    /** @param {boolean} isWanted */
    const end = isWanted => {
      if (isDone) return
      isDone = true
      const name = input.value.trim()
      const other = copy.tagNamed(name)
      update()
      link(id)?.focus()
      if (!isWanted || !name || name === tag.name) return
      app.attempt(copy.renameTag(id, name).then(() => {
        app.toast(other && other !== id ? `“${tag.name}” and “${name}” become one tag` : `Renamed to “${name}”`)
      }))
    }
    const input = h("input", { type: "text", class: "side-rename", value: tag.name, "aria-label": `New name of the tag ${tag.name}`, dir: "auto", maxlength: 100,
      onblur: () => end(true),
      onkeydown: /** @param {KeyboardEvent} event */ event => {
        if (event.isComposing) return
        event.stopPropagation()
        if (event.key === "Enter" || event.key === "Escape") end(event.key === "Enter")
      } })
    fill(row, input)
    input.select()
  }
  /** @param {string} id */
  const remove = id => {
    const name = copy.tag(id)?.name
    if (location.hash === `#/tag/${id}`) app.go("#/")
    app.attempt(copy.remove(id).then(() => app.toast(`Tag “${name}” deleted`, { label: "Undo", seconds: 10, act: () => app.attempt(copy.undoRemove(id)) })))
  }
  /** @param {string} id */
  const link = id => /** @type {HTMLElement | null} */ (list.querySelector(`[data-tag="${CSS.escape(id)}"] > a`))

  /** @param {string} href @param {string} drawing @param {string} name @param {number} count */
  const place = (href, drawing, name, count) => h("li", null, h("a", { href, class: "side-link" }, icon(drawing), h("span", null, name), countOf(count)))
  /** @param {number} count */
  const countOf = count => h("span", { class: "count number" }, count ? count.toLocaleString() : "", h("span", { class: "visually-hidden" }, count === 1 ? " note" : " notes"))

  const update = () => {
    if (list.querySelector("input")) return
    const focused = document.activeElement?.closest("[data-tag]")?.getAttribute("data-tag")
    fill(places, place("#/", "notes", "All notes", copy.notes({}).length), place("#/archive", "archive", "Archive", copy.notes({ archived: true }).length))
    const tags = copy.tags()
    fill(list, tags.map(({ uniqueID: id, name, count }) => {
      const more = iconButton("more", `Tag ${name}: rename or delete`, { class: "side-more", tabindex: -1, "aria-haspopup": "menu", "aria-expanded": false, onclick: () => menu(more, [
        { label: "Rename", icon: "pencil", hint: "F2", act: () => rename(id) },
        { label: "Delete", icon: "trash", hint: "Del", looks: "danger", act: () => remove(id) }]) })
      return h("li", { "data-tag": id, "data-drop-tag": id },
        h("a", { href: `#/tag/${id}`, class: "side-link", "aria-keyshortcuts": "F2 Delete" }, icon("tag"), h("bdi", { class: "side-name" }, name), countOf(count)), more)
    }), !tags.length && h("li", { class: "side-hint muted small" }, "Tags that you give your notes are listed here."))
    fill(account, copy.session?.account.email)
    account.title = copy.session?.account.email ?? ""
    if (focused) link(focused)?.focus()
    current()
  }
  /** Marks where one is. */
  const current = (href = element.dataset.current ?? "#/") => {
    element.dataset.current = href
    for (const link of element.querySelectorAll("a")) set(link, "aria-current", link.getAttribute("href") === href ? "page" : null)
  }

  list.addEventListener("keydown", event => {
    const id = /** @type {Element} */ (event.target).closest("[data-tag]")?.getAttribute("data-tag")
    if (!id || event.key !== "F2" && event.key !== "Delete") return
    event.preventDefault()
    event.stopPropagation()
    if (event.key === "F2") rename(id)
    else remove(id)
  })
  element.addEventListener("keydown", event => {
    const links = /** @type {HTMLElement[]} */ ([...element.querySelectorAll(".side-link")])
    const at = links.indexOf(/** @type {HTMLElement} */ (document.activeElement))
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key]
    if (at < 0 || to === undefined) return
    event.preventDefault()
    links[to]?.focus()
  })
  element.addEventListener("click", event => { if (/** @type {Element} */ (event.target).closest("a")) close() })

  let waiting = 0
  copy.addEventListener("change", () => { waiting ||= requestAnimationFrame(() => { waiting = 0; update() }) })
  copy.addEventListener("session", update)
  update()
  return { element, current, focus: () => /** @type {HTMLElement | null} */ (element.querySelector("[aria-current]") ?? element.querySelector("a"))?.focus() }
}
