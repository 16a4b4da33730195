// Actions on several selected notes. The module is loaded on first use. An action is undone as a whole.
import {foldName} from "../model/search.js"
import {announce, copyOf, dialog, fill, toast, viewOf} from "./dom.js"

/** @type {BulkActions["archive"]} */
export const archive = async ({copy, undoable}, list) => {
  const ids = list.selected()
  const toArchive = copy.flags(ids).archived < ids.length
  const changed = ids.filter(id => copy.flags([id]).archived !== +toArchive)
  list.endSelection()
  await undoable(copy.setArchived(changed, toArchive), () => copy.setArchived(changed, !toArchive), "archived-notes",
    {count: changed.length, archived: !toArchive})
}

/** @type {BulkActions["pin"]} */
export const pin = async ({copy, undoable}, list) => {
  const ids = list.selected()
  const toPin = copy.flags(ids).pinned < ids.length
  const changed = ids.filter(id => copy.flags([id]).pinned !== +toPin)
  await undoable(copy.setAttribute(changed, "pinned", toPin), () => copy.setAttribute(changed, "pinned", !toPin), "pinned-notes",
    {count: changed.length, pinned: !toPin})
}

/** @type {BulkActions["remove"]} */
export const remove = async ({copy, go, undoable}, list) => {
  const ids = list.selected()
  list.endSelection()
  const undo = async () => { if (!await copy.undoRemove(ids)) toast("too-late", {}, () => go("#/deleted")) }
  await undoable(copy.remove(ids), undo, "deleted-notes", {count: ids.length})
}

/** Adds tags to the notes and removes them, as chosen in a dialog. */
const setTags = async ({copy, undoable}, ids, wanted, created) => {
  for (const name of created) wanted.set(await copy.createTag(name), true)
  const changes = ids.filter(id => copy.entity(id)).flatMap(id => {
    const tags = copy.members(id, "tags")
    return [...wanted].filter(([tag, isIn]) => tags.includes(tag) !== isIn).map(([tag, isIn]) => [id, tag, isIn])
  })
  const undo = () => copy.setTags(changes.filter(([id]) => copy.entity(id)).map(([id, tag, isIn]) => [id, tag, !isIn]))
  if (changes.length) await undoable(copy.setTags(changes), undo, "tagged-notes", {count: new Set(changes.map(([id]) => id)).size})
}

/** @type {BulkActions["tag"]} */
export const tag = async (app, list) => {
  const {copy, attempt} = app
  const ids = list.selected()
  const counts = new Map()
  for (const id of ids) for (const tag of copy.members(id, "tags")) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  const wanted = new Map()
  const created = new Set()
  const {element, input, options, save} = copyOf("tag-notes",
    {count: ids.length, save: () => attempt(setTags(app, ids, wanted, created))})
  // The tags that the notes have come first.
  const known = copy.tags().sort((a, b) => +counts.has(b.uniqueID) - +counts.has(a.uniqueID))
  const stateOf = id => wanted.get(id) ?? (!counts.get(id) ? false : counts.get(id) === ids.length ? true : null)
  const option = ({uniqueID: id, name}) => {
    const state = stateOf(id)
    return viewOf("tag-option", {name, box: {
      checked: state === true, indeterminate: state === null, onchange: ({target}) => wanted.set(id, target.checked)}})
  }
  const newOption = name => viewOf("tag-option", {name, box: {
    checked: true, onchange: ({target}) => target.checked ? created.add(name) : created.delete(name)}})
  const show = () => {
    const typed = foldName(input.value)
    fill(options, [...created].map(newOption), known.filter(({name}) => foldName(name).includes(typed)).map(option))
  }
  const take = () => {
    const name = input.value.trim()
    const same = copy.tagNamed(name)
    if (same) wanted.set(same, true)
    else created.add(name)
    announce("tag-chosen", {name})
    input.value = ""
    show()
  }
  input.oninput = show
  input.onkeydown = event => {
    if (event.key !== "Enter" || event.isComposing || !input.value.trim()) return
    event.preventDefault()
    take()
  }
  // Text in the field becomes a tag when the dialog is confirmed.
  save.addEventListener("click", () => { if (input.value.trim()) take() }, true)
  show()
  dialog(element)
}
