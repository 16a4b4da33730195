// Tags: the pane at the side with all of them, and the field under a note's text that completes their names.

import { foldName } from "../model/terms.js"
import { fill, h, icon, iconButton, set } from "./dom.js"
import { menu } from "./widgets.js"

/** The evening star over the horizon. */
export const mark = () => icon("mark", "mark")

/** @typedef {"system" | "light" | "dark"} Theme */

/** @returns {Theme} of this browser */
const theme = () => /** @type {Theme} */ (localStorage.getItem("theme") ?? "system")

/** @param {Theme} choice */
export const setTheme = (choice = theme()) => {
  localStorage.setItem("theme", choice)
  const root = document.documentElement
  set(root, "data-theme", choice === "system" ? null : choice)
  // The browser's own frame takes the colour of the page.
  for (const meta of document.querySelectorAll("meta[name=theme-color]")) {
    const isDark = choice === "system" ? meta.getAttribute("media")?.includes("dark") : choice === "dark"
    set(meta, "content", isDark ? "#12132a" : "#f5f1e8")
  }
}

/**
 * All notes, the archive, the tags, and the way to everything else.
 * @param {Shell} app @param {{shortcuts: () => void, close: () => void}} frame
 */
export const sidePane = (app, { shortcuts, close }) => {
  const { copy, toast, attempt } = app
  /** @param {string} href @param {string} name of the icon @param {string} label @param {number} [count] */
  const link = (href, name, label, count) => h("a", { href, class: "side-link" }, icon(name), h("bdi", null, label),
    count !== undefined && h("span", { class: "count number" }, count > 0 && count.toLocaleString(),
      h("span", { class: "visually-hidden" }, count === 1 ? " note" : " notes")))
  const places = h("ul", { class: "side-list" })
  const list = h("ul", { class: "side-list", "aria-label": "Tags" })
  const others = [["deleted", "trash", "Recently deleted"], ["devices", "device", "Account and devices"],
    ["transfer", "transfer", "Import and export"]]
    .map(([page, name, label]) => h("li", null, link(`#/${page}`, name, label)))
  const themes = /** @type {[Theme, string, string][]} */ (
    [["system", "Like the system", "laptop"], ["light", "Light", "sun"], ["dark", "Dark", "moon"]])
  const look = iconButton("moon", "Light or dark", { "aria-haspopup": "menu", "aria-expanded": false,
    onclick: () => menu(look, themes.map(([choice, label, name]) =>
      ({ label, icon: name, checked: theme() === choice, act: () => setTheme(choice) }))) })
  const account = h("span", { class: "side-account muted small" })
  const element = h("nav", { class: "side", "aria-label": "Notes and tags", id: "side" },
    h("div", { class: "side-head" }, mark(), h("span", { class: "wordmark" }, "Hesper"),
      iconButton("close", "Close", { class: "side-close", onclick: close })),
    h("div", { class: "side-scroll" }, places, h("h2", { class: "side-title" }, "Tags"), list, h("hr"),
      h("ul", { class: "side-list" }, others)),
    h("div", { class: "side-foot" }, account, look, iconButton("help", "Keyboard", { onclick: shortcuts })))

  /** @param {string} id @returns {any} the row of a tag */
  const rowOf = id => list.querySelector(`[data-tag="${CSS.escape(id)}"]`)

  /** @param {string} id */
  const rename = id => {
    const before = copy.tag(id)?.name ?? ""
    let isDone = false
    /** @param {boolean} isWanted */
    const end = isWanted => {
      if (isDone) return
      isDone = true
      const name = input.value.trim()
      const other = copy.tagNamed(name)
      input.remove()
      update()
      rowOf(id)?.firstChild.focus()
      if (!isWanted || !name || name === before) return
      const words = other && other !== id ? `“${before}” and “${name}” become one tag` : `Renamed to “${name}”`
      attempt(copy.renameTag(id, name).then(() => toast(words)))
    }
    /** @param {KeyboardEvent} event */
    const onkeydown = event => {
      event.stopPropagation()
      if (!event.isComposing && (event.key === "Enter" || event.key === "Escape")) end(event.key === "Enter")
    }
    const input = h("input", { type: "text", class: "side-rename", value: before, dir: "auto", onkeydown,
      "aria-label": `New name of the tag ${before}`, onblur: () => end(true) })
    fill(rowOf(id), input)
    input.select()
  }
  /** @param {string} id */
  const remove = id => {
    const name = copy.tag(id)?.name
    if (location.hash === `#/tag/${id}`) app.go("#/")
    const act = () => attempt(copy.undoRemove(id))
    attempt(copy.remove(id).then(() => toast(`Tag “${name}” deleted`, { label: "Undo", seconds: 10, act })))
  }

  const update = () => {
    waiting = 0
    if (list.querySelector("input")) return
    const focused = document.activeElement?.closest("[data-tag]")?.getAttribute("data-tag")
    fill(places, h("li", null, link("#/", "notes", "All notes", copy.notes({}).length)),
      h("li", null, link("#/archive", "archive", "Archive", copy.notes({ archived: true }).length)))
    fill(list, copy.tags().map(({ uniqueID: id, name, count }) => {
      const more = iconButton("more", `Tag ${name}: rename or delete`, { class: "side-more", tabindex: -1,
        "aria-haspopup": "menu", "aria-expanded": false, onclick: () => menu(more, [
          { label: "Rename", icon: "pencil", hint: "F2", act: () => rename(id) },
          { label: "Delete", icon: "trash", hint: "Del", looks: "danger", act: () => remove(id) }]) })
      return h("li", { "data-tag": id }, link(`#/tag/${id}`, "tag", name, count), more)
    }))
    const hint = "Tags that you give your notes are listed here."
    if (!list.firstChild) fill(list, h("li", { class: "side-hint muted small" }, hint))
    fill(account, copy.session?.account.email)
    if (focused) rowOf(focused)?.firstChild.focus()
    current()
  }
  let here = "#/"
  const current = (href = here) => {
    here = href
    for (const one of element.querySelectorAll("a")) {
      set(one, "aria-current", one.getAttribute("href") === here ? "page" : null)
    }
  }

  element.addEventListener("keydown", event => {
    const { key, target } = event
    const at = /** @type {HTMLElement} */ (target)
    const id = at.closest("[data-tag]")?.getAttribute("data-tag")
    const links = /** @type {HTMLElement[]} */ ([...element.querySelectorAll(".side-link")])
    const step = { ArrowDown: 1, ArrowUp: -1 }[key]
    if (id && key === "F2") rename(id)
    else if (id && key === "Delete") remove(id)
    else if (step && links.includes(at)) links[links.indexOf(at) + step]?.focus()
    else return
    event.preventDefault()
    event.stopPropagation()
  })
  element.addEventListener("click", event => { if (/** @type {Element} */ (event.target).closest("a")) close() })
  let waiting = 0
  copy.addEventListener("change", () => { waiting ||= window.setTimeout(update) })
  copy.addEventListener("session", update)
  update()
  return {
    element, current,
    focus: () => {
      /** @type {HTMLElement | null} */
      const link = element.querySelector("[aria-current]") ?? element.querySelector("a")
      link?.focus()
    },
  }
}

