// What can be done with a note, by which key, and the sheet that shows the keys.

import { h } from "./dom.js"
import { actOnToast } from "./widgets.js"

/**
 * @typedef {{create: () => void, pin: (id: string) => void, archive: (id: string) => void, remove: (id: string) => void}} Commands
 * Each of them finds its way on: what goes from the list leaves the focus with its neighbour, and says how to take it back.
 */

const undoFor = 10 // seconds that the copy holds a deletion back (clients.md, rule 8)

/**
 * @param {import("./shell.js").App} app
 * @param {{leave: (id: string) => () => void, create: () => void}} frame `leave`: where to go when this note goes from the list; called first
 * @returns {Commands}
 */
export const noteCommands = (app, { leave, create }) => {
  const { copy, attempt } = app
  return {
    create,
    pin: id => {
      const note = copy.note(id)
      if (!note) return
      attempt(copy.setAttribute(id, "pinned", !note.pinned).then(() => app.announce(note.pinned ? "No longer pinned" : "Pinned to the top")))
    },
    archive: id => {
      const note = copy.note(id)
      if (!note) return
      const next = leave(id)
      attempt(copy.setArchived([id], !note.archived).then(() => {
        next()
        app.toast(note.archived ? "Back among your notes" : "Archived", {
          label: "Undo", act: () => attempt(copy.setArchived([id], note.archived)),
        })
      }))
    },
    remove: id => {
      const next = leave(id)
      attempt(copy.remove(id).then(() => {
        next()
        app.toast("Note deleted", { label: "Undo", seconds: undoFor, act: () => attempt(undo(id)) })
      }))
    },
  }

  /** @param {string} id */
  async function undo(id) {
    const isBack = await copy.undoRemove(id)
    if (isBack) app.go(`#/note/${id}`)
    else app.toast("It is too late to undo this here.", { label: "Recently deleted", act: () => app.go("#/deleted") })
  }
}

/** @typedef {{keys: string[], does: string, act: (event: KeyboardEvent) => void, always?: boolean, group: string}} Shortcut `always`: with Control or Command also while writing */

const isApple = /Mac|iPhone|iPad/.test(navigator.platform)
const names = /** @type {Object<string, string>} */ ({
  ArrowUp: "↑", ArrowDown: "↓", Mod: isApple ? "⌘" : "Ctrl", Alt: isApple ? "⌥" : "Alt", Escape: "Esc", Delete: "Del",
})

/**
 * How an event is called in the table: "Alt+ArrowUp", "Mod+z", "n".
 * @param {KeyboardEvent} event
 */
const nameOf = event => {
  // With a layout that has no Latin letters the key's place says which one is meant.
  const key = /^[ -~]$/.test(event.key) ? event.key.toLowerCase() : /^Key/.test(event.code) && event.key.length === 1 ? event.code.slice(3).toLowerCase() : event.key
  const isShifted = event.shiftKey && key.length > 1
  return `${event.ctrlKey || event.metaKey ? "Mod+" : ""}${event.altKey ? "Alt+" : ""}${isShifted ? "Shift+" : ""}${key}`
}

/** @param {Shortcut[]} table @param {import("./shell.js").App} app */
export const startKeys = (table, app) => {
  const sheet = () => {
    const groups = [...new Set(table.map(shortcut => shortcut.group))]
    const letters = h("input", { type: "checkbox", checked: hasLetters(), onchange: () => localStorage.setItem("letters", String(letters.checked)) })
    app.dialog("Keyboard", h("div", { class: "shortcuts" },
      groups.map(group => h("section", null, h("h3", null, group), h("dl", null,
        table.filter(shortcut => shortcut.group === group).map(({ keys, does }) => h("div", null, h("dt", null, does), h("dd", null,
          keys.slice(0, 2).map(key => h("span", null, key.split("+").map(part => h("kbd", null, names[part] ?? part)))))))))),
      h("label", { class: "check" }, letters, "Single letters are shortcuts")), { looks: "wide" })
  }
  addEventListener("keydown", event => {
    if (event.defaultPrevented || event.isComposing) return
    const at = /** @type {Element} */ (event.target)
    const isWriting = at.matches("input:not([type=checkbox]), textarea, select")
    if (document.querySelector("dialog[open], .menu")) return
    const name = nameOf(event)
    const shortcut = table.find(({ keys }) => keys.includes(name))
    if (!shortcut || isWriting && !(shortcut.always && name.includes("Mod")) || name.length === 1 && !hasLetters()) return
    // Enter and the arrows belong to whatever has the focus.
    if (/^(Enter|Arrow\w+)$/.test(name) && at !== document.body) return
    event.preventDefault()
    shortcut.act(event)
  })
  table.push({ group: "Everywhere", keys: ["?"], does: "This sheet", act: sheet })
  table.push({ group: "Everywhere", keys: ["Mod+z"], does: "Undo the last deletion or archiving", act: () => actOnToast() })
  return sheet
}

/** Whether single letters act. Who speaks to the computer wants them not to (WCAG 2.1.4). */
const hasLetters = () => localStorage.getItem("letters") !== "false"
