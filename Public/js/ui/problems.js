// What went wrong, with the next step; and what several views do in the same way.

import { button, h, plural } from "./dom.js"

/** @typedef {import("./dom.js").Child} Child */

/**
 * The next step, where the server's own `detail` is not about this app (protocol.md, Errors).
 * @type {Object<string, string[]>}
 */
const words = {
  network: ["The server cannot be reached", "What you write is kept here. Look at the network, then try again."],
  unauthenticated: ["The session has ended", "Nothing is lost: sign in again to go on."],
  "internal-error": ["The server made a mistake", "Nothing is lost. If it stays, tell whoever runs the server, with the request below."],
  "quota-exceeded": ["The account is full", "Delete pictures or files that you no longer need, then try again."],
  "attachment-in-use": ["Another note has this file", "Take it out there, and it comes back here by itself."],
  "storage-full": ["The server's disk is full", "Tell whoever runs it, then try again."],
}

/**
 * Anything thrown, in words for people.
 * @param {any} error @returns {string[]} what, the next step
 */
export const wordsOf = error => words[error?.slug] ?? [error?.title || "That did not work",
  error?.detail || error?.message || "Reload the page and try again: your notes are kept."]

/**
 * A problem in its place.
 * @param {any} error @param {(() => void) | null} [again]
 */
export const problemView = (error, again) => {
  const [title, step] = wordsOf(error)
  return h("div", { class: "problem", role: "alert" }, h("p", { class: "row-title" }, title), h("p", null, step),
    error?.requestID && h("p", { class: "muted mono" }, `Request ${error.requestID}`),
    again && button("Try again", { icon: "sync", onclick: again }))
}

/**
 * "just now", "3 minutes ago".
 * @param {number | string} moment
 */
export const ago = moment => {
  const seconds = Math.max(0, (Date.now() - new Date(moment).getTime()) / 1000)
  const [unit, length] = seconds < 60 ? ["second", 1] : seconds < 3600 ? ["minute", 60] : seconds < 86_400 ? ["hour", 3600] : ["day", 86_400]
  return seconds < 5 ? "just now" : `${plural(Math.floor(seconds / Number(length)), String(unit))} ago`
}

/**
 * Puts text into the clipboard, and says so; without a secure context too.
 * @param {import("./shell.js").App} app @param {string} text @param {string} [done] what is said then
 */
export const copyText = async ({ toast }, text, done = "Copied") => {
  const area = h("textarea", { value: text, class: "visually-hidden" })
  const before = /** @type {HTMLElement | null} */ (document.activeElement)
  const parent = before?.closest("dialog") ?? document.body
  parent.append(area)
  area.select()
  const isDone = await navigator.clipboard?.writeText(text).then(() => true, () => false) || document.execCommand("copy")
  area.remove()
  before?.focus()
  toast(isDone ? done : "The browser did not let it be copied. Mark it and copy by hand.")
}

/**
 * Keeps a file. It never opens in this origin, whatever is in it.
 * @param {Blob} blob @param {string} name
 */
export const save = (blob, name) => {
  const href = URL.createObjectURL(blob.slice(0, blob.size, "application/octet-stream"))
  h("a", { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), 60_000) // Safari reads it only after the click.
}

/**
 * A question before what cannot be undone; each of the other ways out is a label and what it does.
 * @param {import("./shell.js").App} app @param {string} title @param {Child} content @param {string} label @param {() => any} act
 * @param {...[string, () => any]} others
 */
export const ask = (app, title, content, label, act, ...others) => {
  /** @type {(label: string, act: () => any, looks?: string) => HTMLElement} */
  const choice = (label, act, looks) => button(label, { class: looks, onclick: () => { close(); act() } })
  const close = app.dialog(title, h("div", { class: "stack" }, content, h("div", { class: "actions" },
    choice("Cancel", () => {}), others.map(([label, act]) => choice(label, act)), choice(label, act, "danger"))))
}
