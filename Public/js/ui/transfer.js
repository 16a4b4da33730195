// Import and export: everything out as one archive, and in again, with or without a network.

import { exportAll } from "../archive/export.js"
import { importFiles } from "../archive/import.js"
import { button, fill, h, plural } from "./dom.js"
import { problemView, save } from "./problems.js"

/** @typedef {import("./shell.js").App} App */

/** @param {string[]} lines what was left out, and why */
const details = lines => lines.length > 0 && h("details", null, h("summary", null, `${plural(lines.length, "thing")} left out`),
  h("ul", { class: "small" }, lines.map(line => h("li", null, line))))

/**
 * Does what takes long, and says how far it is.
 * @param {HTMLElement} place @param {(progress: (done: number, of: number) => void) => Promise<import("./dom.js").Child>} work
 */
const withProgress = async (place, work) => {
  const bar = h("progress", { "aria-label": "Progress" })
  fill(place, bar)
  try {
    fill(place, await work((done, of) => {
      bar.max = of
      bar.value = done
    }))
  } catch (error) {
    fill(place, problemView(error, () => withProgress(place, work)))
  }
}

/** @param {App["copy"]} copy @param {File[]} files @param {(done: number, of: number) => void} [progress] */
const take = async (copy, files, progress) => {
  const { refused, ...counts } = await importFiles(copy, files, progress)
  const said = { "New notes": counts.notes, "New tags": counts.tags, "New files": counts.attachments, "Changed notes": counts.changed,
    "Here already": counts.unchanged, "Deleted here, and left so": counts.deleted, "No texts": counts.passedOver }
  const text = Object.entries(said).flatMap(([what, count]) => count ? `${what}: ${count.toLocaleString()}. ` : []).join("")
  return { text: text || "Nothing was found to import.", lines: refused.map(({ path, reason }) => `${path}: ${reason}`) }
}

/**
 * What is dropped beside a note is imported; without this, the browser would leave the page for it.
 * @param {App} app
 */
export const takeDrops = app => {
  for (const name of ["dragover", "drop"]) {
    addEventListener(name, event => {
      const data = /** @type {DragEvent} */ (event).dataTransfer
      if (event.defaultPrevented || !data?.types.includes("Files")) return
      event.preventDefault()
      const files = [...data.files]
      if (name === "dragover" || !app.copy.session || !files.length) return
      app.attempt(take(app.copy, files).then(({ text, lines }) => app.toast([text, ...lines].join(" "), { seconds: 10 })))
    })
  }
}

/** @type {import("./shell.js").Opener} */
export const transfer = ({ copy, engine }) => {
  const said = [h("div", { role: "status" }), h("div", { role: "status" })]
  const pack = () => withProgress(said[0], async progress => {
    const made = await exportAll(copy, { progress, bytesOf: async id => await copy.bytes(id) ?? engine.want(id) })
    save(made.blob, made.name)
    return [h("p", null, `${made.name}: ${plural(made.notes, "note")}, ${plural(made.attachments, "file")}.`), details(made.missing)]
  })
  /** @param {Object<string, any>} kind */
  const chooser = kind => {
    const input = h("input", { type: "file", hidden: true, multiple: true, ...kind, onchange: () => {
      const files = [...input.files ?? []]
      input.value = ""
      withProgress(said[1], async progress => {
        const { text, lines } = await take(copy, files, progress)
        return [h("p", null, text), details(lines)]
      })
    } })
    return input
  }
  const files = chooser({ accept: ".zip,.md,.markdown,.txt,.text" })
  const folder = chooser({ webkitdirectory: true })
  return {
    title: "Import and export",
    element: h("div", null,
      h("section", { class: "section stack" }, h("h2", null, "Export"), h("p", null, "One zip with each note as a Markdown file, pictures and files, and all of it once more for Hesper to read, here or on another server. Works without a network, too."),
        h("div", { class: "actions" }, button("Export everything", { icon: "download", onclick: pack })), said[0]),
      h("section", { class: "section stack" }, h("h2", null, "Import"), h("p", null, "Such a zip, or texts and Markdown files, also whole folders, whose names become tags. Nothing comes twice, however often you do it."),
        h("div", { class: "actions" }, button("Choose files", { icon: "file", onclick: () => files.click() }), button("Choose a folder", { onclick: () => folder.click() })), files, folder, said[1])),
  }
}
