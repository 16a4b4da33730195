// The history of a note, and deleted notes: both are read from the server.
import {difference} from "../model/difference.js"
import {authorOf, sessionsOf, textsOf, timeOf, wordsChanged} from "../model/sessions.js"
import {copyOf, fill, firstOf, toast, tryIn, viewOf, wordsOf} from "./dom.js"
import {nameOf, putBack} from "./status.js"

/** How much unchanged text is shown beside a change, in UTF-16 code units. */
const CONTEXT = 80
/** The number of single edits that are shown at a time. */
const STEP = 50

/** A text with what was added and removed. */
const marked = pieces => pieces.map(({kind, text}, index, all) => {
  if (kind !== "same") return viewOf(kind, {text})
  const head = index && CONTEXT
  const tail = text.length - (index < all.length - 1 ? CONTEXT : 0)
  return tail - head < 9 ? text : [text.slice(0, head), viewOf("left-out"), text.slice(tail)]
})

/** A page with a list that is read from the server in parts. `take` reads a part and adds it to the list. */
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

/** @type {Opener} */
export const edits = (app, id) => {
  const {copy, engine} = app
  /** @type {HistoryEdit[]} */
  const known = []
  let server = "" // the server's node
  let shown = 0
  const restore = text => putBack(app, id, text, "put-back").then(() => app.go(`#/note/${id}`))
  /** The values that show a text, and restore it; undefined if the server no longer has the text. */
  const textView = (text, before) => {
    const pieces = text && difference(before, text.value)
    return text && {
      ...wordsChanged(pieces), isNow: text.standing, words: marked(pieces),
      back: !text.standing && (() => restore(text.value)),
    }
  }
  const device = (/** @type {HistoryEdit["device"]} */ {uniqueID, name}, isMerge = false) => viewOf("history-device", {
    name, isMerge, isServer: !isMerge && uniqueID === server, isUnknown: uniqueID !== server,
    isHere: uniqueID === copy.session?.device.uniqueID,
  })
  const attributeView = ({attribute, value}) => {
    const [name, member] = attribute.split(/\.(.*)/s)
    return viewOf(firstOf(`edit-${attribute}`, `edit-${name}`, "edit-other"),
      {value, subject: nameOf(copy, member), member, json: JSON.stringify(value)})
  }
  /** Shows the single edits of a session, some at a time. */
  const showSingle = (list, texts, merges) => {
    const more = viewOf("more-edits", {more: () => {
      const first = list.childElementCount - 1
      more.before(...texts.slice(first, first + STEP).map(({edit, before}) => viewOf("history-edit",
        {date: timeOf(edit), device: merges.has(edit) ? device(edit.device, true) : device(authorOf(edit, server)), ...textView(edit, before)})))
      if (first + STEP >= texts.length) more.remove()
      list.children[first].querySelector("h3").focus()
    }})
    list.append(more)
    more.querySelector("button").click()
  }
  const sessionView = session => {
    const {edits, devices, text, before, merges} = session
    const texts = textsOf(session)
    const isText = edits.some(({attribute}) => attribute === "text")
    const view = textView(text, before)
    const {element, single} = copyOf("session", {
      date: timeOf(edits[0]), devices: devices.map(one => device(one)), isMerged: merges.size, isGone: isText && !text,
      back: null, words: null, ...view,
      isOther: view && !view.added && !view.removed, texts: texts.length, isLong: texts.length > 1,
      rest: edits.filter(({attribute}) => attribute !== "text").map(attributeView),
      details: {ontoggle: ({target}) => target.open && !single.firstChild && showSingle(single, texts, merges)},
    })
    return element
  }
  /** The sessions of which all edits and the text before them are known. */
  const whole = isEnd => {
    const sessions = sessionsOf(known, server)
    return isEnd ? sessions : sessions.slice(0, Math.max(0, sessions.map(({text}) => Boolean(text)).lastIndexOf(true)))
  }
  return paged("history", {id, title: copy.note(id)?.title}, async (list, cursor) => {
    server ||= (await engine.server()).serverClock.slice(-16)
    /** @type {any} */
    let page
    let sessions
    do {
      page = await engine.history(id, page?.nextCursor ?? cursor)
      known.push(...page.edits)
      sessions = whole(!page.nextCursor)
    } while (sessions.length === shown && page.nextCursor)
    list.append(...sessions.slice(shown).map(sessionView))
    if (cursor) list.children[shown]?.querySelector("h2").focus()
    shown = sessions.length
    return page
  })
}

/** @type {Opener} */
export const deleted = ({engine, attempt}) => {
  const row = note => {
    const name = note.firstLine || wordsOf("untitled")
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
