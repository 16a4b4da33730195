// The side: links to all notes, the archive and tags, the theme.
import {copyOf, dialog, fill, menu, toast, viewOf} from "./dom.js"

export const setTheme = (theme = localStorage.theme ?? "system") => {
  document.documentElement.dataset.theme = localStorage.theme = theme
}
const themeEntry = theme => ({ariaChecked: localStorage.theme === theme, onclick: () => setTheme(theme)})

/** @type {SidePane} */
export const sidePane = ({copy, go, attempt, undoable}, {side, all, archived, tags, account, look}) => {
  look.onclick = () => menu(look, "theme-menu",
    {system: themeEntry("system"), light: themeEntry("light"), dark: themeEntry("dark")})

  const rename = id => {
    const {name: before} = copy.tag(id) ?? {name: ""}
    const {element, input} = copyOf("rename-tag", {input: {value: before}, rename: () => {
      const name = input.value.trim()
      const other = copy.tagNamed(name) ?? id
      if (other !== id) confirmMerge(id, other, name)
      else if (name && name !== before) attempt(copy.renameTag(id, name).then(() => toast("renamed", {name})))
    }})
    dialog(element)
    input.select()
  }
  const confirmMerge = (id, other, name) => {
    const values = {before: copy.tag(id), other: copy.tag(other)}
    dialog(viewOf("merge-tags", {...values, merge: () => merge(id, other, name, values)}))
  }
  /** Gives a tag the name of another tag. The server then merges the two (merge.md, Tags). */
  const merge = (id, other, name, values) => {
    const {name: before} = copy.tag(id) ?? {name: ""}
    const [notes, others] = [id, other].map(tag => copy.notes({tag, archived: null}))
    const undo = async () => {
      // If the server has merged the tags already, one of them was deleted. A new tag replaces it.
      if ([id, other].every(tag => copy.resolve(tag) === tag)) return copy.renameTag(id, before)
      const again = await copy.createTag(before)
      for (const note of notes.filter(note => copy.note(note))) {
        await copy.addTag(note, again)
        if (!others.includes(note)) await copy.removeTag(note, other)
      }
    }
    undoable(copy.renameTag(id, name), undo, "tags-merged", values)
  }
  const remove = id => {
    const tag = copy.tag(id)
    if (location.hash === `#/tag/${id}`) go("#/")
    undoable(copy.remove(id), () => copy.undoRemove(id), "tag-deleted", tag)
  }

  const row = ({uniqueID: id, name, count}) => {
    const {element, more} = copyOf("side-tag", {id, name, count: viewOf("count", {count}), more: () =>
      menu(more, "tag-menu", {rename: () => rename(id), remove: () => remove(id)})})
    return element
  }
  let waiting = 0
  const update = () => {
    waiting = 0
    const focused = document.activeElement?.closest("[data-tag]")?.getAttribute("data-tag")
    fill(all, viewOf("count", {count: copy.notes({}).length}))
    fill(archived, viewOf("count", {count: copy.notes({archived: true}).length}))
    fill(account, copy.session?.account.email)
    fill(tags, copy.tags().map(row))
    if (focused) tags.querySelector(`[data-tag="${focused}"] a`)?.focus()
    current()
  }
  let here = "#/"
  const current = (href = here) => {
    here = href
    for (const link of side.querySelectorAll("a")) {
      link.ariaCurrent = link.getAttribute("href") === here ? "page" : null
    }
  }

  side.onkeydown = event => {
    const {key, target, ctrlKey, metaKey} = event
    const id = target.closest("[data-tag]")?.dataset.tag
    const links = [...side.querySelectorAll("a")]
    const step = {ArrowDown: 1, ArrowUp: -1}[key]
    if (id && key === "F2") rename(id)
    else if (id && (ctrlKey || metaKey) && /^(Delete|Backspace)$/.test(key)) remove(id)
    else if (step && links.includes(target)) links[links.indexOf(target) + step]?.focus()
    else return
    event.preventDefault()
  }
  const focus = () => (side.querySelector("[aria-current]") ?? side.querySelector("a")).focus()
  side.onclick = ({target}) => { if (target.closest("a")) side.hidePopover() }
  side.ontoggle = ({newState}) => { if (newState === "open") focus() }
  copy.addEventListener("change", () => { waiting ||= setTimeout(update) })
  copy.addEventListener("session", update)
  update()
  return {current, focus}
}
