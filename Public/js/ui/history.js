// What was, and what was lost: a note's edits, notes deleted lately, and the notices that say so. From all of it there is a way back.

import { difference } from "../model/text.js"
import { button, copyOf, fill, h, iconButton, longDate, plural, shortDate } from "./dom.js"
import { problemView } from "./widgets.js"

const MOMENT = 120_000 // ms; edits of one device that are closer are shown as one
const AROUND = 80 // UTF-16 code units of what stayed the same that are shown beside a difference

/** Two texts in one, what is only in one of them marked. */
const marked = (before, after) => h("div", { class: "marked", dir: "auto" }, difference(before, after).map(({ kind, text }, index, all) => {
  if (kind !== "same") return h(kind === "added" ? "ins" : "del", null, text)
  const head = index && AROUND
  const tail = index < all.length - 1 ? AROUND : 0
  return text.length > head + tail + 9 ? [text.slice(0, head), h("span", { class: "muted" }, " … "), text.slice(text.length - tail)] : text
}))

/** Writes an older text as a new edit, which can be undone. */
const putBack = async ({ copy, toast, attempt }, id, text, words) => {
  const { textClock = null, text: value = "" } = copy.note(id) ?? {}
  const clock = await copy.write(id, text, { clock: textClock, value })
  toast(words, { label: "Undo", act: () => attempt(copy.write(id, value, { clock, value: text })) })
}

const dateOf = ({ clock }) => Date.parse(clock.slice(0, 24)) // merge.md, Clocks

/** @type {(edits: PastEdit[]) => Moment[]} */
const momentsOf = edits => {
  const moments = /** @type {Moment[]} */ ([])
  for (const edit of edits) {
    let last = moments.at(-1)
    const newer = last?.edits.at(-1)
    if (newer?.device.uniqueID !== edit.device.uniqueID || dateOf(newer) - dateOf(edit) > MOMENT) moments.push(last = { edits: [] })
    last?.edits.push(edit)
    if (edit.attribute === "text" && last) last.text ??= edit
  }
  moments.reduceRight((before, moment) => (moment.before = before, moment.text?.value ?? before), "")
  return moments
}

/** A list of which the server has more; `take` shows a page of it. */
const paged = (looks, take, none) => {
  const list = h("ul", { class: looks })
  const foot = h("div", { "aria-live": "polite" })
  const load = async cursor => {
    fill(foot, h("p", { class: "muted" }, "Asking the server…"))
    try {
      const { nextCursor } = await take(list, cursor)
      fill(foot, nextCursor ? button("Show older", { onclick: () => load(nextCursor) }) : !list.firstChild && none)
    } catch (error) {
      fill(foot, problemView(error, () => load(cursor)))
    }
  }
  load()
  return h("div", null, list, foot)
}

/**
 * Who changed a note, when, and what.
 * @type {Opener}
 */
export const edits = (app, id) => {
  const { copy, engine } = app
  const known = /** @type {PastEdit[]} */ ([])
  let server = "" // its node
  /** @type {(edit: PastEdit) => string} */
  const said = ({ attribute, value }) => {
    const [name, member] = attribute.split(/\.(.*)/s)
    if (name === "archived") return value ? "Archived" : "Back from the archive"
    if (name === "sortDate") return `Moved in the list, to ${longDate(value)}`
    if (name === "tags") return `Tag “${copy.tag(member)?.name ?? "that is gone"}” ${value ? "added" : "removed"}`
    if (name === "attachments") return `${copy.attachment(member)?.filename ?? "A file"} ${value ? "added" : "taken out"}`
    return member === "pinned" ? value ? "Pinned" : "Unpinned" : `${member}: ${JSON.stringify(value)}`
  }
  /** @type {(moment: Moment) => HTMLElement} */
  const momentView = ({ edits, text, before = "" }) => {
    const [{ device: { uniqueID, name } }] = edits
    const date = dateOf(edits[0])
    const back = () => putBack(app, id, text?.value, "Put back").then(() => app.go(`#/note/${id}`))
    return h("li", null, h("div", { class: "spread" },
      h("h2", { title: longDate(date) }, shortDate(date), h("span", { class: "muted" }, " · ",
        name ?? (uniqueID === server ? "merged by the server" : "a device that was signed out"),
        uniqueID === copy.session?.device.uniqueID && " (this device)")),
      text?.standing ? h("span", { class: "muted" }, "This is how it is now")
        : text?.value !== undefined && button("Put back", { icon: "undo", "aria-label": `Put back the text of ${longDate(date)}`, onclick: () => app.attempt(back()) })),
    text && (text.value === undefined ? h("p", { class: "muted" }, "These words are kept no longer.") : marked(before, text.value)),
    edits.map(edit => edit.attribute !== "text" && h("p", { class: "muted" }, said(edit))))
  }
  const pages = paged("history", async (list, cursor) => {
    server ||= (await engine.server()).serverClock.slice(-16)
    const page = await engine.history(id, cursor)
    known.push(...page.edits)
    fill(list, momentsOf(known).map(momentView))
    return page
  }, "This note has not reached the server yet. Its history begins there.")
  return { title: "History", element: h("div", null, h("a", { href: `#/note/${id}`, dir: "auto" }, copy.note(id)?.title || "The note"), pages) }
}

