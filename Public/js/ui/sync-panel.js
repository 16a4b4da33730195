// How sync stands, all there is to know of it (clients.md, rule 6), and the shelf of what the server refused.

import { button, byteText, copyOf, fill, h, plural, set, shortDate } from "./dom.js"
import { ago, copyText, problemView, wordsOf } from "./widgets.js"

/** In two words, in a sentence, and how good that is. */
const wording = ({ phase, toSend, toFetch, uploads, identical }, refused) => {
  const kept = toSend ? `${plural(toSend, "change")} kept here until then.` : "What you write is kept here until then."
  const count = `${toSend.toLocaleString()} to send`
  if (phase === "signed-out" || phase === "expired") return ["Sign in", `The session has ended: sign in again. ${kept}`, "bad"]
  if (phase === "offline") return [toSend ? `Offline, ${count}` : "Offline", `Offline. ${kept}`, "off"]
  if (phase === "waiting") return ["Waiting", `Trying again soon. ${kept}`, "off"]
  if (toFetch.objects) return [`${toFetch.objects.toLocaleString()} to fetch`, "Fetching what is new.", "busy"]
  if (toSend || uploads.count) return [toSend ? count : "Uploading", "Sending what you wrote.", "busy"]
  if (phase === "syncing") return ["Syncing", "Asking the server what is new.", "busy"]
  if (refused) return [`${refused} refused`, `All synced, but ${plural(refused, "change")} that the server refused.`, "bad"]
  return ["Synced", identical ? "All synced, and identical on all devices." : "All synced.", "good"]
}

const progress = ({ count, total }, done) => count > 0 && [`${plural(count, "file")}, ${byteText(done)} of ${byteText(total)}`,
  h("progress", { max: total || 1, value: done, "aria-label": "Progress" })]

/** What there is to say of each, if there is. */
const facts = {
  toSend: ({ toSend }) => toSend ? plural(toSend, "change") : "Nothing",
  toFetch: ({ toFetch: { objects, bytes } }) => objects ? `${plural(objects, "object")}, ${byteText(bytes)}` : "Nothing",
  uploads: ({ uploads }) => progress(uploads, uploads.sent),
  downloads: ({ downloads }) => progress(downloads, downloads.got),
  offlineSince: ({ offlineSince }) => offlineSince && `${shortDate(offlineSince)}, ${ago(offlineSince)}`,
  nextTry: ({ nextTry }) => nextTry > Date.now() && `In ${plural(Math.ceil((nextTry - Date.now()) / 1000), "second")}`,
  lastSync: ({ lastSync }) => lastSync ? ago(lastSync) : "Not yet",
  live: ({ live, leads }) => `${live ? "Come as they happen" : "Are asked for now and then"}${leads ? "" : ", by another tab"}`,
  listeners: ({ listeners }) => listeners && `${listeners} listening`,
  isPersistent: ({ isPersistent }) => isPersistent ? "Kept until you erase it" : isPersistent === false
    && "This browser may clear it when the disk is full. Installing the app or a bookmark makes it keep it.",
}

const line = ({ moment, method, path, status, milliseconds, bytes, requestID, problem }) => [new Date(moment).toISOString().slice(11, 23),
  method, path, status || "no answer", `${Math.round(milliseconds)} ms`, `${bytes} B`, requestID, problem].join("\t")

/**
 * Opens to all there is to know.
 * @type {Opener}
 */
export const indicator = app => {
  const { copy, engine } = app
  const words = h("span")
  const element = h("button", { type: "button", class: "sync-indicator", "aria-haspopup": "dialog", onclick: () => open(app) }, h("span", { class: "dot" }), words)
  const say = () => {
    const [short, long, tone] = wording(engine.status, copy.shelf().length)
    if (words.textContent !== short) fill(words, short)
    set(element, "data-tone", tone)
    set(element, "title", long)
    set(element, "aria-label", `Sync: ${short}`)
  }
  engine.addEventListener("status", say)
  copy.addEventListener("shelf", say)
  say()
  return { element }
}

const open = app => {
  const { copy, engine } = app
  const { element, words, act, problem, insecure, refused, shelf, copyLog, log, ...parts } = copyOf("sync")
  const go = to => {
    close()
    app.go(to)
  }
  /** Fills it if that is about something else than before: the focus stays. */
  const tell = (part, about, content) => {
    const key = JSON.stringify(about)
    if (part.dataset.about !== key) fill(part, content())
    part.dataset.about = key
  }
  const say = () => {
    const { status } = engine
    const entries = copy.shelf()
    const [, long, tone] = wording(status, entries.length)
    const label = status.phase === "expired" ? "Sign in again" : "Sync now"
    set(words, "data-tone", tone)
    tell(words, long, () => long)
    tell(act, label, () => label)
    tell(problem, [status.problem, tone], () => status.problem && tone !== "good" && problemView(status.problem))
    tell(shelf, entries.map(({ key }) => key), () => entries.map(entry => refusal({ ...app, go }, entry)))
    tell(log, engine.requests().at(-1)?.requestID, () => engine.requests().map(request => h("li", null, line(request))).reverse())
    refused.hidden = !entries.length
    for (const name in facts) {
      const content = facts[name](status)
      fill(parts[name], content)
      parts[name].parentElement.hidden = !content
    }
  }
  act.onclick = () => engine.status.phase === "expired" ? go("#/signin") : engine.syncNow()
  copyLog.onclick = () => copyText(engine.requests().map(line).join("\n"), "The log is in the clipboard")
  if (engine.status.isSecure) insecure.remove()
  else insecure.append(copyOf("insecure").element)
  say()
  const timer = setInterval(say, 500)
  const close = app.dialog("Sync", element, { onclose: () => clearInterval(timer) })
}

/** What was refused, why, and what can be done. */
const refusal = (app, { uniqueID, attribute = "", deletion, value, problem, key, moment }) => {
  const { copy, go, attempt } = app
  const [what, id] = attribute.split(/\.(.*)/s)
  const note = copy.note(uniqueID)
  const whose = note?.title ?? copy.tag(uniqueID)?.name ?? copy.attachment(uniqueID)?.filename ?? "Something that is gone"
  const part = deletion ? "its deletion" : copy.attachment(id)?.filename ?? copy.tag(id)?.name ?? (what || "all of it")
  const isText = typeof value === "string"
  // Once there is room, or the server is well.
  const isWorthIt = note && (problem.status >= 429 || problem.slug === "attachment-in-use") && (what === "text" || what === "attachments")
  const again = () => what === "text" ? copy.write(uniqueID, value, { clock: note.textClock, value: note.text }) : copy.setMember(uniqueID, what, id, value)
  const putAway = () => copy.takeOffShelf(key)
  return h("li", { class: "row shelf" }, h("div", { class: "row-main" }, h("p", { class: "row-title", dir: "auto" }, `${whose}: ${part}`),
    h("p", null, wordsOf(problem).join(". ")), isText && h("p", { class: "muted small", dir: "auto" }, value.slice(0, 160)), h("p", { class: "muted small" }, shortDate(moment))),
  h("div", { class: "actions" }, note && button("Open", { onclick: () => go(`#/note/${uniqueID}`) }),
    isText && button("Copy the words", { onclick: () => copyText(value) }),
    isWorthIt && button("Try again", { onclick: () => attempt(again().then(putAway)) }), button("Put away", { onclick: putAway })))
}
