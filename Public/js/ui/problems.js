// What went wrong, with the next step; and what several views do alike.

import { button, h, plural } from "./dom.js"

/** What it is, and the next step, where the server's own `detail` is not about this app (protocol.md, Errors). */
const words = {
  network: ["The server cannot be reached", "What you write is kept here. Look at the network, then try again."],
  unauthenticated: ["The session has ended", "Nothing is lost: sign in again to go on."],
  "internal-error": ["The server made a mistake", "Nothing is lost. If it stays, tell whoever runs it the request below."],
  "quota-exceeded": ["The account is full", "Delete pictures or files that you no longer need, then try again."],
  "storage-full": ["The server's disk is full", "Tell whoever runs it, then try again."],
  "attachment-in-use": ["Another note has this file", "Take it out there, and it comes back here by itself."],
}

/** @returns {string[]} */
export const wordsOf = error => words[error.slug] ?? [error.title ?? "That did not work", error.detail ?? error.message]

/**
 * A problem in its place.
 * @type {(error: any, again?: (() => any) | null) => HTMLElement}
 */
export const problemView = (error, again) => {
  const [title, step] = wordsOf(error)
  return h("div", { class: "problem", role: "alert" }, h("p", { class: "row-title" }, title), h("p", null, step),
    error.requestID && h("p", { class: "muted mono" }, `Request ${error.requestID}`),
    again && button("Try again", { icon: "sync", onclick: again }))
}

/**
 * "just now", "3 minutes ago".
 * @type {(moment: number | string) => string}
 */
export const ago = moment => {
  const seconds = (Date.now() - new Date(moment).getTime()) / 1000
  for (const [unit, length] of /** @type {[string, number][]} */ ([["day", 86_400], ["hour", 3600], ["minute", 60], ["second", 1]])) {
    if (seconds >= 5 && seconds >= length) return `${plural(Math.floor(seconds / length), unit)} ago`
  }
  return "just now"
}

/**
 * Puts text into the clipboard, without a secure context too.
 * @type {(app: Shell, text: string, done?: string) => Promise<any>}
 */
export const copyText = async ({ toast }, text, done = "Copied") => {
  const before = /** @type {HTMLElement} */ (document.activeElement)
  const area = h("textarea", { value: text, class: "visually-hidden" })
  before.after(area)
  area.select()
  const isDone = await navigator.clipboard?.writeText(text).then(() => true, () => false) || document.execCommand("copy")
  area.remove()
  before.focus()
  toast(isDone ? done : "The browser did not let it be copied. Mark it and copy by hand.")
}

/**
 * Keeps a file; whatever is in it, it never opens in this origin.
 * @type {(blob: Blob, name: string) => void}
 */
export const save = (blob, name) => {
  const href = URL.createObjectURL(blob.slice(0, blob.size, "application/octet-stream"))
  h("a", { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), 60_000) // Safari reads it only after the click.
}

/**
 * A question before what cannot be undone, and its other ways out.
 * @type {(app: Shell, title: string, content: any, label: string, act: () => any, ...others: [string, () => any][]) => void}
 */
export const ask = (app, title, content, ...last) => {
  const [label, act, ...others] = last
  const ways = /** @type {[string, (() => any)?, string?][]} */ ([["Cancel"], ...others, [label, act, "danger"]])
  const close = app.dialog(title, h("div", { class: "stack" }, content, h("div", { class: "actions" },
    ways.map(([label, act, looks]) => button(label, { class: looks, onclick: () => { close(); act?.() } })))))
}
