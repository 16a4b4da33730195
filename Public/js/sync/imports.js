// Imports of files on the server: uploads the file, and follows the server's work on it (protocol.md, Imports).
import {Problem} from "./http.js"

const PATH = "/v1/imports"
/** The size of the parts of an upload, in bytes. */
const PART_SIZE = 4 << 20
/** The maximum size of a file that is stored here, so that its upload continues after a reload. In bytes. */
const MAX_STORED_SIZE = 256 << 20
const FIRST_RETRY = 1_000 // ms
const MAX_DELAY = 60_000 // ms
/** Errors after which an upload is tried again. */
const TEMPORARY = ["network", "unavailable", "too-many-requests", "upload-offset", "request-timeout", "unexpected"]

/** States in which the server, or the upload, changes the import. */
export const BUSY = ["uploading", "reading", "writing"]

const pathOf = ({uniqueID}) => `${PATH}/${uniqueID}`

/** The import of the account. Dispatches "change". @implements {ServerImports} */
export class Imports extends EventTarget {
  /** @type {ServerImport | null} */
  current = null
  sent = 0
  needsFile = false
  isWaiting = false
  /** @type {AbortController | null} while this tab uploads */
  #upload = null

  /**
   * @param {Copy} copy
   * @param {SyncEngine & {http: Http}} engine
   */
  constructor(copy, engine) {
    super()
    this.copy = copy
    this.http = engine.http
    engine.addEventListener("import", (/** @type {any} */ {detail}) => this.#takeEvent(detail))
    copy.addEventListener("session", () => { if (!copy.session) this.#set(null) })
  }

  async load() {
    const {value: {imports: [found = null]}} = await this.http.send("GET", PATH)
    if (this.#upload) return
    this.#set(found)
    if (found?.state === "uploading") await this.#resume(found)
  }

  async begin(blob, name) {
    const {value} = await this.http.send("POST", PATH, {json: {byteCount: blob.size, ...name && {name}}})
    this.sent = 0
    this.#set(value)
    if (blob.size <= MAX_STORED_SIZE) await this.#store({uniqueID: value.uniqueID, blob}).catch(() => {})
    this.#send(value, blob)
  }

  continueWith(blob) {
    const {current} = this
    if (!current || blob.size !== current.byteCount) throw new Problem({slug: "other-file"})
    this.#send(current, blob)
  }

  async start() {
    const {current} = this
    if (current) this.#set((await this.http.send("POST", `${pathOf(current)}/start`)).value)
  }

  async cancel() {
    const {current} = this
    this.#upload?.abort()
    if (!current) return
    await this.http.send("DELETE", pathOf(current)).catch(error => {
      if (error.status !== 404) throw error
    })
    await this.#store()
    this.#set(null)
  }

  /** Keeps a file for the case that the page is reloaded; without a file, removes it. */
  #store(kept) {
    return this.copy.transaction(["meta"], "readwrite", tx => kept ? tx.put("meta", kept, "import") : tx.delete("meta", "import"))
  }

  #set(found) {
    this.current = found
    this.needsFile = false
    this.#tell()
  }

  #tell = () => this.dispatchEvent(new Event("change"))

  /** Continues an upload that another page began. */
  async #resume(found) {
    const kept = await this.copy.transaction(["meta"], "readonly", tx => tx.get("meta", "import"))
    if (kept?.uniqueID === found.uniqueID) return this.#send(found, kept.blob)
    const isElsewhere = (await navigator.locks?.query())?.held?.some(({name}) => name === "hesper-import")
    this.needsFile = !isElsewhere
    this.#tell()
  }

  /** Uploads a file, in one tab at a time. */
  #send(found, blob) {
    if (this.#upload) return
    const stop = this.#upload = new AbortController()
    this.needsFile = false
    const work = () => this.#sendAll(found, blob, stop.signal)
    const hold = {ifAvailable: true}
    const {locks} = navigator
    const done = locks ? locks.request("hesper-import", hold, lock => lock && work()) : work()
    done.then(() => {
      this.#upload = null
      // The server may have read the file already.
      if (this.current?.state === "reading") this.load().catch(() => {})
    }, error => {
      this.#upload = null
      if (!stop.signal.aborted) this.dispatchEvent(new CustomEvent("failure", {detail: error}))
    })
  }

  async #sendAll(found, blob, signal) {
    for (let attempt = 0; !signal.aborted;) {
      try {
        this.#set(await this.#sendParts(found, blob, signal, () => { attempt = 0 }))
        return await this.#store()
      } catch (/** @type {any} */ error) {
        if (signal.aborted) return
        if (!TEMPORARY.includes(error.slug)) {
          if (error.status === 404) this.#set(null)
          throw error
        }
        this.isWaiting = true
        this.#tell()
        const delay = Math.max(Math.min(FIRST_RETRY * 2 ** attempt++, MAX_DELAY) * (0.5 + Math.random() / 2), error.retryAfter ?? 0)
        await new Promise(resolve => {
          const timer = setTimeout(resolve, delay)
          const end = () => resolve(clearTimeout(timer))
          addEventListener("online", end, {once: true})
          signal.addEventListener("abort", end, {once: true})
        })
      }
    }
  }

  /** The import after its last part. */
  async #sendParts(found, blob, signal, succeeded) {
    const path = `${pathOf(found)}/data`
    const {headers} = await this.http.send("HEAD", path, {signal})
    for (let at = Number(headers.get("Upload-Offset")); ; at += PART_SIZE) {
      this.sent = at
      this.isWaiting = false
      this.#tell()
      const isLast = at + PART_SIZE >= blob.size
      const {value} = await this.http.send("PATCH", path, {
        body: blob.slice(at, at + PART_SIZE), signal, headers: {
          "Content-Type": "application/partial-upload", "Upload-Offset": String(at), "Upload-Complete": isLast ? "?1" : "?0",
        },
      })
      succeeded()
      if (isLast) return value
    }
  }

  #takeEvent({uniqueID, state, done, total}) {
    const {current} = this
    const isKnown = current?.uniqueID === uniqueID
    if (state === "deleted") {
      if (isKnown) this.#set(null)
    } else if (current && isKnown && current.state === state) {
      this.current = {...current, done, total}
      this.#tell()
    } else if (!this.#upload) this.load().catch(() => {})
  }
}