const shown = 8 // suggestions at most
let fields = 0

/**
 * The tags of one note: chips, and a field that completes names and makes new tags (the ARIA pattern of a combobox).
 * @param {Shell} app @param {() => string[]} read the IDs of the note's tags
 * @param {() => Promise<string>} ensure the ID of the note, which is made if it is not there yet
 */
export const tagField = ({ copy, attempt, announce }, read, ensure) => {
  const key = `tags-${++fields}`
  const chips = h("ul", { class: "tag-chips", "aria-label": "Tags of this note" })
  const options = h("div", { class: "suggestions", role: "listbox", id: key, "aria-label": "Tags", hidden: true })
  const input = h("input", { class: "tag-input", type: "text", role: "combobox", "aria-label": "Add a tag",
    placeholder: "Add a tag", autocomplete: "off", autocapitalize: "none", enterkeyhint: "done", dir: "auto",
    spellcheck: "false", "aria-expanded": false, "aria-controls": key, "aria-autocomplete": "list" })
  const element = h("div", { class: "tag-field" }, icon("tag"), chips, h("div", { class: "tag-entry" }, input, options))

  /**
   * What Enter would do with each suggestion.
   * @type {(() => Promise<void>)[]}
   */
  let acts = []
  let active = -1

  /** @param {string} name */
  const add = async name => {
    const note = await ensure()
    const tag = copy.tagNamed(name) ?? await copy.createTag(name)
    await copy.addTag(note, tag)
    announce(`Tag ${name} added`)
  }
  /** @param {string} tag */
  const remove = async tag => {
    await copy.removeTag(await ensure(), tag)
    announce(`Tag ${copy.tag(tag)?.name} removed`)
  }

  /** @param {number} at the suggestion that Enter takes; -1: none */
  const choose = at => {
    active = at
    const all = [...options.children]
    for (const [index, option] of all.entries()) option.ariaSelected = String(index === at)
    all[at]?.scrollIntoView({ block: "nearest" })
    set(input, "aria-expanded", !options.hidden)
    set(input, "aria-activedescendant", all[at]?.id)
  }
  const close = () => {
    options.hidden = true
    choose(-1)
  }
  const suggest = () => {
    const name = input.value.trim()
    const folded = foldName(name)
    const here = new Set(read())
    const others = copy.tags().filter(({ uniqueID }) => !here.has(uniqueID))
    /** @param {number} from @param {number} to where in a name the typed words may be */
    const found = (from, to) => others.filter(tag => {
      const at = foldName(tag.name).indexOf(folded)
      return at >= from && at < to
    })
    const fits = [...found(0, 1), ...found(1, Infinity)].slice(0, shown)
    const labels = fits.map(tag => [h("bdi", null, tag.name), h("span", { class: "muted small" }, tag.count)])
    acts = fits.map(tag => () => add(tag.name))
    if (name && !copy.tagNamed(name)) {
      labels.push([h("span", null, "Create “", h("bdi", null, name), "”")])
      acts.push(() => add(name))
    }
    fill(options, labels.map((label, at) => h("div", { class: "suggestion", role: "option", id: `${key}-${at}`,
      onpointerdown: /** @param {Event} event */ event => {
        event.preventDefault()
        take(acts[at])
      } }, label)))
    options.hidden = !acts.length
    choose(name && acts.length ? 0 : -1)
  }
  /** @param {() => Promise<void>} act */
  const take = act => {
    input.value = ""
    close()
    attempt(act())
  }

  input.addEventListener("input", suggest)
  input.addEventListener("focus", suggest)
  input.addEventListener("blur", close)
  input.addEventListener("keydown", event => {
    const name = input.value.trim()
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const act = acts[active]
    if (event.isComposing) return
    if (step) {
      if (options.hidden) suggest()
      choose(active < 0 && step < 0 ? acts.length - 1 : (active + step + acts.length) % (acts.length || 1))
    } else if (name && (event.key === "," || event.key === "Enter" && active <= 0 && copy.tagNamed(name))) {
      // A comma takes the name as it was typed; and a name that is there goes before others that begin like it.
      take(() => add(name))
    } else if (act && (event.key === "Enter" || event.key === "Tab" && name)) take(act)
    else if (event.key === "Backspace" && !input.value && read().length) attempt(remove(read().slice(-1)[0]))
    else if (event.key === "Escape" && !options.hidden) close()
    else return
    event.preventDefault()
    event.stopPropagation()
  })
  element.addEventListener("click", ({ target }) => { if (target === element) input.focus() })

  let shownTags = ""
  const update = () => {
    const tags = read().map(id => ({ id, name: copy.tag(id)?.name ?? "" }))
    // What did not change keeps the focus.
    if (shownTags === (shownTags = JSON.stringify(tags))) return
    fill(chips, tags.map(({ id, name }) => h("li", { class: "chip" },
      h("a", { href: `#/tag/${id}`, dir: "auto" }, name),
      iconButton("close", `Remove tag ${name}`, { onclick: () => { input.focus(); attempt(remove(id)) } }))))
  }
  return { element, update }
}
