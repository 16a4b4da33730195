// What can be done with a note, by which key, and the sheet that shows the keys.

import { h } from "./dom.js"

/**
 * @param {Shell} app
 * @param {(id: string) => () => void} leave called before a note goes from the list; what it answers goes, after, where
 *   the note was
 * @returns {Commands}
 */
export const noteCommands = ({ copy, attempt, toast, announce, go }, leave) => ({
  pin: id => {
    const isPinned = !copy.note(id)?.pinned
    const words = isPinned ? "Pinned to the top" : "No longer pinned"
    attempt(copy.setAttribute(id, "pinned", isPinned).then(() => announce(words)))
  },
  archive: id => {
    const isArchived = !copy.note(id)?.archived
    const next = leave(id)
    attempt(copy.setArchived([id], isArchived).then(() => {
      next()
      const act = () => attempt(copy.setArchived([id], !isArchived))
      toast(isArchived ? "Archived" : "Back among your notes", { label: "Undo", act })
    }))
  },
  remove: id => {
    const next = leave(id)
    const undo = async () => {
      if (await copy.undoRemove(id)) go(`#/note/${id}`)
      else toast("It is too late to undo this here.", { label: "Recently deleted", act: () => go("#/deleted") })
    }
    attempt(copy.remove(id).then(() => {
      next()
      toast("Note deleted", { label: "Undo", seconds: 10, act: () => attempt(undo()) })
    }))
  },
})

const names = /** @type {Object<string, string>} */ ({
  ArrowUp: "↑", ArrowDown: "↓", Mod: /Mac|iP/.test(navigator.platform) ? "⌘" : "Ctrl", Escape: "Esc", Delete: "Del",
})

/**
 * As in the table: "Alt+ArrowUp", "Mod+z", "n".
 * @param {KeyboardEvent} event
 */
const nameOf = ({ key, code, ctrlKey, metaKey, altKey }) => {
  // With a layout that has no Latin letters the key's place says which is meant.
  const letter = /^[^ -~]$/.test(key) && code.startsWith("Key") ? code.slice(3) : key
  const name = letter.length === 1 ? letter.toLowerCase() : letter
  return (ctrlKey || metaKey ? "Mod+" : "") + (altKey ? "Alt+" : "") + name
}

// Who speaks to the computer wants single letters to do nothing (WCAG 2.1.4).
const hasLetters = () => localStorage.getItem("letters") !== "false"

/**
 * @param {Shortcut[]} table @param {Shell} app
 * @returns {() => void} shows the sheet
 */
export const startKeys = (table, app) => {
  const sheet = () => {
    const groups = [...new Set(table.map(([group]) => group))]
    const letters = h("input", { type: "checkbox", checked: hasLetters(),
      onchange: () => localStorage.setItem("letters", String(letters.checked)) })
    /** @param {string} key */
    const drawn = key => h("span", null, key.split("+").map(part => h("kbd", null, names[part] ?? part)))
    app.dialog("Keyboard", [
      h("div", { class: "shortcuts" }, groups.map(one => h("section", null, h("h3", null, one), h("dl", null,
        table.filter(([group]) => group === one).map(([, does, keys]) =>
          h("div", null, h("dt", null, does), h("dd", null, keys.split(" ").map(drawn)))))))),
      h("label", { class: "check" }, letters, "Single letters are shortcuts")], { looks: "wide" })
  }
  table.push(["Everywhere", "This sheet", "?", sheet])
  addEventListener("keydown", event => {
    const name = nameOf(event)
    const found = table.find(([,, keys]) => keys.split(" ").includes(name))
    const at = /** @type {Element} */ (event.target)
    if (!found || event.defaultPrevented || event.isComposing || document.querySelector("dialog[open], .menu")) return
    // Writing keeps its keys, but for Control K; and Enter and the arrows belong to whatever has the focus.
    if (at.matches("input:not([type=checkbox]), textarea, select") && name !== "Mod+k") return
    if (/^(Enter|Arrow\w+)$/.test(name) && at !== document.body || name.length === 1 && !hasLetters()) return
    event.preventDefault()
    found[3](event)
  })
  return sheet
}
