// What floats above the views: dialogs, menus, toasts; and the live region that speaks.

import { button, h, icon, iconButton } from "./dom.js"

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
