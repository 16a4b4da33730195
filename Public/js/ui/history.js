// The history of a note, and deleted notes: both are read from the server.
import {difference} from "../model/difference.js"
import {copyOf, fill, firstOf, toast, tryIn, viewOf} from "./dom.js"

/** The name of a tag or file. @type {(copy: Copy, id: string) => string | undefined} */
export const nameOf = (copy, id) => copy.tag(id)?.name ?? copy.attachment(id)?.filename

/** How much unchanged text is shown beside a change, in UTF-16 code units. */
const CONTEXT = 80
/** Edits of one device within this time are shown as one, in ms. */
const MOMENT = 120_000

/** A text with what was added and removed. */
const marked = (before, after) => difference(before, after).map(({kind, text}, index, all) => {
  if (kind !== "same") return viewOf(kind, {text})
  const head = index && CONTEXT
  const tail = text.length - (index < all.length - 1 ? CONTEXT : 0)
  return tail - head < 9 ? text : [text.slice(0, head), viewOf("left-out"), text.slice(tail)]
})

/** Writes an earlier text into a note, with a way to undo it. */
export const putBack = ({copy, undoable}, id, text, said) => {
  const {textClock = null, text: value = ""} = copy.note(id) ?? {}
  const written = copy.write(id, text, {clock: textClock, value})
  return undoable(written, async () => copy.write(id, value, {clock: await written, value: text}), said)
}

/** A page with a list that is read from the server a part at a time; `take` reads a part and fills the list. */
const paged = (id, values, take) => {
  const {element, list, foot} = copyOf(id, values)
  const load = cursor => tryIn(foot, async () => {
    fill(foot, viewOf("asking"))
    const {nextCursor} = await take(list, cursor)
    return nextCursor ? viewOf("older", {older: () => load(nextCursor)}) : !list.firstChild && viewOf(`no-${id}`)
  })
  load(null)
  return {element}
}

const dateOf = ({clock}) => Date.parse(clock.slice(0, 24)) // merge.md, Clocks

/** Edits grouped by device and time, newest first; `before` is the text before them. */
const momentsOf = edits => {
  const moments = /** @type {any[]} */ ([])
  for (const edit of edits) {
    let last = moments.at(-1)
    const newer = last?.edits.at(-1)
    const isOther = newer?.device.uniqueID !== edit.device.uniqueID || dateOf(newer) - dateOf(edit) > MOMENT
    if (isOther) moments.push(last = {edits: []})
    last.edits.push(edit)
    if (edit.attribute === "text") last.text ??= edit
  }
  moments.reduceRight((before, moment) => (moment.before = before, moment.text?.value ?? before), "")
  return moments
}

/** @type {Opener} */
export const edits = (app, id) => {
  const {copy, engine} = app
  const known = []
  let server = "" // the server's node
  const editView = ({attribute, value}) => {
    const [name, member] = attribute.split(/\.(.*)/s)
    return viewOf(firstOf(`edit-${attribute}`, `edit-${name}`, "edit-other"),
      {value, subject: nameOf(copy, member), member, json: JSON.stringify(value)})
  }
  const momentView = ({edits, text, before}) => {
    const {uniqueID, name} = edits[0].device
    const isKept = text?.value !== undefined
    const back = () => putBack(app, id, text.value, "put-back").then(() => app.go(`#/note/${id}`))
    return viewOf("moment", {
      date: dateOf(edits[0]), name, isServer: uniqueID === server, isHere: uniqueID === copy.session?.device.uniqueID,
      isNow: text?.standing, isGone: text && !isKept, words: isKept && marked(before, text.value),
      back: isKept && !text.standing && back, rest: edits.filter(({attribute}) => attribute !== "text").map(editView),
    })
  }
  return paged("history", {id, title: copy.note(id)?.title}, async (list, cursor) => {
    server ||= (await engine.server()).serverClock.slice(-16)
    const page = await engine.history(id, cursor)
    known.push(...page.edits)
    fill(list, momentsOf(known).map(momentView))
    return page
  })
}

/** @type {Opener} */
export const deleted = ({engine, attempt}) => {
  const row = note => {
    const name = note.firstLine || "Untitled"
    const back = async () => {
      open.href = `#/note/${await engine.putBack(note.uniqueID)}`
      act.remove()
      open.hidden = false
      open.focus()
      toast("back", {name})
    }
    const {element, act, open} = copyOf("deleted-note", {...note, name, act: () => attempt(back())})
    return element
  }
  return paged("recent", {}, async (list, cursor) => {
    const page = await engine.recentlyDeleted(cursor)
    list.append(...page.notes.map(row))
    return page
  })
}
