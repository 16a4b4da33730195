// Links between notes: titles are completed after "[[", links are opened, notes that link to this one are listed, and links follow
// a title that changes.
import {begunLink, canLink, relink, targetOf} from "../model/links.js"
import {foldName} from "../model/search.js"
import {titleOf} from "../model/text.js"
import {copyOf, fill, tell, toast, viewOf} from "./dom.js"

/** The maximum number of titles that are offered, and of notes that are listed because they link to this one. */
const MAX_TITLES = 8
const MAX_BACKLINKS = 100

/** @type {LinksOf} */
export const noteLinks = (app, id, {text, surface, apply}) => {
  const {copy} = app
  const {element: options} = copyOf("link-options")
  const {element: backlinks, list} = copyOf("backlinks")
  /** The title that other notes may link to. */
  let title = copy.note(id)?.title ?? ""
  let active = /** @type {any} */ (null)

  const close = () => {
    fill(options)
    choose(null)
  }
  const choose = option => {
    active = option
    for (const one of options.children) one.ariaSelected = String(one === option)
    option?.scrollIntoView({block: "nearest"})
    surface().element.setAttribute("aria-activedescendant", option?.id ?? "")
  }
  /** Offers titles that contain the text after "[[". */
  const suggest = () => {
    const [start, end] = surface().selected()
    const typed = start === end ? begunLink(text().slice(0, end)) : null
    if (typed === null) return void (options.firstChild && close())
    const folded = foldName(typed)
    const found = copy.titles().map(one => ({...one, at: foldName(one.title).indexOf(folded)}))
      .filter(one => one.at >= 0 && one.id !== id && canLink(one.title))
    const shown = [...found.filter(({at}) => !at), ...found.filter(({at}) => at)].slice(0, MAX_TITLES)
    const isKnown = shown.some(one => foldName(one.title) === folded)
    fill(options, shown.map(({title}, at) => viewOf("link-option", {title, at})),
      typed.trim() && !isKnown && canLink(typed) && viewOf("new-link-option", {title: typed.trim()}))
    const {left, bottom} = surface().boxOf(end - typed.length)
    const frame = /** @type {Element} */ (options.parentElement).getBoundingClientRect()
    const room = frame.width - options.offsetWidth
    options.style.left = `${Math.max(0, Math.min(left - frame.left, room))}px`
    options.style.top = `${bottom - frame.top + 4}px`
    choose(options.firstChild)
    options.scrollIntoView({block: "nearest"})
  }
  const take = name => {
    const [, end] = surface().selected()
    const typed = begunLink(text().slice(0, end)) ?? ""
    const isClosed = text().slice(end).startsWith("]]")
    const place = end - typed.length + name.length + 2
    apply({start: end - typed.length, end: end + (isClosed ? 2 : 0), text: `${name}]]`, select: [place, place]})
    close()
  }
  options.onmousedown = event => event.preventDefault() // The text keeps the focus.
  options.onclick = ({target}) => {
    const {title} = target.closest("[data-title]")?.dataset ?? {}
    if (title) take(title)
  }

  const open = async inner => {
    const target = targetOf(inner)
    const known = copy.titled(target)
    if (known) return app.go(`#/note/${known}`)
    const made = await copy.createNote({text: `${target}\n`})
    app.go(`#/note/${made}`, {write: target.length + 1})
  }

  const update = () => {
    const known = title ? copy.linkingTo(title).filter(other => other !== id).slice(0, MAX_BACKLINKS) : []
    const shown = known.map(other => ({id: other, title: copy.note(other)?.title}))
    backlinks.hidden = !shown[0]
    tell(list, shown, () => shown.map(one => viewOf("backlink", one)))
  }
  /** If the title has changed, offers to change the links to it. */
  const offer = () => {
    const now = titleOf(text())
    if (!now || now === title) return
    const before = title
    title = now
    update()
    const linking = before ? copy.linkingTo(before).filter(other => other !== id) : []
    const isUsed = copy.titles().some(one => one.id !== id && foldName(one.title) === foldName(before))
    if (!linking.length || foldName(before) === foldName(now) || !canLink(now) || isUsed) return
    toast("title-changed", {count: linking.length, before, now}, () => app.attempt(Promise.all(linking.map(other => {
      const note = copy.note(other)
      return note && copy.write(other, relink(note.text, before, now), {clock: note.textClock, value: note.text})
    }))))
  }

  let waiting = 0
  const later = () => {
    waiting ||= setTimeout(() => {
      waiting = 0
      update()
    }, 300)
  }
  copy.addEventListener("change", later)
  update()
  return {
    options, backlinks, suggest, close, offer,
    open: inner => app.attempt(open(inner)),
    onkey: name => {
      const entries = [...options.children]
      if (!entries.length) return false
      const step = {ArrowDown: 1, ArrowUp: -1}[name]
      if (step) choose(entries.at((entries.indexOf(active) + step) % entries.length))
      else if (name === "Enter" || name === "Tab") take(active.dataset.title)
      else if (name === "Escape") close()
      else return false
      return true
    },
    stop: () => {
      offer()
      clearTimeout(waiting)
      copy.removeEventListener("change", later)
    },
  }
}
