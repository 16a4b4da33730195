// How sync stands, all there is to know of it (clients.md, rule 6), and the shelf of what the server refused.

import { button, byteText, fill, h, plural, set, shortDate } from "./dom.js"
import { insecure } from "./notices.js"
import { ago, copyText, problemView, wordsOf } from "./problems.js"

/** @typedef {import("../sync/engine.js").Status} Status */

/**
 * In two words, in a sentence, and how good that is.
 * @param {Status} status @param {number} refused @returns {string[]}
 */
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

/** @type {import("./shell.js").Opener} */
export const indicator = app => {
  const { copy, engine } = app
  const words = h("span")
  const open = () => {
    const { element, stop } = sync({ ...app, go: to => { close(); app.go(to) } }, "")
    const close = app.dialog("Sync", element, { onclose: stop })
  }
  const element = h("button", { type: "button", class: "sync-indicator", "aria-haspopup": "dialog", onclick: open }, h("span", { class: "dot" }), words)
  const say = () => {
    const [short, long, tone] = wording(engine.status, copy.shelf().length)
    if (words.textContent !== short) fill(words, short)
    for (const [name, value] of [["data-tone", tone], ["title", long], ["aria-label", `Sync: ${short}`]]) set(element, name, value)
  }
  engine.addEventListener("status", say)
  copy.addEventListener("shelf", say)
  say()
  return { element }
}

/** @param {{count: number, total: number}} files @param {number} done */
const progress = ({ count, total }, done) => count > 0 && [`${plural(count, "file")}, ${byteText(done)} of ${byteText(total)}`,
  h("progress", { max: total || 1, value: done, "aria-label": "Progress" })]

/**
 * What there is to say, if there is.
 * @type {[string, (status: Status) => import("./dom.js").Child][]}
 */
const facts = [
  ["To send", ({ toSend }) => toSend ? plural(toSend, "change") : "Nothing"],
  ["To fetch", ({ toFetch: { objects, bytes } }) => objects ? `${plural(objects, "object")}, ${byteText(bytes)}` : "Nothing"],
  ["Uploading", ({ uploads }) => progress(uploads, uploads.sent)],
  ["Downloading", ({ downloads }) => progress(downloads, downloads.got)],
  ["Offline since", ({ offlineSince }) => offlineSince && `${shortDate(offlineSince)}, ${ago(offlineSince)}`],
  ["Next try", ({ nextTry }) => nextTry && nextTry > Date.now() && `In ${plural(Math.ceil((nextTry - Date.now()) / 1000), "second")}`],
  ["Last synced", ({ lastSync }) => lastSync ? ago(lastSync) : "Not yet"],
  ["Changes of others", ({ live, leads }) => `${live ? "Come as they happen" : "Are asked for now and then"}${leads ? "" : ", by another tab"}`],
  ["Other devices", ({ listeners }) => listeners && `${listeners.toLocaleString()} listening`],
  ["Storage", ({ isPersistent }) => isPersistent ? "Kept until you erase it" : isPersistent === false
    && "This browser may clear it when the disk is full. Installing the app or a bookmark makes it keep it."],
]

/** @param {ReturnType<import("../sync/engine.js").Engine["requests"]>[number]} request */
const line = ({ moment, method, path, status, milliseconds, bytes, requestID, problem }) => [new Date(moment).toISOString().slice(11, 23),
  method, path, status || "no answer", `${Math.round(milliseconds)} ms`, `${bytes} B`, requestID, problem].join("\t")

