// The matches of the search in the open note: they are highlighted, and buttons go to the next and the previous one.
import {matchesOf} from "../model/search.js"
import {copyOf, fill, viewOf} from "./dom.js"

/** The maximum number of highlighted matches. */
const MAX_HIGHLIGHTS = 1_000
/** The time from typing to highlighting, in ms, so that highlighting does not delay typing. */
const DELAY = 120

/** @type {MatchesOf} */
export const noteMatches = ({searchBox}, {text, surface}) => {
  const {element, place} = copyOf("matches", {previous: () => step(-1), next: () => step(1)})
  const highlights = /** @type {any} */ (globalThis).CSS?.highlights
  let ranges = /** @type {[number, number][]} */ ([])
  /** The index of the current match; -1 if there is none yet. */
  let at = -1
  let shown = ""
  let waiting = 0

  const paint = () => {
    element.hidden = !ranges.length
    fill(place, viewOf("match-place", {at: at + 1, count: ranges.length}))
    if (!highlights) return
    const rangesOf = some => some.flatMap(([start, end]) => surface().rangeOf(start, end) ?? [])
    const Highlight = /** @type {any} */ (globalThis).Highlight
    highlights.set("match", new Highlight(...rangesOf(ranges.slice(0, MAX_HIGHLIGHTS))))
    highlights.set("current-match", new Highlight(...rangesOf(ranges.slice(at, at + 1).filter(() => at >= 0))))
  }
  const show = () => {
    waiting = 0
    const query = searchBox.value.trim()
    ranges = query ? matchesOf(query, text()) : []
    if (query !== shown) at = -1
    shown = query
    at = Math.min(at, ranges.length - 1)
    paint()
  }
  /** Goes to the next or the previous match, and selects it if the text has the focus. */
  const step = by => {
    if (!ranges.length) return
    at = at < 0 && by < 0 ? ranges.length - 1 : (at + by + ranges.length) % ranges.length
    surface().select(...ranges[at])
    surface().reveal(ranges[at][0])
    paint()
  }
  const update = () => { waiting ||= setTimeout(show, DELAY) }
  const onKey = event => {
    if (event.key !== "F3" || !ranges.length) return
    event.preventDefault()
    step(event.shiftKey ? -1 : 1)
  }
  searchBox.addEventListener("input", update)
  addEventListener("keydown", onKey)
  return {
    element, update,
    /** Highlights the matches, and goes to the first one. */
    begin: () => {
      show()
      if (ranges.length) step(1)
    },
    stop: () => {
      clearTimeout(waiting)
      searchBox.removeEventListener("input", update)
      removeEventListener("keydown", onKey)
      highlights?.delete("match")
      highlights?.delete("current-match")
    },
  }
}
