// The tags of a note.
import {foldName} from "../model/search.js"
import {announce, copyOf, fill, tell, viewOf} from "./dom.js"

/** @type {TagField} */
export const tagField = ({copy, attempt}, read, ensure) => {
  const {element: field, chips, input, options} = copyOf("tag-field")
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
  // When the field loses the focus, the text in it becomes a tag, as in the address field of an e-mail. So no text is lost.
  input.onblur = () => {
    const name = input.value.trim()
    name ? take(name) : close()
  }
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
    else if (key === "Escape" && (options.firstChild || name)) {
      input.value = ""
      close()
    }
    else return
    event.preventDefault()
  }
  options.onpointerdown = event => {
    const {name} = event.target.closest("[data-name]")?.dataset ?? {}
    event.preventDefault()
    if (name) take(name)
  }
  field.onclick = ({target}) => { if (target === field) input.focus() }

  const update = () => tell(chips, read().map(id => [id, copy.tag(id)?.name]), () => read().map(id => viewOf("tag-chip", {
    ...copy.tag(id), id, remove: () => { input.focus(); attempt(remove(id)) },
  })))
  return {element: field, update}
}
