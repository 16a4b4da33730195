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
 * On a field of 24 by 24, with a line of 1.6.
 * @type {Object<string, string>}
 */
const drawings = {
  archive: "M4 8v10.5A1.5 1.5 0 0 0 5.5 20h13a1.5 1.5 0 0 0 1.5-1.5V8M3 4.5h18V8H3zM10 12h4",
  attach: "m20 11.5-8.2 8.2a5 5 0 0 1-7.1-7.1l8.5-8.5a3.3 3.3 0 0 1 4.7 4.7l-8.5 8.5a1.7 1.7 0 0 1-2.4-2.4l7.8-7.8",
  back: "m14.5 5-7 7 7 7",
  check: "m5 12.5 4.5 4.5L19 7",
  close: "m6 6 12 12M18 6 6 18",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  device: "M7 3h10v18H7zM11 18h2",
  download: "M12 4v11m-5-4.5 5 5 5-5M4 20h16",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  help: "M9.3 9.2A2.8 2.8 0 1 1 13 11.8c-.7.3-1 .8-1 1.7M12 17v.1M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0z",
  history: "M4 12a8 8 0 1 0 2.5-5.8L4 8.5M4 4v4.5h4.5M12 7.5V12l3 2",
  laptop: "M5 5h14v10H5zM2.5 19h19",
  menu: "M4 7h16M4 12h16M4 17h10",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
  more: "M5.5 12v.1M12 12v.1M18.5 12v.1",
  notes: "M5 4h14v16H5zM9 9h6M9 13h6",
  pencil: "m5 19 .8-4L16.5 4.3l3.2 3.2L9 18.2zM14 7l3 3",
  picture: "M4 5h16v14H4zm0 11 4.5-4.5 4 4 2.5-2.5 5 4.5M15.5 9v.1",
  pin: "M9 3.5h6M10 3.5v6L7 13v1.5h10V13l-3-3.5v-6M12 14.5V21",
  plus: "M12 5v14M5 12h14",
  search: "m20 20-4.3-4.3M17.5 11a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0z",
  "sign-out": "M14 4H5v16h9M10 12h10m-3.5-3.5L20 12l-3.5 3.5",
  star: "M12 2.5c.9 5.6 3.9 8.6 9.5 9.5-5.6.9-8.6 3.9-9.5 9.5-.9-5.6-3.9-8.6-9.5-9.5 5.6-.9 8.6-3.9 9.5-9.5z",
  sun: "M12 3v2m0 14v2M3 12h2m14 0h2M5.6 5.6 7 7m10 10 1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0z",
  sync: "M19.5 10A8 8 0 0 0 5 8m-.5 6A8 8 0 0 0 19 16M5 3.5V8h4.5M19 20.5V16h-4.5",
  tag: "M4 4h7.5l8.5 8.5-7.5 7.5L4 11.5zM8 8v.1",
  transfer: "M7 20V5m-3.5 3.5L7 5l3.5 3.5M17 4v15m-3.5-3.5L17 19l3.5-3.5",
  trash: "M4 6.5h16M9.5 6.5V4h5v2.5M6 6.5 7 20h10l1-13.5M10 10.5v6M14 10.5v6",
  undo: "M8.5 5 4 9.5 8.5 14M4 9.5h10a5.5 5.5 0 0 1 0 11h-3",
}

/**
 * A drawing that says nothing to screen readers: whatever it is in has a name.
 * @param {string} looks @param {string} path
 */
export const drawing = (looks, path) => {
  const [image, line] = ["svg", "path"].map(name => document.createElementNS("http://www.w3.org/2000/svg", name))
  set(line, "d", path)
  set(image, "viewBox", "0 0 24 24")
  set(image, "class", looks)
  set(image, "aria-hidden", true)
  image.append(line)
  return image
}

/** @param {string} name */
export const icon = name => drawing(`icon icon-${name}`, drawings[name])

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
