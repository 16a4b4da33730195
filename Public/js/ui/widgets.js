// What floats above the views: dialogs, menus, toasts, and the live region that speaks for them.

import { button, fill, h, icon, iconButton } from "./dom.js"

const live = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" })
const toasts = h("div", { class: "toasts", role: "region", "aria-label": "Messages" })

/** Puts the live region and the place for toasts on the page, once. */
export const startWidgets = () => document.body.append(live, toasts)

/**
 * Has screen readers say it.
 * @param {string} text
 */
export const announce = text => {
  live.textContent = ""
  // A region that is given the same words again is silent unless it was empty for a frame.
  requestAnimationFrame(() => { live.textContent = text })
}

/**
 * A message at the foot of the page, gone after some seconds (not while it is pointed at or holds the focus).
 * @param {string} text
 * @param {{label?: string, act?: () => void, seconds?: number, ended?: () => void}} options `label` and `act`: its button ("Undo");
 *   `ended` is called when it went away without being acted on
 * @returns {() => void} takes it away
 */
export const toast = (text, { label, act, seconds = 5, ended } = {}) => {
  let timer = 0
  const end = () => {
    clearTimeout(timer)
    if (!item.isConnected) return
    item.remove()
    ended?.()
  }
  const wait = () => { clearTimeout(timer); timer = window.setTimeout(end, seconds * 1000) }
  const use = () => { ended = undefined; end(); act?.() }
  const item = h("div", { class: "toast", onmouseleave: wait, onfocusout: wait },
    h("span", null, text),
    label && button(label, { class: "toast-action", onclick: use }),
    iconButton("close", "Dismiss", { onclick: end }))
  const hold = () => clearTimeout(timer)
  item.addEventListener("mouseenter", hold)
  item.addEventListener("focusin", hold)
  while (toasts.childElementCount > 2) toasts.firstElementChild?.remove()
  toasts.append(item)
  announce(label ? `${text}. ${label}: Control Z` : text)
  wait()
  return end
}

/**
 * Does what the newest toast offers (Control Z outside of a text).
 * @returns {boolean} whether there was one
 */
export const actOnToast = () => {
  const actions = /** @type {NodeListOf<HTMLElement>} */ (toasts.querySelectorAll(".toast-action"))
  actions[actions.length - 1]?.click()
  return actions.length > 0
}

/**
 * A modal dialog; Escape and a click beside it close it; the focus goes back to where it was.
 * @param {string} title @param {import("./dom.js").Child} content
 * @param {{looks?: "wide" | "side" | "", onclose?: () => void}} options "side": a panel at the edge; on phones it comes from below
 * @returns {() => void} closes it
 */
export const dialog = (title, content, { looks = "", onclose } = {}) => {
  const before = document.activeElement
  const close = () => element.close()
  const heading = h("h2", { id: `dialog-${Date.now()}` }, title)
  const element = h("dialog", { class: `dialog ${looks}`, "aria-labelledby": heading.id },
    h("header", { class: "dialog-head" }, heading, iconButton("close", "Close", { onclick: close })),
    h("div", { class: "dialog-body" }, content))
  element.addEventListener("pointerdown", event => { if (event.target === element) close() })
  element.addEventListener("close", () => {
    element.remove()
    if (before instanceof HTMLElement && before.isConnected) before.focus()
    onclose?.()
  })
  document.body.append(element)
  element.showModal()
  return close
}

/** @typedef {{label: string, icon?: string, act: () => void, looks?: string, hint?: string, checked?: boolean}} MenuItem */

/**
 * A menu below its button: arrow keys, Home, End, letters, Escape.
 * @param {HTMLElement} owner @param {(MenuItem | null | false)[]} items
 */
export const menu = (owner, items) => {
  const close = () => {
    if (!list.isConnected) return
    list.remove()
    owner.setAttribute("aria-expanded", "false")
    removeEventListener("pointerdown", outside, true)
    removeEventListener("resize", close)
  }
  /** @param {Event} event */
  const outside = event => { if (!list.contains(/** @type {Node} */ (event.target))) close() }
  /** @param {KeyboardEvent} event */
  const move = event => {
    const all = [.../** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll("button"))]
    const at = all.findIndex(item => item === document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key]
    if (to !== undefined) all[to % all.length].focus()
    else if (event.key === "Escape" || event.key === "Tab") { close(); owner.focus() }
    else if (event.key.length === 1 && event.key !== " ") {
      all.find(item => item.textContent?.toLowerCase().startsWith(event.key.toLowerCase()))?.focus()
    } else return
    event.preventDefault()
    event.stopPropagation()
  }
  const entries = items.flatMap(item => !item ? [] : [h("button", {
    type: "button", role: item.checked === undefined ? "menuitem" : "menuitemradio", "aria-checked": item.checked,
    class: `menu-item ${item.looks ?? ""}`, tabindex: -1, onclick: () => { close(); owner.focus(); item.act() },
  }, icon(item.checked ? "check" : item.icon ?? "none"), h("span", null, item.label), item.hint && h("kbd", null, item.hint))])
  const list = h("div", { class: "menu", role: "menu", onkeydown: move, "aria-label": owner.getAttribute("aria-label") ?? "Menu" }, entries)
  // Inside an open dialog the rest of the page is inert, so the menu has to be in it.
  const parent = owner.closest("dialog") ?? document.body
  parent.append(list)
  const place = owner.getBoundingClientRect()
  const left = Math.max(8, Math.min(place.right - list.offsetWidth, innerWidth - list.offsetWidth - 8))
  const below = place.bottom + 4 + list.offsetHeight < innerHeight
  list.style.left = `${left}px`
  list.style.top = `${below ? place.bottom + 4 : Math.max(8, place.top - 4 - list.offsetHeight)}px`
  owner.setAttribute("aria-expanded", "true")
  addEventListener("pointerdown", outside, true)
  addEventListener("resize", close)
  entries[0]?.focus()
  return close
}

/**
 * Empties a list of elements and says in it what to do.
 * @param {Element} element @param {string} title @param {import("./dom.js").Child[]} rest
 */
export const sayEmpty = (element, title, ...rest) =>
  fill(element, h("div", { class: "empty" }, h("p", { class: "empty-title" }, title), ...rest))