/** @type {import("./shell.js").Opener} */
const sync = app => {
  const { copy, engine, go } = app
  const listening = new AbortController()
  const { signal } = listening
  const words = h("p", { class: "sync-sentence", role: "status" })
  const act = button("", { onclick: () => engine.status.phase === "expired" ? go("#/signin") : engine.syncNow() })
  const problem = h("div")
  const said = facts.map(([label]) => ({ label, element: h("dd", { class: "number" }) }))
  const rows = said.map(({ label, element }) => h("div", null, h("dt", { class: "muted" }, label), element))
  const shelf = h("section")
  const log = h("ol", { class: "log mono", tabindex: 0, "aria-label": "Requests" })
  /**
   * Fills only if it is about something else than before, so that the focus stays.
   * @type {Map<Element, string>}
   */
  const told = new Map()
  /** @param {HTMLElement} element @param {any} about @param {() => import("./dom.js").Child} content */
  const tell = (element, about, content) => {
    const key = JSON.stringify(about)
    if (told.get(element) !== key) fill(element, content())
    told.set(element, key)
  }
  const say = () => {
    const { status } = engine
    const refused = copy.shelf()
    const [, long, tone] = wording(status, refused.length)
    tell(words, long, () => long)
    set(words, "data-tone", tone)
    tell(act, status.phase === "expired", () => status.phase === "expired" ? "Sign in again" : "Sync now")
    tell(problem, [status.problem, tone], () => status.problem && tone !== "good" && problemView(status.problem))
    tell(shelf, refused.map(({ key }) => key), () => refused.length > 0 && [h("h2", null, "Refused by the server"), h("ul", { class: "rows" }, refused.map(entry => refusal(app, entry)))])
    facts.forEach(([, contentOf], index) => {
      const content = contentOf(status)
      fill(said[index].element, content)
      rows[index].hidden = !content
    })
  }
  const fillLog = () => fill(log, engine.requests().map(request => h("li", null, line(request))).reverse())
  engine.addEventListener("status", say, { signal })
  engine.addEventListener("requests", fillLog, { signal })
  copy.addEventListener("shelf", say, { signal })
  const timer = setInterval(say, 1000)
  say()
  fillLog()
  return {
    element: h("div", { class: "sync-panel stack" }, h("div", { class: "spread" }, words, act), problem,
      !engine.status.isSecure && h("p", { class: "banner warn" }, insecure()), shelf, h("dl", { class: "facts" }, rows),
      h("details", null, h("summary", { class: "muted" }, "The last 200 requests"),
        button("Copy log", { icon: "copy", onclick: () => copyText(app, engine.requests().map(line).join("\n"), "The log is in the clipboard") }), log)),
    stop: () => { listening.abort(); clearInterval(timer) },
  }
}

/**
 * Edits that can be made again, once there is room or the server is well.
 * @param {import("./shell.js").App["copy"]} copy @param {any} entry @returns {Promise<any> | null}
 */
const again = (copy, { uniqueID, attribute = "", value, problem: { slug, status } }) => {
  const note = copy.note(uniqueID)
  const [name, id] = attribute.split(/\.(.*)/s)
  if (!note || status < 429 && slug !== "attachment-in-use") return null
  if (name === "text") return copy.write(uniqueID, value, { clock: note.textClock, value: note.text })
  if (name === "attachments") return copy.setMember(uniqueID, name, id, value)
  return null
}

/**
 * What was refused, why, and what can be done.
 * @param {import("./shell.js").App} app @param {any} entry
 */
const refusal = (app, entry) => {
  const { copy, go } = app
  const { uniqueID, attribute, deletion, value, problem, key, moment } = entry
  const [title, step] = wordsOf(problem)
  const [what, id] = attribute?.split(/\.(.*)/s) ?? []
  const name = copy.note(uniqueID)?.title ?? copy.tag(uniqueID)?.name ?? copy.attachment(uniqueID)?.filename ?? "Something that is gone"
  const isText = typeof value === "string"
  return h("li", { class: "row shelf" }, h("div", { class: "row-main" },
    h("p", { class: "row-title", dir: "auto" }, `${name}: ${deletion ? "its deletion" : copy.attachment(id)?.filename ?? copy.tag(id)?.name ?? what ?? "all of it"}`),
    h("p", null, `${title}. ${step}`), isText && h("p", { class: "muted small", dir: "auto" }, value.slice(0, 160)),
    h("p", { class: "muted small" }, shortDate(moment))),
  h("div", { class: "actions" }, copy.note(uniqueID) && button("Open", { onclick: () => go(`#/note/${uniqueID}`) }),
    isText && button("Copy the words", { onclick: () => copyText(app, value) }),
    (problem.status >= 429 || problem.slug === "attachment-in-use") && button("Try again", { onclick: () => app.attempt((again(copy, entry) ?? Promise.resolve()).then(() => copy.takeOffShelf(key))) }),
    button("Put away", { onclick: () => copy.takeOffShelf(key) })))
}