/** @type {Opener} */
export const deleted = ({ engine, go, toast, attempt }) => {
  const row = ({ uniqueID, firstLine, deletionDate, purgeDate, device }) => {
    const name = firstLine || "Without words"
    const days = Math.ceil((Date.parse(purgeDate) - Date.now()) / 86_400_000)
    const back = async () => {
      const id = await engine.putBack(uniqueID)
      const open = button("Open", { "aria-label": `Open ${name}`, onclick: () => go(`#/note/${id}`) })
      act.replaceWith(open)
      open.focus()
      toast(`“${name}” is back`)
    }
    const act = button("Put back", { icon: "undo", "aria-label": `Put back ${name}`, onclick: () => attempt(back()) })
    return h("li", { class: "row" }, h("div", { class: "row-main" }, h("p", { class: "row-title", dir: "auto" }, name),
      h("p", { class: "muted small", title: longDate(deletionDate) }, `Deleted ${shortDate(deletionDate)}`, device?.name && ` on ${device.name}`,
        days > 0 ? ` · gone in ${plural(days, "day")}` : " · gone today")), act)
  }
  const pages = paged("rows", async (list, cursor) => {
    const page = await engine.recentlyDeleted(cursor)
    list.append(...page.notes.map(row))
    return page
  }, copyOf("nothing-deleted").element)
  return { title: "Recently deleted", element: pages }
}

let update = null
let lookAgain = () => {}
/**
 * A new version of the app waits.
 * @type {(apply: () => void) => void}
 */
export const offerUpdate = apply => {
  update = apply
  lookAgain()
}

/** A line for each thing that `look` finds: [key, words, buttons]. Those that stay are left alone, so that the focus stays. */
const region = look => {
  const element = h("div", { role: "status" })
  let told = ""
  const layOut = () => {
    const found = look().filter(Boolean)
    const keys = String(found.map(([key]) => key))
    if (keys !== told) fill(element, found.map(([, words, ...buttons]) => h("div", { class: "banner warn" }, h("p", null, words), h("div", { class: "actions" }, buttons))))
    told = keys
  }
  return { element, layOut }
}
const quiet = (label, onclick) => button(label, { class: "quiet", onclick })
const dismiss = onclick => iconButton("close", "Dismiss", { onclick })

/**
 * Over everything: what is at risk, what is missing, what is new.
 * @type {Opener}
 */
export const banners = ({ copy, engine, go }) => {
  const { element, layOut } = region(() => {
    const { phase, toSend, isPersistent, isSecure } = engine.status
    return [
      copy.session && phase === "expired" && ["expired", "This device was signed out. What you write stays here until you sign in again.", quiet("Sign in", () => go("#/signin"))],
      toSend > 0 && isPersistent === false && (phase === "offline" || phase === "waiting") && [toSend,
        `${plural(toSend, "change")} not sent yet, in storage that this browser may clear. Stay until there is a network, or export.`, quiet("Export", () => go("#/transfer"))],
      !isSecure && !copy.settings.get("knowsInsecure") && ["insecure", copyOf("insecure").element, dismiss(() => copy.settings.set("knowsInsecure", true))],
      update && ["update", "A new version is ready.", quiet("Reload", () => update())],
      ...copy.notices().filter(({ kind }) => kind === "rescued").map(({ key, into }) => [key,
        ["A note was deleted on another device while you wrote in it. Your words are kept in ", h("bdi", null, copy.note(into)?.title || "a new note"), "."],
        quiet("Open", () => { copy.dismiss(key); go(`#/note/${into}`) }), dismiss(() => copy.dismiss(key))]),
    ]
  })
  lookAgain = layOut
  engine.addEventListener("status", layOut)
  for (const name of ["notice", "session", "settings"]) copy.addEventListener(name, layOut)
  layOut()
  return { element }
}

/**
 * Over a note's text: a merge replaced words of yours.
 * @type {Opener}
 */
export const notices = (app, id) => {
  const { copy, attempt } = app
  const undo = ({ key, mine }) => attempt(putBack(app, id, mine, "Your words are back").then(() => copy.dismiss(key)))
  const show = notice => {
    const { element, words, keep, undo: back } = copyOf("merged")
    const close = app.dialog("What the merge did", element)
    words.append(marked(notice.mine, copy.note(id)?.text ?? ""))
    keep.onclick = () => { close(); copy.dismiss(notice.key) }
    back.onclick = () => { close(); undo(notice) }
  }
  const { element, layOut } = region(() => copy.notices().filter(({ kind, uniqueID }) => kind === "merged" && uniqueID === id).map(notice =>
    [notice.key, "The same words were changed elsewhere, and yours were replaced.", quiet("Show", () => show(notice)), quiet("Undo", () => undo(notice)), dismiss(() => copy.dismiss(notice.key))]))
  copy.addEventListener("notice", layOut)
  layOut()
  return { element, stop: () => copy.removeEventListener("notice", layOut) }
}
