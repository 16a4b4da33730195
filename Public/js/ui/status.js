// What a person is told: the state of sync in a button and the panel that it opens, with refused changes; banners, such as a
// new version, an expired session, storage that is full or at risk, words that a merge replaced.
import {putIn} from "../model/difference.js"
import {copyOf, copyText, dialog, fill, firstOf, follow, problemView, problemWords, tell, viewOf, wordsOf} from "./dom.js"

/** The name of a tag or file. @type {(copy: Copy, id: string) => string | undefined} */
export const nameOf = (copy, id) => copy.tag(id)?.name ?? copy.attachment(id)?.filename

/** Writes an earlier text into a note, with a way to undo it. */
export const putBack = ({copy, undoable}, id, text, said) => {
  const {textClock = null, text: value = ""} = copy.note(id) ?? {}
  const written = copy.write(id, text, {clock: textClock, value})
  return undoable(written, async () => copy.write(id, value, {clock: await written, value: text}), said)
}

/** The state of sync in words, from a template: short for the button, long for the panel; `tone` is its colour. */
const stateOf = ({copy, engine: {status}}) => {
  const {phase, toSend, held, toFetch, uploads, identical} = status
  const refused = copy.shelf().length
  const cases = {
    fetching: toFetch.objects, sending: toSend, uploading: uploads.count, syncing: phase === "syncing",
    refused, identical, synced: true,
  }
  const other = phase === "waiting" && held ? "full" : phase
  const kind = phase.startsWith("sync") ? Object.keys(cases).find(kind => cases[kind]) : other
  const {element, short, long} = copyOf(`is-${kind}`, {...status, refused})
  return {tone: element.dataset.tone, short: short.textContent, long: long.textContent}
}

/** @type {Indicator} */
export const indicate = (app, {sync, standing}) => follow(() => {
  const {tone, short, long} = stateOf(app)
  tell(standing, short)
  sync.dataset.tone = tone
  sync.title = long
  sync.ariaLabel = wordsOf("sync-name", {short})
}, [app.engine, "status"], [app.copy, "shelf"])

/** A line of the log of requests. */
const lineOf = entry => viewOf("request", {
  ...entry, time: new Date(entry.moment).toISOString().slice(11, 23), milliseconds: Math.round(entry.milliseconds),
})

/**
 * Opens the panel: the state of sync, refused changes, the log of requests.
 *
 * @param {Shell} app
 */
export const openSync = app => {
  const {copy, engine} = app
  const {element, words, problem, shelf, facts, log} = copyOf("sync", {
    isSecure: engine.status.isSecure, sync: () => engine.syncNow(),
    copyLog: () => copyText(engine.requests().map(entry => lineOf(entry).textContent).join("\n"), "log-copied"),
  })
  const update = () => {
    const {status} = engine
    const {phase, problem: trouble, nextTry, isPersistent} = status
    const entries = copy.shelf()
    const {tone, long} = stateOf(app)
    words.dataset.tone = tone
    tell(words, long)
    element.dataset.phase = phase
    tell(problem, [trouble, tone], () => trouble && tone !== "good" && problemView(trouble))
    tell(shelf, entries.map(({key}) => key), () => entries.map(entry => refusal(app, entry)))
    const seconds = Math.max(0, Math.ceil(((nextTry ?? 0) - Date.now()) / 1000))
    const known = viewOf("facts", {...status, seconds, isRisky: isPersistent === false})
    tell(facts, known.textContent, () => known)
    const requests = engine.requests()
    tell(log, requests, () => requests.map(lineOf).reverse())
  }
  update()
  const timer = setInterval(update, 500)
  dialog(element).addEventListener("close", () => clearInterval(timer))
}

/** A refused change, with what can be done about it. */
const refusal = ({copy, attempt}, entry) => {
  const {uniqueID, attribute = "", value, problem: {status, slug}, key} = entry
  const [kind, id] = attribute.split(/\.(.*)/s)
  const note = copy.note(uniqueID)
  const isText = typeof value === "string"
  const isTemporary = status >= 429 || slug === "attachment-in-use"
  const dismiss = () => copy.takeOffShelf(key)
  const again = () => attempt((kind === "text" ? copy.write(uniqueID, value, {clock: note.textClock, value: note.text})
    : copy.setMember(uniqueID, kind, id, value)).then(dismiss))
  return viewOf("refusal", {
    ...entry, whose: note?.title ?? nameOf(copy, uniqueID), what: nameOf(copy, id) ?? wordsOf(firstOf(`attribute-${kind}`, "attribute-other"), {kind}),
    why: problemWords(entry.problem), words: isText && value.slice(0, 160), dismiss,
    open: note && (() => { location.hash = `#/note/${uniqueID}` }), keep: isText && (() => copyText(value)),
    again: isTemporary && note && /^(text|attachments)$/.test(kind) && again,
  })
}

/** @type {Region} */
export const region = (look, ...events) => {
  const {element} = copyOf("region")
  return {element, stop: follow(() => {
    const found = look().filter(Boolean)
    tell(element, found, () => found.map(([id, values]) => viewOf(id, values)))
  }, ...events)}
}

/** The banner of a new version. */
export const news = viewOf("region")
/** @param {() => void} act */
export const offerUpdate = act => fill(news, viewOf("banner-new", {act}))

/** @type {Opener} */
export const banners = ({copy, engine}) => region(() => {
  const {phase, toSend, held, isPersistent, isSecure} = engine.status
  const isOffline = phase === "offline"
  const isAtRisk = isPersistent === false && (isOffline || phase === "waiting")
  return [
    copy.session && phase === "expired" && ["banner-expired"],
    held && ["banner-full", {held}],
    isAtRisk && toSend ? ["banner-at-risk", {toSend, isOffline}] : isOffline && !copy.settings.get("knowsOffline")
      && ["banner-offline", {dismiss: () => copy.settings.set("knowsOffline", true)}],
    !isSecure && !copy.settings.get("knowsInsecure")
      && ["banner-insecure", {dismiss: () => copy.settings.set("knowsInsecure", true)}],
    ...copy.notices().filter(({kind}) => kind !== "merged").map(({key, kind, into}) => {
      const dismiss = () => copy.dismiss(key)
      return [`banner-${kind}`, {into, title: copy.note(into)?.title || wordsOf("a-new-note"), open: dismiss, dismiss}]
    }),
  ]
}, [engine, "status"], [copy, "notice"], [copy, "session"], [copy, "settings"])

/** @type {Opener} */
export const notices = (app, id) => {
  const {copy} = app
  // Earlier versions stored only the words, as `mine`.
  const view = ({key, clock, mine, superseded = [{text: mine, location: 0, length: 0}]}) => {
    const {textClock, text = ""} = copy.note(id) ?? {}
    const dismiss = () => copy.dismiss(key)
    const undo = () => putBack(app, id, putIn(text, superseded), "words-back").then(dismiss)
    const words = superseded.map(one => one.text).join("\n")
    const isSame = textClock === clock
    return ["banner-merged", {key, words, isSame, undo, dismiss, copyWords: () => copyText(words)}]
  }
  return region(() => copy.notices().filter(({kind, uniqueID}) => kind === "merged" && uniqueID === id).map(view),
    [copy, "notice"], [copy, "change"])
}
