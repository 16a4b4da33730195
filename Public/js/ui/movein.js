// Moving in: a file of another app is uploaded, the server shows its contents, and imports it (protocol.md, Imports).
import {ArchiveError, ZipWriter} from "../archive/zip.js"
import {BUSY, Imports} from "../sync/imports.js"
import {copyOf, fill, follow, problemView, tell, tryIn, viewOf, wordsOf} from "./dom.js"

/** How often the server is asked if it sends no events, in ms. */
const POLL = 5_000

/** @type {Imports | undefined} */
let imports

/** The imports of this page. An upload continues while other pages are shown. */
const importsOf = ({copy, engine}) => imports ??= new Imports(copy, engine)

/** The files as one: several are packed into a zip. Files that were chosen one by one do not belong together, so it has no name. */
const packed = async (files, progress) => {
  const [{name, webkitRelativePath: path = ""}] = files
  if (files.length === 1 && !path) return {blob: files[0], name}
  if (!path && files.some(({name}) => /\.(zip|jex)$/i.test(name))) throw new ArchiveError("several")
  const zip = new ZipWriter()
  for (const [done, file] of files.entries()) {
    progress(done, files.length)
    await zip.add(file.webkitRelativePath || file.name, file, file.lastModified)
  }
  return {blob: zip.finish(), name: path && `${path.split("/")[0]}.zip`}
}

const skippedView = ({skipped, skippedCount}) => skippedCount > 0 && viewOf("import-skipped", {
  skippedCount, more: skippedCount - skipped.length, lines: skipped.map(one => viewOf("import-line", one)),
})

/** @type {(report: any) => any} */
const reportView = report => {
  const {attachments, changed, deleted, tags, unchanged} = report
  const text = wordsOf("imported", {notes: report.new, attachments, changed, deleted, tags, unchanged})
  return viewOf("import-report", {...report, text, skipped: skippedView(report)})
}

/** Continues an upload that was interrupted by a reload. @type {(app: Shell) => Promise<void>} */
export const resume = async app => {
  const kept = await app.copy.transaction(["meta"], "readonly", tx => tx.get("meta", "import"))
  if (kept) await importsOf(app).load()
}

/** Uploads files. @type {(app: Shell, files: File[], progress?: OnProgress) => Promise<void>} */
export const take = async (app, files, progress = () => {}) => {
  if (!files.length) return
  const {blob, name} = await packed(files, progress)
  await importsOf(app).begin(blob, name)
}

/** @type {Opener} */
export const moveIn = app => {
  const imports = importsOf(app)
  const {element, current, choose, files, folder, problem} = copyOf("move-in")

  const attempt = work => tryIn(problem, async () => { await work() })
  const cancel = () => attempt(() => imports.cancel())
  const start = () => attempt(() => imports.start())
  const chosen = input => {
    const list = [...input.files]
    input.value = ""
    return list
  }
  files.onchange = folder.onchange = ({target}) => {
    const list = chosen(target)
    const bar = viewOf("progress")
    attempt(async () => {
      fill(problem, bar)
      await take(app, list, (done, of) => Object.assign(bar, {max: of, value: done}))
    })
  }
  const again = ({target}) => {
    const [file] = chosen(target)
    if (file) attempt(async () => imports.continueWith(file))
  }

  const viewFor = (/** @type {ServerImport} */ found, part) => {
    const {state, preview, report, total} = found
    const bar = total || state === "uploading" ? {max: total || found.byteCount, value: part} : {}
    const values = {...found, sent: part, bar, cancel, start}
    if (state === "uploading" && imports.needsFile) return viewOf("import-interrupted", {...values, file: {onchange: again}})
    if (preview && state === "ready") {
      return viewOf("import-ready", {...values, ...preview, skipped: skippedView(preview), isEmpty: !(preview.notes + preview.objects)})
    }
    return report && state === "done" ? reportView(report) : viewOf(`import-${state}`, {...values, isWaiting: imports.isWaiting})
  }
  const show = () => {
    const {current: found, needsFile, isWaiting, sent} = imports
    const isBusy = found && [...BUSY, "ready"].includes(found.state)
    choose.hidden = isBusy
    const part = found?.state === "uploading" ? sent : found?.done ?? 0
    tell(current, [found?.uniqueID, found?.state, found?.total, needsFile, isWaiting], () => found && viewFor(found, part))
    // The rest of the view stays, with the focus.
    const bar = current.querySelector("progress")
    const count = current.querySelector("[data-part=count]")
    if (bar?.hasAttribute("value")) bar.value = part
    if (count) fill(count, wordsOf(`count-${found?.state}`, {...found, sent}))
  }
  const failed = ({detail}) => fill(problem, problemView(detail))
  imports.addEventListener("failure", failed)
  const stop = follow(show, [imports, "change"])
  const timer = setInterval(() => {
    if (BUSY.includes(imports.current?.state ?? "")) imports.load().catch(() => {})
  }, POLL)
  attempt(() => imports.load())
  return {
    element,
    stop: () => {
      stop()
      clearInterval(timer)
      imports.removeEventListener("failure", failed)
    },
  }
}
