// How views are built: elements from the templates of index.html, messages, dialogs, menus. types.d.ts describes the functions.
import {formats} from "./language.js"

const byID = id => /** @type {any} */ (document.getElementById(id))

/** @type {Dom["fill"]} */
export const fill = (element, ...children) => {
  const focused = document.activeElement
  element.replaceChildren(...children.flat(9).filter(child => (child ?? false) !== false))
  if (focused !== document.activeElement && focused?.isConnected) focused.focus({preventScroll: true})
}

const told = new WeakMap()
/** @type {Dom["tell"]} */
export const tell = (element, about, content = () => about) => {
  const key = JSON.stringify(about)
  if (told.get(element) !== key) fill(element, content())
  told.set(element, key)
}

/** The value of a path such as "account.email". */
const find = (values, path) => path.split(".").reduce((of, name) => of?.[name], values)

/** Values that every template may use. */
const COMMON = {get mod() { return /Mac|iP/.test(navigator.platform) ? "⌘" : wordsOf("control-key") }}

/** A text with its "{name}" and "{name|format}" filled in. At the start of a text, "yesterday" becomes "Yesterday". */
const fillIn = (text, values) => text.replace(/\{([\w.]+)\|?(\w*)\}/g, (_, path, how, at) => {
  const value = find(values, path) ?? find(COMMON, path) ?? ""
  if (!how || value === "") return value
  const words = (formats[how] ?? formats.counted)(value, how)
  return at ? words : words.replace(/^./u, first => first.toLocaleUpperCase())
})

/** @type {Dom["copyOf"]} */
export const copyOf = (id, values = {}) => {
  const root = document.importNode(byID(id).content, true)
  const parts = {element: root.firstElementChild}
  for (const element of root.querySelectorAll("*")) {
    const {part = "", if: wanted, unless: unwanted} = element.dataset
    const value = values[part]
    for (const attribute of element.attributes) {
      if (attribute.value.includes("{")) attribute.value = fillIn(attribute.value, values)
    }
    for (const node of element.childNodes) if (node instanceof Text) node.data = fillIn(node.data, values)
    if (part) parts[part] = element
    if (typeof value === "function") element.onclick = value
    else if (value?.constructor === Object) Object.assign(element, value)
    else if (part in values) value || value === "" ? fill(element, value) : element.remove()
    if (wanted && !find(values, wanted) || unwanted && find(values, unwanted)) element.remove()
  }
  return parts
}

/** @type {Dom["viewOf"]} */
export const viewOf = (id, values) => copyOf(id, values).element

/** @type {Dom["firstOf"]} */
export const firstOf = (...ids) => ids.find(byID) ?? ""

/** @type {Dom["wordsOf"]} */
export const wordsOf = (id, values) => viewOf(id, values).textContent.trim().replace(/\s+/g, " ")

/** @type {Dom["follow"]} */
export const follow = (show, ...events) => {
  const end = new AbortController()
  for (const [target, name] of events) target.addEventListener(name, show, {signal: end.signal})
  show()
  return () => end.abort()
}

/** @type {Dom["announce"]} */
export const announce = (id, values) => {
  const words = wordsOf(id, values)
  // Screen readers repeat the same text only if the region was empty for a frame.
  fill(byID("live"))
  requestAnimationFrame(() => fill(byID("live"), words))
}

/** @type {Dom["toast"]} */
export const toast = (id, values, act = () => {}) => {
  const said = {text: wordsOf(id, values), label: byID(id).dataset.label}
  const end = () => element.remove()
  const wait = () => setTimeout(() => element.matches(":hover, :focus-within") ? wait() : end(), 10_000)
  const element = viewOf("toast", {...said, end, act: () => { end(); act() }})
  const toasts = byID("toasts")
  if (toasts.childElementCount > 2) toasts.firstChild.remove()
  toasts.append(element)
  announce("said", said)
  wait()
}

/** @type {Dom["actOnToast"]} */
export const actOnToast = () => [...byID("toasts").querySelectorAll(".toast-action")].at(-1)?.click()

/** @type {Dom["dialog"]} */
export const dialog = content => {
  const {title, looks = ""} = content.dataset
  const element = viewOf("dialog", {title, looks, content})
  element.onclose = () => element.remove()
  addEventListener("hashchange", () => element.close(), {once: true}) // A link in it leads to another page.
  document.body.append(element)
  element.showModal()
  return element
}

/** @type {Dom["menu"]} */
export const menu = (owner, id, values) => {
  const list = viewOf(id, values)
  const entries = [...list.children]
  list.onkeydown = event => {
    const at = entries.indexOf(document.activeElement)
    const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1}[event.key]
    if (event.key === "Tab") list.hidePopover()
    else if (to !== undefined) entries.at(to % entries.length).focus()
    else return
    event.preventDefault()
  }
  list.ontoggle = ({newState}) => {
    if (owner.ariaHasPopup) owner.ariaExpanded = String(newState === "open")
    if (newState === "open") return
    // In a popover, the focus does not return by itself.
    if (document.activeElement === document.body) owner.focus()
    list.remove()
  }
  list.addEventListener("click", () => list.hidePopover(), true) // before its entry moves the focus
  document.body.append(list)
  list.showPopover({source: owner})
  entries[0].focus()
}

/** @type {Dom["problemWords"]} */
export const problemWords = ({name, slug, pointer = "", title, detail, message, retryAfter}) => {
  const id = firstOf(`${name}-${slug}`, `problem-${slug}${pointer.replaceAll("/", "-")}`, `problem-${slug}`,
    "problem-words")
  return viewOf(id, {title, detail: detail ?? message, retryDate: retryAfter > 5_000 && Date.now() + retryAfter})
}

/** @type {Dom["setError"]} */
export const setError = (input, text = "") => {
  const place = input.closest(".field")?.querySelector(".error")
  if (!place) return
  fill(place, text)
  input.ariaInvalid = text ? "true" : null
  if (text) input.focus()
}

/** @type {Dom["failureWords"]} */
export const failureWords = error => {
  if (!error?.slug) return wordsOf("failed", Object(error))
  const words = problemWords(error)
  const lines = words.children[1] ? [...words.children] : [words]
  return lines.map(line => line.textContent).join(". ")
}

/** @type {Dom["problemView"]} */
export const problemView = (error, again) => viewOf("problem", {...error, again, words: problemWords(error)})

/** @type {Dom["tryIn"]} */
export const tryIn = async (place, work) => {
  try {
    fill(place, await work())
  } catch (error) {
    fill(place, problemView(error, () => tryIn(place, work)))
  }
}

/** @type {Dom["copyText"]} */
export const copyText = (text, done = "copied") => {
  const before = document.activeElement
  const area = viewOf("clipboard", {text})
  before?.after(area)
  area.select()
  const isDone = document.execCommand("copy") // navigator.clipboard needs a secure context
  area.remove()
  before?.focus()
  toast(isDone ? done : "not-copied")
}

/** @type {Dom["save"]} */
export const save = (blob, download) => {
  const href = URL.createObjectURL(blob.slice(0, blob.size, "application/octet-stream"))
  viewOf("download", {href, download}).click()
  setTimeout(() => URL.revokeObjectURL(href), 60_000) // Safari reads it after the click.
}
