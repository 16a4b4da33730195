// Text that another app shares, in the address /capture. It is saved only if the person agrees: any page can link to that address.
import {newID, utf8} from "../model/hash.js"
import {copyOf, fill, tryIn, viewOf} from "./dom.js"
import {tagField} from "./tags.js"

/** The limit of a text in bytes, until that of the server is known. */
const TEXT_BYTES = 1 << 20
/** How long after typing the text is kept for a reload, in ms. */
const KEEP_DELAY = 300

/** @type {Opener} */
export const capture = app => {
  const {copy, go} = app
  const uniqueID = newID()
  /** IDs of tags, and names of tags that do not exist yet. */
  const chosen = new Set()

  /** What the tag field reads and writes, instead of a note. */
  const choice = {
    tags: copy.tags.bind(copy), tagNamed: copy.tagNamed.bind(copy),
    tag: id => copy.tag(id) ?? {uniqueID: id, name: id, count: 0},
    createTag: async name => copy.tagNamed(name) ?? name,
    addTag: async (_, id) => update(chosen.add(id)),
    removeTag: async (_, id) => update(chosen.delete(id)),
  }
  const problemOf = text => {
    const [length, limit] = [utf8(text).length, copy.limits.textBytes ?? TEXT_BYTES]
    if (length > limit) return viewOf("capture-too-long", {length, limit})
    return !text.trim() && viewOf("capture-empty")
  }
  const setError = problem => {
    fill(error, problem)
    area.ariaInvalid = problem ? "true" : null
    if (problem) area.focus()
  }
  const save = async () => {
    const text = area.value
    const wrong = problemOf(text)
    setError(wrong)
    if (wrong || button.disabled) return
    button.disabled = true
    await tryIn(problem, async () => {
      const tags = await Promise.all(Array.from(chosen, id => copy.tag(id) ? id : copy.createTag(id)))
      await copy.createNote({uniqueID, text, tags})
      go(`#/note/${uniqueID}`, {replace: true})
    })
    button.disabled = false
  }
  let timer
  const keep = () => {
    clearTimeout(timer)
    timer = setTimeout(() => { if (area.isConnected) history.replaceState({shared: area.value}, "") }, KEEP_DELAY)
    setError(area.value.trim() && problemOf(area.value))
  }
  const parts = copyOf("capture", {
    area: {value: history.state?.shared ?? "", oninput: keep}, save, cancel: () => go("#/", {replace: true}),
  })
  const {element, area, error, problem, save: button} = parts
  const tagPart = tagField(/** @type {any} */ ({...app, copy: choice}), () => [...chosen], async () => uniqueID)
  problem.before(tagPart.element)
  /** Shows the chosen tags. They are not links, which would leave the page. */
  const update = _ => {
    tagPart.update()
    for (const link of tagPart.element.querySelectorAll("a")) link.removeAttribute("href")
  }
  return {
    element,
    focus: () => {
      area.focus()
      area.setSelectionRange(0, 0)
      if (area.value.trim()) setError(problemOf(area.value))
    },
  }
}
