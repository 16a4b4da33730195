// Selecting several notes of the list, and the bar with actions on them.
import {announce, fill, wordsOf} from "./dom.js"

/** @type {RowSelection} */
export const rowSelection = ({copy}, {listPane, box, bar, picked}, ids, draw) => {
  let chosen = new Set()
  /** The row from which Shift extends the selection. */
  let anchor = ""
  /** Whether every click selects, without Ctrl or Shift. */
  let isPicking = false
  let saying = 0

  const isOn = () => isPicking || chosen.size > 0
  const update = () => {
    const count = chosen.size
    const {pinned, archived} = copy.flags([...chosen])
    listPane.toggleAttribute("data-selecting", isOn())
    bar.hidden = !isOn()
    fill(picked, wordsOf("picked", {count}))
    const all = {pinned: count && pinned === count, archived: count && archived === count}
    for (const button of bar.querySelectorAll("[data-words]")) {
      button.title = button.ariaLabel = wordsOf(button.dataset.words, all)
      button.disabled = !count
    }
    draw()
  }
  const say = () => {
    clearTimeout(saying)
    saying = setTimeout(() => announce("picked", {count: chosen.size}), 300)
  }
  const set = some => {
    chosen = new Set(some)
    update()
    say()
  }
  const end = () => {
    const wasOn = isOn()
    isPicking = false
    chosen = new Set()
    if (wasOn) update()
    return wasOn
  }
  box.ariaMultiSelectable = true
  bar.querySelector("[data-part=done]").onclick = () => end()
  bar.querySelector("[data-part=every]").onclick = () => set(ids())
  return {
    isOn, end,
    isPicking: () => isPicking,
    has: id => chosen.has(id),
    ids: () => ids().filter(id => chosen.has(id)),
    toggle: (id, first = "") => {
      const others = chosen.size || isPicking || !first || first === id ? [...chosen] : [first]
      anchor = id
      set(others.includes(id) ? others.filter(other => other !== id) : [...others, id])
    },
    extend: (id, from) => {
      if (!isOn() || !ids().includes(anchor)) anchor = from
      const [start, stop] = [ids().indexOf(anchor), ids().indexOf(id)].sort((a, b) => a - b)
      set(ids().slice(Math.max(0, start), stop + 1))
    },
    all: () => set(ids()),
    pick: id => {
      isPicking = true
      anchor = id
      set(id ? [id] : [])
    },
    follow: () => {
      const left = chosen.size ? ids().filter(id => chosen.has(id)) : []
      if (left.length !== chosen.size) chosen = new Set(left)
      if (isOn() || !bar.hidden) update()
    },
  }
}
