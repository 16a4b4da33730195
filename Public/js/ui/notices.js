// What a person should hear of, gently: over the page what concerns all of it, over a note what a merge did to its words.

import { button, fill, h, iconButton, plural } from "./dom.js"
import { marked } from "./history.js"

/** @type {(() => void) | null} */
let update = null
let layOutBanners = () => {}

/**
 * A new version of the app waits.
 * @param {() => void} apply goes over to it
 */
export const offerUpdate = apply => {
  update = apply
  layOutBanners()
}

/** What is missing without a secure context, and what to do about it. */
export const insecure = () => h("span", null, "Over plain HTTP Hesper cannot open without a network, and others on the way can read along. ",
  h("a", { href: "/https.html" }, "How to serve it over HTTPS"))

/** @param {boolean | null | undefined} isShown @param {import("./dom.js").Child} content @param {...import("./dom.js").Child} buttons */
const banner = (isShown, content, ...buttons) => isShown && h("div", { class: "banner warn" }, h("p", null, content), h("div", { class: "actions" }, buttons))

/** @param {string} text @param {() => any} act */
const quiet = (text, act) => button(text, { class: "quiet", onclick: act })

/**
 * An element that is laid out anew when what it is about is another, so that the focus stays.
 * @param {() => [any, () => import("./dom.js").Child]} look
 */
const region = look => {
  const element = h("div", { role: "status" })
  let told = ""
  const layOut = () => {
    const [about, content] = look()
    const key = JSON.stringify(about)
    if (key !== told) fill(element, content())
    told = key
  }
  return { element, layOut }
}

/** @type {import("./shell.js").Opener} */
export const banners = ({ copy, engine, go }) => {
  const { element, layOut } = region(() => {
    const { phase, toSend, isPersistent, isSecure } = engine.status
    const isExpired = copy.session && phase === "expired"
    const isAtRisk = copy.session && !isExpired && toSend > 0 && isPersistent === false && phase !== "syncing" && phase !== "synced"
    const isNews = !isSecure && !copy.settings.get("knowsInsecure")
    const rescued = copy.notices().filter(({ kind }) => kind === "rescued")
    return [[isExpired, isAtRisk && toSend, isNews, update && 1, rescued.map(({ key }) => key)], () => [
      banner(isExpired, "This device was signed out. What you write stays here until you sign in again.", quiet("Sign in", () => go("#/signin"))),
      banner(isAtRisk, `${plural(toSend, "change")} not sent yet, in storage that this browser may clear. Stay until there is a network, or export.`,
        quiet("Export", () => go("#/transfer"))),
      banner(isNews, insecure(), iconButton("close", "Do not show this again", { onclick: () => copy.settings.set("knowsInsecure", true) })),
      banner(Boolean(update), "A new version is ready.", quiet("Reload", () => update?.())),
      rescued.map(({ key, into }) => banner(true, ["A note was deleted on another device while you wrote in it. Your words are kept in ",
        h("bdi", null, copy.note(into)?.title || "a new note"), "."], quiet("Open", () => { copy.dismiss(key); go(`#/note/${into}`) }),
      iconButton("close", "Dismiss", { onclick: () => copy.dismiss(key) }))),
    ]]
  })
  layOutBanners = layOut
  engine.addEventListener("status", layOut)
  for (const name of ["notice", "session", "settings"]) copy.addEventListener(name, layOut)
  layOut()
  return { element }
}

/**
 * A merge replaced words of yours in this note.
 * @type {import("./shell.js").Opener}
 */
export const notices = (app, id) => {
  const { copy, dialog, toast } = app
  const listening = new AbortController()
  /** @param {any} notice */
  const undo = async ({ key, mine }) => {
    const note = copy.note(id)
    if (!note) return
    const clock = await copy.write(id, mine, { clock: note.textClock, value: note.text })
    await copy.dismiss(key)
    toast("Your words are back", { label: "Undo", act: () => app.attempt(copy.write(id, note.text, { clock, value: mine })) })
  }
  /** @param {any} notice */
  const show = notice => {
    const close = dialog("What the merge did", h("div", { class: "stack" }, h("p", { class: "muted" }, "Struck out: your words that are gone. Underlined: what stands instead."),
      marked(notice.mine, copy.note(id)?.text ?? ""), h("div", { class: "actions" },
        button("Keep it so", { onclick: () => { close(); copy.dismiss(notice.key) } }),
        button("Put my words back", { class: "primary", onclick: () => { close(); app.attempt(undo(notice)) } }))))
  }
  const { element, layOut } = region(() => {
    const merged = copy.notices().filter(({ kind, uniqueID }) => kind === "merged" && uniqueID === id)
    return [merged.map(({ key }) => key), () => merged.map(notice => banner(true, "The same words were changed elsewhere, and yours were replaced.",
      quiet("Show", () => show(notice)), quiet("Undo", () => app.attempt(undo(notice))),
      iconButton("close", "Dismiss", { onclick: () => copy.dismiss(notice.key) })))]
  })
  copy.addEventListener("notice", layOut, { signal: listening.signal })
  layOut()
  return { element, stop: () => listening.abort() }
}
