// Import and export.
import {copyOf, fill, save, tryIn, viewOf, wordsOf} from "./dom.js"

const exporting = () => import("../archive/export.js")
const movingIn = () => import("./movein.js")

/**
 * Files that are dropped beside a note are imported. Loads, when the page is idle, what an export needs, because it must also
 * work if the network fails later. Continues the upload of a file to import.
 *
 * @type {(app: Shell) => void}
 */
export const takeDrops = app => {
  const drop = event => {
    const {dataTransfer, type} = event
    if (event.defaultPrevented || !dataTransfer.types.includes("Files")) return
    event.preventDefault()
    if (type !== "drop" || !app.copy.session) return
    const files = [...dataTransfer.files]
    app.go("#/transfer")
    app.attempt(movingIn().then(({take}) => take(app, files)))
  }
  addEventListener("dragover", drop)
  addEventListener("drop", drop)
  setTimeout(() => exporting().then(() => app.copy.session && movingIn()).then(one => one && one.resume(app)).catch(() => {}), 3_000)
}

/** @type {Opener} */
export const transfer = app => {
  let isOver = false
  let page
  const pack = () => tryIn(packed, async () => {
    const bar = viewOf("progress")
    fill(packed, bar)
    const {exportAll} = await exporting()
    const {blob, missing, ...report} = await exportAll(app.copy, {
      progress: (done, of) => Object.assign(bar, {max: of, value: done}), bytesOf: id => app.engine.want(id),
    })
    save(blob, report.name)
    const reason = wordsOf("ArchiveError-not-here")
    return viewOf("exported", {...report, count: missing.length, lines: missing.map(path => viewOf("import-line", {path, reason}))})
  })
  const {element, packed, place} = copyOf("transfer", {pack})
  tryIn(place, async () => {
    const {moveIn} = await movingIn()
    if (isOver) return
    page = moveIn(app)
    return page.element
  })
  return {
    element,
    stop: () => {
      isOver = true
      page?.stop()
    },
  }
}
