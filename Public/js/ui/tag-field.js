// The tags of one note, under its text: chips, and a field that completes names and makes new tags (the ARIA pattern of a combobox with a list).

import { foldName } from "../model/names.js"
import { fill, h, icon, iconButton } from "./dom.js"

const shown = 8 // suggestions at most

/**
 * @param {import("./shell.js").App} app @param {() => string[]} read the IDs of the note's tags
 * @param {() => Promise<string>} ensure the ID of the note, which is made if it is not there yet
 */
export const tagField = (app, read, ensure) => {
  const { copy } = app
  const key = crypto.getRandomValues(new Uint32Array(1))[0].toString(36)
  const chips = h("ul", { class: "tag-chips", "aria-label": "Tags of this note" })
  const options = h("div", { class: "suggestions", role: "listbox", id: `tags-${key}`, "aria-label": "Tags", hidden: true })
  const input = h("input", {
    class: "tag-input", type: "text", role: "combobox", "aria-label": "Add a tag", placeholder: "Add a tag", autocomplete: "off", autocapitalize: "none",
    enterkeyhint: "done", dir: "auto", spellcheck: "false", maxlength: 100, "aria-expanded": false, "aria-controls": options.id, "aria-autocomplete": "list",
  })
  const element = h("div", { class: "tag-field", onclick: () => input.focus() }, icon("tag"), chips, h("div", { class: "tag-entry" }, input, options))

  /**
   * What Enter would do with each suggestion.
   * @type {(() => Promise<any>)[]}
   */
  let acts = []
  let active = -1

  /** @param {string} tag @param {string} name */
  const add = async (tag, name) => {
    const note = await ensure()
    if (!read().includes(tag)) await copy.addTag(note, tag)
    app.announce(`Tag ${name} added`)
  }
  /** @param {string} name */
  const create = async name => add(copy.tagNamed(name) ?? await copy.createTag(name), name)
  /** @param {string} tag */
  const remove = async tag => {
    await copy.removeTag(await ensure(), tag)
    app.announce(`Tag ${copy.tag(tag)?.name ?? ""} removed`)
  }

  const close = () => {
    options.hidden = true
    active = -1
    input.setAttribute("aria-expanded", "false")
    input.removeAttribute("aria-activedescendant")
  }
  /** @param {number} at */
  const choose = at => {
    active = at
    for (const [index, option] of [...options.children].entries()) option.setAttribute("aria-selected", String(index === at))
    options.children[at]?.scrollIntoView({ block: "nearest" })
    if (at < 0) input.removeAttribute("aria-activedescendant")
    else input.setAttribute("aria-activedescendant", options.children[at].id)
  }
  const suggest = () => {
    const name = input.value.trim()
    const folded = foldName(name)
    const here = new Set(read())
    const fits = copy.tags().filter(tag => !here.has(tag.uniqueID) && foldName(tag.name).includes(folded))
      .sort((one, other) => Number(foldName(other.name).startsWith(folded)) - Number(foldName(one.name).startsWith(folded))).slice(0, shown)
    const isNew = name !== "" && !copy.tagNamed(name)
    acts = [...fits.map(tag => () => add(tag.uniqueID, tag.name)), ...isNew ? [() => create(name)] : []]
    /** @param {import("./dom.js").Child} label @param {number} at */
    const option = (label, at) => h("div", { class: "suggestion", role: "option", id: `${options.id}-${at}`, "aria-selected": false,
      onpointerdown: /** @param {Event} event */ event => { event.preventDefault(); take(at) } }, label)
    fill(options, fits.map((tag, at) => option([h("bdi", null, tag.name), h("span", { class: "muted small" }, String(tag.count))], at)),
      isNew && option(["Create “", h("bdi", null, name), "”"], fits.length))
    options.hidden = acts.length === 0
    input.setAttribute("aria-expanded", String(!options.hidden))
    choose(name && acts.length ? 0 : -1)
  }
  /** @param {number} at */
  const take = at => {
    const act = acts[at]
    input.value = ""
    close()
    if (act) app.attempt(act())
  }

  input.addEventListener("input", suggest)
  input.addEventListener("focus", suggest)
  input.addEventListener("blur", close)
  input.addEventListener("keydown", event => {
    if (event.isComposing) return
    const { key: pressed } = event
    if (pressed === "ArrowDown" || pressed === "ArrowUp") {
      if (options.hidden) suggest()
      const step = pressed === "ArrowDown" ? 1 : -1
      if (acts.length) choose((active + step + acts.length + (active < 0 && step < 0 ? 1 : 0)) % acts.length)
    } else if ((pressed === "Enter" || pressed === "," || pressed === "Tab" && input.value.trim()) && (active >= 0 || input.value.trim())) {
      // A name that is there is chosen, whatever else begins like it; a comma takes the name as it was typed.
      const name = input.value.trim()
      if (pressed === "," || active === 0 && copy.tagNamed(name)) acts[active = 0] = () => create(name)
      take(active)
    } else if (pressed === "Backspace" && !input.value && read().length) {
      app.attempt(remove(read()[read().length - 1]))
    } else if (pressed === "Escape" && !options.hidden) {
      close()
    } else return
    event.preventDefault()
    event.stopPropagation()
  })

  const update = () => {
    const focused = document.activeElement?.getAttribute("data-tag")
    fill(chips, read().map(id => {
      const name = copy.tag(id)?.name ?? ""
      return h("li", { class: "chip" }, h("a", { href: `#/tag/${id}`, dir: "auto" }, name),
        iconButton("close", `Remove tag ${name}`, { "data-tag": id, onclick: () => { app.attempt(remove(id)); input.focus() } }))
    }))
    if (focused) /** @type {HTMLElement | null} */ (chips.querySelector(`[data-tag="${CSS.escape(focused)}"]`))?.focus()
    if (document.activeElement === input && !options.hidden) suggest()
  }
  return { element, update, focus: () => input.focus() }
}
