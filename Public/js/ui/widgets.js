// What floats above the views: dialogs, menus, toasts; the live region that speaks; and what views say of problems.

import { button, h, icon, iconButton, plural } from "./dom.js"

const live = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" })
const toasts = h("div", { class: "toasts", role: "region", "aria-label": "Messages" })

/** Puts the live region and the place for toasts on the page. */
export const startWidgets = () => document.body.append(live, toasts)

/**
 * Has screen readers say it.
 * @param {string} text
 */
export const announce = text => {
  // The same words again are silent unless the region was empty for a frame.
  live.textContent = ""
  requestAnimationFrame(() => { live.textContent = text })
}

/**
 * A message at the foot of the page, gone after some seconds, but not while it is pointed at or has the focus.
 * @param {string} text @param {{label?: string, act?: () => void, seconds?: number}} options its button ("Undo")
 * @returns {() => void} takes it away
 */
export const toast = (text, { label, act, seconds = 5 } = {}) => {
  const end = () => item.remove()
  const item = h("div", { class: "toast" }, h("span", null, text),
    label && button(label, { class: "toast-action", onclick: () => { end(); act?.() } }),
    iconButton("close", "Dismiss", { onclick: end }))
  const wait = () => setTimeout(() => item.matches(":hover, :focus-within") ? wait() : end(), seconds * 1000)
  if (toasts.childElementCount > 2) toasts.firstChild?.remove()
  toasts.append(item)
  announce(text + (label ? `. ${label}: Control Z` : ""))
  wait()
  return end
}

/** Does what the newest toast offers. */
export const actOnToast = () => {
  const actions = /** @type {NodeListOf<HTMLElement>} */ (toasts.querySelectorAll(".toast-action"))
  actions[actions.length - 1]?.click()
}

/**
 * A modal dialog: Escape and a click beside it close it, and the focus goes back to where it was.
 * @param {string} title @param {import("./dom.js").Child} content
 * @param {{looks?: string, onclose?: () => void}} options
 * @returns {() => void} closes it
 */
export const dialog = (title, content, { looks = "", onclose } = {}) => {
  const before = document.activeElement
  const close = () => element.close()
  const element = h("dialog", { class: `dialog ${looks}`, "aria-label": title },
    h("header", { class: "dialog-head" }, h("h2", null, title), iconButton("close", "Close", { onclick: close })),
    h("div", { class: "dialog-body" }, content))
  element.addEventListener("pointerdown", event => { if (event.target === element) close() })
  element.addEventListener("close", () => {
    element.remove()
    if (before instanceof HTMLElement) before.focus()
    onclose?.()
  })
  document.body.append(element)
  element.showModal()
  return close
}

/**
 * A menu below its button: arrows, Home, End, first letters, Escape.
 * @param {HTMLElement} owner @param {MenuItem[]} items
 */
export const menu = (owner, items) => {
  const close = () => {
    if (!list.isConnected) return
    if (list.contains(document.activeElement)) owner.focus()
    list.remove()
    owner.setAttribute("aria-expanded", "false")
  }
  const entries = items.map(({ label, icon: name, act, looks = "", hint, checked }) => h("button", {
    type: "button", role: checked === undefined ? "menuitem" : "menuitemradio", "aria-checked": checked, tabindex: -1,
    class: `menu-item ${looks}`, onclick: () => { close(); act() },
  }, icon(checked ? "check" : name), h("span", null, label), hint && h("kbd", { "aria-hidden": true }, hint)))
  /** @param {KeyboardEvent} event */
  const onkeydown = event => {
    const { key } = event
    const at = entries.findIndex(entry => entry === document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[key]
    const letter = entries.find(entry => entry.textContent?.toLowerCase().startsWith(key.toLowerCase()))
    event.stopPropagation()
    if (key === "Escape" || key === "Tab") close()
    else if (to !== undefined) entries.at(to % entries.length)?.focus()
    else if (key.length === 1 && key !== " ") letter?.focus()
    else return
    event.preventDefault()
  }
  // A popover closes itself on a click elsewhere, and is above open dialogs; in those all that is not inside is inert.
  const list = h("div", {
    class: "menu", role: "menu", popover: "auto", "aria-label": owner.getAttribute("aria-label"), onkeydown,
    ontoggle: /** @param {any} event */ ({ newState }) => { if (newState === "closed") close() },
  }, entries)
  const parent = owner.closest("dialog") ?? document.body
  parent.append(list)
  Reflect.get(list, "showPopover")?.call(list)
  const { right, bottom, top } = owner.getBoundingClientRect()
  const isBelow = bottom + 4 + list.offsetHeight < innerHeight
  list.style.left = `${Math.max(8, Math.min(right, innerWidth - 8) - list.offsetWidth)}px`
  list.style.top = `${isBelow ? bottom + 4 : Math.max(8, top - 4 - list.offsetHeight)}px`
  owner.setAttribute("aria-expanded", "true")
  entries[0].focus()
}

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
 * @type {(text: string, done?: string) => Promise<any>}
 */
export const copyText = async (text, done = "Copied") => {
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
 * @type {(title: string, content: any, label: string, act: () => any, ...others: [string, () => any][]) => void}
 */
export const ask = (title, content, ...last) => {
  const [label, act, ...others] = last
  const ways = /** @type {[string, (() => any)?, string?][]} */ ([["Cancel"], ...others, [label, act, "danger"]])
  const close = dialog(title, h("div", { class: "stack" }, content, h("div", { class: "actions" },
    ways.map(([label, act, looks]) => button(label, { class: looks, onclick: () => { close(); act?.() } })))))
}
