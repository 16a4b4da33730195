// How views are built: text only ever becomes text nodes; there are no HTML strings and no inline styles.
//
// `h(tag, properties, ...children)`: `class`; on… with a function; `value`, `checked` as properties; the rest are
// attributes (`true` sets one, `false` and `null` leave it out; aria-* say "true" or "false"). Children: nodes, text,
// arrays; `null`, `undefined` and `false` are left out. A view is `(app, id) => View` (frame.d.ts): it listens for
// itself, and lets go in `stop()`. What changes often is changed in place, so that the focus stays. Dialogs, menus and
// toasts are in widgets.js, the looks in css/app.css.

/** @typedef {Node | string | number | null | undefined | false | any[]} Child arrays: of Child */

const addresses = /^(#|\/(?!\/)|https?:|mailto:|blob:|data:image\/)/i

/**
 * Sets one property or attribute as `h` does.
 * @param {Element} element @param {string} name @param {any} value @returns {any}
 */
export const set = (element, name, value) => {
  if (typeof value === "function") return element.addEventListener(name.slice(2), value)
  if (name === "value" || name === "checked") return Reflect.set(element, name, value)
  const isState = name.startsWith("aria-")
  if (value === null || value === undefined || value === false && !isState) return element.removeAttribute(name)
  const isAddress = name === "href" || name === "src"
  if (/^(on|style$)/.test(name) || isAddress && !addresses.test(value)) throw new TypeError(`no ${name} here`)
  element.setAttribute(name, value === true && !isState ? "" : String(value))
}

/** @param {Child[]} children @returns {(Node | string)[]} */
const nodes = children => /** @type {any[]} */ (children.flat(9)).filter(child => child || child === 0 || child === "")

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Object<string, any> | null} [properties] @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export const h = (tag, properties, ...children) => {
  const element = document.createElement(tag)
  element.append(...nodes(children))
  for (const name in properties) set(element, name, properties[name])
  return element
}

/**
 * Puts these children into the element, in place of what is there.
 * @template {Element} E @param {E} element @param {...Child} children
 */
export const fill = (element, ...children) => {
  element.replaceChildren(...nodes(children))
  return element
}

/**
 * A drawing of index.html. It says nothing to screen readers: whatever it is in has a name.
 * @param {string} name @param {string} [looks]
 */
export const icon = (name, looks = `icon icon-${name}`) => {
  const [image, use] = ["svg", "use"].map(tag => document.createElementNS("http://www.w3.org/2000/svg", tag))
  set(use, "href", `#icon-${name}`)
  set(image, "class", looks)
  set(image, "aria-hidden", true)
  image.append(use)
  return image
}

/**
 * What a template of index.html holds, `element`, and its parts by their `data-part`.
 * @param {string} id @returns {Record<string, any>}
 */
export const copyOf = id => {
  const { content } = /** @type {HTMLTemplateElement} */ (document.getElementById(id))
  const element = /** @type {HTMLElement} */ (document.importNode(content, true).firstElementChild)
  const parts = [...element.querySelectorAll("[data-part]")].map(part => [part.getAttribute("data-part"), part])
  return { element, ...Object.fromEntries(parts) }
}

/** @param {string} label @param {Object<string, any>} properties `icon`: drawn before the label; else as for `h` */
export const button = (label, { icon: name, class: looks = "", ...properties } = {}) =>
  h("button", { type: "button", class: `button ${looks}`, ...properties }, name && icon(name), label)

/** @param {string} name of the icon @param {string} label also its tooltip @param {Object<string, any>} properties */
export const iconButton = (name, label, { class: looks = "", ...properties } = {}) =>
  h("button", { type: "button", class: `icon-button ${looks}`, "aria-label": label, title: label, ...properties },
    icon(name))

/**
 * "1 note", "3 notes".
 * @param {number} count @param {string} one @param {string} [many]
 */
export const plural = (count, one, many = `${one}s`) => `${count.toLocaleString()} ${count === 1 ? one : many}`

const [time, weekday, day, year, full] = /** @type {Intl.DateTimeFormatOptions[]} */ ([
  { hour: "2-digit", minute: "2-digit" }, { weekday: "long" }, { day: "numeric", month: "short" },
  { day: "numeric", month: "short", year: "numeric" }, { dateStyle: "long", timeStyle: "short" },
]).map(options => new Intl.DateTimeFormat(undefined, options))

/**
 * As short as it can be said today: "19:05", "Yesterday", "Tuesday", "3 Nov", "3 Nov 2024".
 * @param {string | number} date
 */
export const shortDate = date => {
  const moment = new Date(date), now = new Date()
  if (Number.isNaN(moment.getTime())) return ""
  const isThisYear = moment.getFullYear() === now.getFullYear()
  const days = Math.round((now.setHours(0, 0, 0, 0) - new Date(moment).setHours(0, 0, 0, 0)) / 86_400_000)
  if (days === 1) return "Yesterday"
  return (days === 0 ? time : days > 0 && days < 7 ? weekday : isThisYear ? day : year).format(moment)
}

/**
 * "3 November 2026 at 19:05".
 * @param {string | number} date
 */
export const longDate = date => Number.isNaN(new Date(date).getTime()) ? "" : full.format(new Date(date))

/**
 * "812 bytes", "24 KB", "3.1 MB".
 * @param {number} count
 */
export const byteText = count => {
  if (count < 1000) return plural(count, "byte")
  const power = count < 1e6 ? 1 : count < 1e9 ? 2 : 3
  const value = count / 1000 ** power
  const maximumFractionDigits = value < 10 && power > 1 ? 1 : 0
  return `${value.toLocaleString(undefined, { maximumFractionDigits })} ${["KB", "MB", "GB"][power - 1]}`
}
