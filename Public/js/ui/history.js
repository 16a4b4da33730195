// What was: the edits of a note, and the notes deleted lately. The server has both; from both there is a way back.

import { difference } from "../model/difference.js"
import { button, fill, h, longDate, plural, shortDate } from "./dom.js"
import { problemView } from "./problems.js"

/** Edits of one device that are not further apart are shown as one, in ms. */
const MOMENT = 120_000
/** What is shown of the same words around a difference, in UTF-16 code units. */
const AROUND = 80

/** @typedef {{attribute: string, value?: any, clock: string, device: {uniqueID: string, name?: string}, standing: boolean}} Edit */
/** @typedef {{edits: Edit[], text?: Edit, before?: string}} Group newest first; its newest text, and that of the moment before */

/**
 * Two texts in one, what is only in one of them marked.
 * @param {string} before @param {string} after
 */
export const marked = (before, after) => h("div", { class: "marked", dir: "auto" }, difference(before, after).map(({ kind, text }, index, all) => {
  if (kind !== "same") return h(kind === "added" ? "ins" : "del", null, text)
  const tail = index < all.length - 1 ? AROUND : 0
  const head = index ? AROUND : 0
  return text.length > head + tail + 9 ? [text.slice(0, head), h("span", { class: "muted" }, " … "), text.slice(text.length - tail)] : text
}))

/** @param {Edit} edit in ms (merge.md, Clocks) */
const momentOf = ({ clock }) => Date.parse(clock.slice(0, 24))

/** @param {Edit[]} edits newest first @returns {Group[]} */
const grouped = edits => {
  /** @type {Group[]} */
  const groups = []
  for (const edit of edits) {
    let last = groups[groups.length - 1]
    const newer = last?.edits[last.edits.length - 1]
    if (newer?.device.uniqueID !== edit.device.uniqueID || momentOf(newer) - momentOf(edit) > MOMENT) groups.push(last = { edits: [] })
    last.edits.push(edit)
    if (edit.attribute === "text") last.text ??= edit
  }
  groups.reduceRight((before, group) => {
    group.before = before
    return group.text?.value ?? before
  }, /** @type {string | undefined} */ (undefined))
  return groups
}

/**
 * A list that comes in pages.
 * @param {HTMLElement} list @param {(cursor?: string) => Promise<string | undefined>} take shows a page, and says what the next is @param {() => import("./dom.js").Child} none
 */
const paged = (list, take, none) => {
  const foot = h("div", { "aria-live": "polite" })
  /** @param {string} [cursor] */
  const load = async cursor => {
    fill(foot, h("p", { class: "muted" }, "Asking the server…"))
    try {
      const next = await take(cursor)
      fill(foot, next ? button("Show older", { onclick: () => load(next) }) : !list.childElementCount && none())
    } catch (error) {
      fill(foot, problemView(error, () => load(cursor)))
    }
  }
  load()
  return h("div", null, list, foot)
}

/** @type {import("./shell.js").Opener} */
export const history = (app, id) => {
  const { copy, engine, go, toast } = app
  /** @type {Edit[]} */
  const edits = []
  let server = "" // its node

  /** @param {string} text */
  const putBack = async text => {
    const note = copy.note(id)
    if (!note) return app.gone(id)
    const clock = await copy.write(id, text, { clock: note.textClock, value: note.text })
    go(`#/note/${id}`)
    toast("Put back", { label: "Undo", act: () => app.attempt(copy.write(id, note.text, { clock, value: text })) })
  }
  /** @param {Edit} edit */
  const said = ({ attribute, value }) => {
    const [name, member] = attribute.split(/\.(.*)/s)
    if (name === "archived") return value ? "Archived" : "Back from the archive"
    if (name === "sortDate") return `Moved in the list, to ${longDate(value)}`
    if (name === "tags") return `Tag “${copy.tag(member)?.name ?? "that is gone"}” ${value ? "added" : "removed"}`
    if (name === "attachments") return `${copy.attachment(member)?.filename ?? "A file"} ${value ? "added" : "taken out"}`
    return member === "pinned" ? value ? "Pinned" : "Unpinned" : `${member}: ${JSON.stringify(value)}`
  }
  /** @param {Group} group */
  const moment = ({ edits: [newest, ...rest], text, before = "" }) => {
    const { uniqueID, name } = newest.device
    const date = momentOf(newest)
    return h("li", null, h("div", { class: "spread" }, h("h2", null, h("time", { title: longDate(date) }, shortDate(date)),
      h("span", { class: "muted" }, " · ", name ?? (uniqueID === server ? "merged by the server" : "a device that was signed out"),
        uniqueID === copy.session?.device.uniqueID && " (this device)")),
    text?.standing ? h("span", { class: "muted" }, "This is how it is now") : typeof text?.value === "string"
      && button("Put back", { icon: "undo", "aria-label": `Put back the text of ${longDate(date)}`, onclick: () => app.attempt(putBack(text.value)) })),
    text && (typeof text.value === "string" ? marked(before, text.value) : h("p", { class: "muted" }, "These words are kept no longer.")),
    [newest, ...rest].map(edit => edit.attribute !== "text" && h("p", { class: "muted" }, said(edit))))
  }
  const list = h("ol", { class: "history" })
  const pages = paged(list, async cursor => {
    server ||= (await engine.server()).serverClock.slice(-16)
    const page = await engine.history(id, cursor)
    edits.push(...page.edits)
    fill(list, grouped(edits).map(moment))
    return page.nextCursor
  }, () => "This note has not reached the server yet. Its history begins there.")
  return { title: "History", element: h("div", null, h("a", { href: `#/note/${id}`, dir: "auto" }, copy.note(id)?.title || "The note"), pages) }
}

/** @type {import("./shell.js").Opener} */
export const deleted = app => {
  const { engine, go, toast } = app
  /** @param {{uniqueID: string, firstLine: string, deletionDate: string, purgeDate: string, device?: {name?: string}}} note */
  const row = ({ uniqueID, firstLine, deletionDate, purgeDate, device }) => {
    const name = firstLine || "Without words"
    const days = Math.ceil((Date.parse(purgeDate) - Date.now()) / 86_400_000)
    const putBack = async () => {
      const id = await engine.putBack(uniqueID)
      const open = button("Open", { "aria-label": `Open ${name}`, onclick: () => go(`#/note/${id}`) })
      act.replaceWith(open)
      open.focus()
      toast(`“${name}” is back`)
    }
    const act = button("Put back", { icon: "undo", "aria-label": `Put back ${name}`, onclick: () => app.attempt(putBack()) })
    return h("li", { class: "row" }, h("div", { class: "row-main" }, h("p", { class: "row-title", dir: "auto" }, name),
      h("p", { class: "muted small", title: longDate(deletionDate) }, `Deleted ${shortDate(deletionDate)}`, device?.name && ` on ${device.name}`,
        days > 0 ? ` · gone in ${plural(days, "day")}` : " · gone today")), act)
  }
  const list = h("ul", { class: "rows" })
  const pages = paged(list, async cursor => {
    const page = await engine.recentlyDeleted(cursor)
    list.append(...page.notes.map(row))
    return page.nextCursor
  }, () => h("div", { class: "empty" }, h("p", { class: "empty-title" }, "Nothing was deleted lately"), h("p", null, "What you delete can be put back from here for some weeks.")))
  return { title: "Recently deleted", element: pages }
}
