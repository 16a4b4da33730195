// Import and export.
import {copyOf, fill, save, toast, tryIn, viewOf, wordsOf} from "./dom.js"

// Loaded when the page is idle, so that the list is shown first. An export must also work if the network fails later.
const exporting = () => import("../archive/export.js")
const importing = () => import("../archive/import.js")
setTimeout(() => Promise.all([exporting(), importing()]).catch(() => {}), 3_000)

const lineOf = ({path, reason}) => `${path}: ${wordsOf(`ArchiveError-${reason}`)}`

const take = async (copy, files, progress = () => {}) => {
  const {refused, ...counts} = await (await importing()).importFiles(copy, files, progress)
  return {text: wordsOf("imported", counts), lines: refused.map(lineOf)}
}

/** Files that are dropped beside a note are imported. @type {(app: Shell) => void} */
export const takeDrops = ({copy, attempt}) => {
  const drop = event => {
    const {dataTransfer, type} = event
    if (event.defaultPrevented || !dataTransfer.types.includes("Files")) return
    event.preventDefault()
    if (type === "drop" && copy.session) attempt(take(copy, [...dataTransfer.files])
      .then(({text, lines}) => toast("dropped", {text, lines: lines.join(" ")})))
  }
  addEventListener("dragover", drop)
  addEventListener("drop", drop)
}

/** @type {Opener} */
export const transfer = app => {
  const run = (place, work) => tryIn(place, async () => {
    const bar = viewOf("progress")
    fill(place, bar)
    const {text, lines} = await work((done, of) => Object.assign(bar, {max: of, value: done}))
    return viewOf("transferred", {text, count: lines.length, lines: lines.map(text => viewOf("line", {text}))})
  })
  const pack = () => run(packed, async progress => {
    const {exportAll} = await exporting()
    const {blob, missing, ...report} = await exportAll(app.copy, {progress, bytesOf: id => app.engine.want(id)})
    save(blob, report.name)
    return {text: wordsOf("exported", report), lines: missing.map(path => lineOf({path, reason: "not-here"}))}
  })
  const takeFrom = ({target: input}) => {
    const chosen = [...input.files]
    input.value = ""
    run(taken, progress => take(app.copy, chosen, progress))
  }
  const {element, packed, taken} = copyOf("transfer", {pack, files: {onchange: takeFrom}, folder: {onchange: takeFrom}})
  return {element}
}
