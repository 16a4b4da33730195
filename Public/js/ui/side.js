// The side: links to all notes, the archive and tags, the theme, the language.
import {foldName} from "../model/search.js"
import {announce, copyOf, dialog, fill, menu, tell, toast, viewOf, wordsOf} from "./dom.js"
import {languageSetting, setLanguage} from "./language.js"

/** If there are more tags, a field to filter them is shown. */
const MANY_TAGS = 12

export const setTheme = (theme = localStorage.theme ?? "system") => {
  document.documentElement.dataset.theme = localStorage.theme = theme
}
const themeEntry = theme => ({ariaChecked: localStorage.theme === theme, onclick: () => setTheme(theme)})

const languageEntry = language => ({
  ariaChecked: languageSetting() === language, onclick: () => { if (languageSetting() !== language) setLanguage(language) },
})
/** The menu of languages, below its button. */
export const chooseLanguage = ({currentTarget}) =>
  menu(currentTarget, "language-menu", {system: languageEntry("system"), de: languageEntry("de"), en: languageEntry("en")})

/** The paths of the tags whose children are hidden, in this browser. */
const readCollapsed = () => {
  try {
    return new Set(JSON.parse(localStorage.collapsed))
  } catch {
    return new Set()
  }
}

/** @type {SidePane} */
export const sidePane = ({copy, go, attempt, undoable}, {side, all, archived, tags, filter, account, look, language}) => {
  let waiting = 0
  let here = "#/"
  let collapsed = readCollapsed()
  language.onclick = chooseLanguage
  look.onclick = () => menu(look, "theme-menu",
    {system: themeEntry("system"), light: themeEntry("light"), dark: themeEntry("dark")})

  const nodeOf = key => copy.tagTree().find(node => node.key === key)
  const keyAt = element => element?.closest("[data-tag]")?.dataset.tag

  // Renaming, merging, deleting

  /** A tag's new name, and those of the tags below it: [ID, name]. */
  const renamed = ({name: before, ids}, name) => {
    const depth = before.split("/").length
    return [...ids].map(id => [id, [name, ...(copy.tag(id)?.name ?? "").split("/").slice(depth)].join("/")])
  }
  const rename = key => {
    const node = nodeOf(key)
    if (!node) return
    const {element, input} = copyOf("rename-tag", {input: {value: node.name}, isParent: node.hasChildren, rename: () => {
      const name = input.value.trim()
      const names = /** @type {[string, string][]} */ (renamed(node, name))
      const merges = names.map(([id, after]) => [id, copy.tagNamed(after)]).filter(([, other]) => other && !node.ids.has(other))
      if (!name || name === node.name) return
      if (merges.length) confirmMerge(names, merges)
      else attempt(copy.renameTags(names).then(() => follow(node, name)))
    }})
    dialog(element)
    input.select()
  }
  /** Announces the new name. If the list shows a node that is not a tag itself, its address contains the name, so it changes too. */
  const follow = (node, name) => {
    toast("renamed", {name})
    if (location.hash !== `#/tag/${node.key}`) return
    const path = foldName(name)
    go(`#/tag/${copy.tagTree().find(other => other.path === path)?.key ?? node.key}`, {replace: true})
  }
  const confirmMerge = (names, merges) => {
    const [[id, other]] = merges
    const values = {before: copy.tag(id), other: copy.tag(other), others: merges.length - 1}
    dialog(viewOf("merge-tags", {...values, merge: () => merge(names, merges, values)}))
  }
  /** Gives tags the names of other tags. The server then merges them (merge.md, Tags). */
  const merge = (names, merges, values) => {
    const befores = names.map(([id]) => [id, copy.tag(id)?.name ?? ""])
    const notesOf = new Map(merges.flat().map(tag => [tag, copy.notes({tag, isExact: true, archived: null})]))
    const undo = async () => {
      // If the server has merged two tags already, one of them was deleted. A new tag replaces it.
      const isMerged = id => merges.some(([one, other]) => one === id && [one, other].some(tag => copy.resolve(tag) !== tag))
      await copy.renameTags(befores.filter(([id]) => !isMerged(id) && copy.resolve(id) === id))
      for (const [id, other] of merges.filter(([id]) => isMerged(id))) {
        const again = await copy.createTag(befores.find(([one]) => one === id)?.[1] ?? "")
        await copy.setTags((notesOf.get(id) ?? []).filter(note => copy.note(note))
          .flatMap(note => [[note, again, true], ...notesOf.get(other)?.includes(note) ? [] : [[note, other, false]]]))
      }
    }
    undoable(copy.renameTags(names), undo, "tags-merged", values)
  }
  const remove = key => {
    const tag = nodeOf(key)?.tag
    if (!tag) return
    const values = copy.tag(tag)
    if (location.hash === `#/tag/${tag}`) go("#/")
    undoable(copy.remove(tag), () => copy.undoRemove(tag), "tag-deleted", values)
  }

  // The tree

  /** The nodes that are shown: while tags are filtered, those that are found, and those above them. */
  const shownNodes = () => {
    const nodes = copy.tagTree()
    const typed = foldName(filter.value)
    const found = nodes.filter(({path}) => path.includes(typed))
    const isShown = typed
      ? ({path}) => found.some(node => `${node.path}/`.startsWith(`${path}/`))
      : ({path}) => ![...collapsed].some(above => path.startsWith(`${above}/`))
    return nodes.filter(isShown).map(node => ({...node, isOpen: Boolean(typed) || !collapsed.has(node.path)}))
  }
  const setOpen = (node, isOpen) => {
    isOpen ? collapsed.delete(node.path) : collapsed.add(node.path)
    localStorage.collapsed = JSON.stringify([...collapsed])
    showTree()
  }
  const row = ({key, name, label, level, count, hasChildren, isOpen, tag}) => {
    const {element, more, toggle} = copyOf("side-tag", {
      key, name, label, level, isOpen, count: viewOf("count", {count}), link: {ariaExpanded: hasChildren ? String(isOpen) : null},
      toggle: hasChildren && (() => setOpen(nodeOf(key), !isOpen)),
      more: () => menu(more, "tag-menu", {rename: () => rename(key), remove: tag ? () => remove(key) : false}),
    })
    element.style.setProperty("--level", String(level - 1))
    if (hasChildren) toggle.title = toggle.ariaLabel = wordsOf("toggle-tag", {name, isOpen})
    return element
  }
  const showTree = () => {
    const nodes = shownNodes()
    const hasMany = copy.tagTree().length > MANY_TAGS
    if (!hasMany) filter.value = ""
    filter.hidden = !hasMany
    const key = keyAt(document.activeElement)
    const about = nodes.map(({key, name, level, count, hasChildren, isOpen}) => [key, name, level, count, hasChildren, isOpen])
    tell(tags, about, () => nodes.map(row))
    if (key && !document.activeElement?.closest("[data-tag]")) tags.querySelector(`[data-tag="${CSS.escape(key)}"] a`)?.focus()
    current()
  }
  const update = () => {
    const {notes, archived: away} = copy.counts()
    waiting = 0
    tell(all, notes, () => viewOf("count", {count: notes}))
    tell(archived, away, () => viewOf("count", {count: away}))
    fill(account, copy.session?.account.email)
    showTree()
  }
  const current = (href = here) => {
    if (href !== here) {
      // The tags above the one that is chosen are opened.
      const path = nodeOf(href.slice("#/tag/".length))?.path ?? ""
      const closed = [...collapsed].filter(above => path.startsWith(`${above}/`))
      here = href
      for (const above of closed) collapsed.delete(above)
      if (closed.length) return showTree()
    }
    const links = [...tags.querySelectorAll("a")]
    for (const link of side.querySelectorAll("a")) {
      link.ariaCurrent = link.getAttribute("href") === here ? "page" : null
    }
    // One of the tags is reached with Tab, the others with the arrow keys.
    const reached = links.find(link => link.ariaCurrent) ?? links[0]
    for (const link of links) link.tabIndex = link === reached || link === document.activeElement ? 0 : -1
  }

  filter.oninput = () => {
    showTree()
    announce("tags-found", {count: tags.childElementCount})
  }
  filter.onkeydown = event => {
    if (event.key !== "Escape" || !filter.value) return
    filter.value = ""
    showTree()
    event.preventDefault()
  }
  side.onkeydown = event => {
    const {key, target, ctrlKey, metaKey} = event
    const id = keyAt(target)
    const links = [...side.querySelectorAll("a")]
    const step = {ArrowDown: 1, ArrowUp: -1}[key]
    const node = id && nodeOf(id)
    const isOpen = target.ariaExpanded === "true"
    const tree = [...tags.querySelectorAll("a")]
    if (target === filter && key === "ArrowDown") tree[0]?.focus()
    else if (target === filter) return
    else if (id && key === "F2") rename(id)
    else if (id && (ctrlKey || metaKey) && /^(Delete|Backspace)$/.test(key)) remove(id)
    else if (step && links.includes(target)) links[links.indexOf(target) + step]?.focus()
    else if (node?.hasChildren && key === "ArrowRight") isOpen ? tree[tree.indexOf(target) + 1]?.focus() : setOpen(node, true)
    else if (node && key === "ArrowLeft") {
      const above = copy.tagTree().filter(({path}) => node.path.startsWith(`${path}/`)).at(-1)
      if (isOpen && node.hasChildren) setOpen(node, false)
      else if (above) tags.querySelector(`[data-tag="${CSS.escape(above.key)}"] a`)?.focus()
    } else if (node && /^(Home|End)$/.test(key)) tree.at(key === "Home" ? 0 : -1)?.focus()
    else return
    event.preventDefault()
  }
  tags.addEventListener("focusin", () => current())
  const focus = () => (side.querySelector("[aria-current]") ?? side.querySelector("a")).focus()
  side.onclick = ({target}) => { if (target.closest("a")) side.hidePopover() }
  side.ontoggle = ({newState}) => { if (newState === "open") focus() }
  copy.addEventListener("change", () => { waiting ||= setTimeout(update) })
  copy.addEventListener("session", update)
  update()
  return {current, focus}
}
