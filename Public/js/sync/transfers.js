// Bytes of attachments, up and down (clients.md, rule 11; protocol.md, Attachments).
import {SHA256, base64, hex} from "../model/hash.js"
import {Problem} from "./http.js"

/** @typedef {import("../store/copy.js").Copy} Copy */
/** @typedef {import("./push.js").Made} Made */

/** What is larger is sent in parts of this size, and is fetched only when somebody wants it unless it is a picture; in bytes. */
export const PART = 4 << 20
const MOST_PICTURE = 24 << 20
const AT_ONCE = 3
/** Of the browser's storage, what is fetched unasked may fill so much; without an estimate, so many bytes a visit. */
const SHARE = 0.5
const GUESS = 256 << 20
const LATER = 600_000 // ms until what was refused is tried again by itself

/** @param {string} id */
const dataPath = id => `/v1/attachments/${id}/data`

/** @param {string} digits  hex @returns {string}  as Repr-Digest has it (RFC 9530) */
const digestField = digits => `sha-256=:${base64(Uint8Array.from(digits.match(/../g) ?? [], pair => parseInt(pair, 16)))}:`

/**
 * Whether it is about these bytes alone: the next may do better.
 * @param {unknown} error @returns {error is Problem}
 */
const isRefusal = error => error instanceof Problem && !["network", "unauthenticated", "unavailable"].includes(error.slug)

/** @param {Blob} blob @returns {Promise<string>}  SHA-256 in hex */
async function sha256Of(blob) {
  if (globalThis.crypto.subtle) return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", await blob.arrayBuffer())))
  const sum = new SHA256()
  // In pieces, so that the page is not held up for long.
  for (let at = 0; at < blob.size; at += 1 << 18) sum.update(new Uint8Array(await blob.slice(at, at + (1 << 18)).arrayBuffer()))
  return hex(sum.digest())
}

/** Brings bytes up and down in the background, at most three at once, and at once what somebody wants. */
export class Transfers {
  /** @type {Map<string, number>} when to try again what was refused, in ms */
  #later = new Map()
  /** @type {Map<string, Promise<Blob>>} */
  #coming = new Map()
  /**
   * Bytes that the server has of what goes up just now.
   * @type {Map<string, number>}
   */
  #going = new Map()
  /** @type {(() => void)[]} */
  #queue = []
  #free = AT_ONCE
  /** @type {Promise<void> | null} */
  #running = null
  #isAgain = false
  #open = ""
  #downloads = {count: 0, got: 0, total: 0}

  /**
   * @param {Copy} copy @param {import("./http.js").Http} http
   * @param {(progress: {uploads: {count: number, sent: number, total: number},
   *   downloads: {count: number, got: number, total: number}}) => void} tell  bytes
   * @param {(problem: Problem | null) => void} over  an upload is over: what waited for it can be pushed
   */
  constructor(copy, http, tell, over) {
    this.copy = copy
    this.http = http
    this.tell = tell
    this.over = over
  }

  /**
   * What the person looks at comes first.
   * @param {string | null} note
   */
  opened(note) {
    this.#open = note ?? ""
  }

  /** What was refused is tried again. */
  forgive() {
    this.#later.clear()
  }

  /**
   * Brings up what waits, then down what is missing, until nothing is left; throws if the network is gone.
   * @param {AbortSignal} signal
   */
  run(signal) {
    this.#isAgain = Boolean(this.#running)
    this.#running ??= this.#run(signal).finally(() => {
      this.#running = null
      this.#downloads = {count: 0, got: 0, total: 0}
      this.#tell()
    })
    return this.#running
  }

  /** @param {AbortSignal} signal */
  async #run(signal) {
    do {
      this.#isAgain = false
      await this.#inLanes(() => this.#nextUpload(), made => this.#send(made, signal), signal)
      await this.#fetchMissing(signal)
      // What came while this was going on was not looked for.
    } while (this.#isAgain && !signal.aborted)
  }

  /** @param {AbortSignal} signal */
  async #fetchMissing(signal) {
    let room = await this.#room()
    const missing = this.#missing()
    this.#downloads = {count: missing.length, got: 0, total: missing.reduce((sum, one) => sum + (one.byteCount ?? 0), 0)}
    this.#tell()
    const next = () => {
      // Looked for anew each time: the person may have opened another note.
      const at = Math.max(0, missing.findIndex(({note}) => note === this.#open))
      const [one] = missing.splice(at, 1)
      room -= one?.byteCount ?? 0
      return room > 0 && !this.#nextUpload() ? one : undefined
    }
    await this.#inLanes(next, async ({uniqueID, byteCount = 0}) => {
      await this.#fetch(uniqueID, signal, false).catch(error => {
        if (!isRefusal(error)) throw error
      })
      const {count, got, total} = this.#downloads
      this.#downloads = {count: count - 1, got: got + byteCount, total}
      this.#tell()
    }, signal)
  }

  /**
   * The bytes of an attachment, from here or from the server, before all that goes on in the background.
   * @param {string} id @returns {Promise<Blob>}
   */
  async want(id) {
    return await this.copy.bytes(id) ?? this.#fetch(id, undefined, true)
  }

  /**
   * @template T
   * @param {() => T | undefined} next @param {(job: T) => Promise<void>} work @param {AbortSignal} signal
   */
  async #inLanes(next, work, signal) {
    const lane = async () => {
      for (let job; !signal.aborted && (job = next());) await work(job)
    }
    const ends = await Promise.allSettled(Array.from({length: AT_ONCE}, lane))
    const failed = ends.find(end => end.status === "rejected")
    if (failed) throw /** @type {PromiseRejectedResult} */ (failed).reason
  }

  /** @param {string} id */
  #isLate(id) {
    return (this.#later.get(id) ?? 0) > Date.now()
  }

  #tell() {
    const made = [...this.copy.list.memory.made.values()].filter(one => one.needsBytes)
    const total = made.reduce((sum, one) => sum + (one.fixed.byteCount ?? 0), 0)
    const sent = [...this.#going.values()].reduce((sum, one) => sum + one, 0)
    this.tell({uploads: {count: made.length, sent, total}, downloads: this.#downloads})
  }

  /** @returns {Made | undefined} */
  #nextUpload() {
    for (const made of this.copy.list.memory.made.values()) {
      if (made.needsBytes && !this.#isLate(made.uniqueID) && !this.#going.has(made.uniqueID)) return /** @type {Made} */ (made)
    }
    return undefined
  }

  /** @param {Made} made @param {AbortSignal} signal */
  async #send(made, signal) {
    const id = made.uniqueID
    this.#going.set(id, 0)
    try {
      this.#tell()
      const blob = await this.copy.bytes(id)
      if (!blob) throw new Problem({slug: "bytes-missing", status: 404, title: "The bytes are not in this browser any more"})
      const headers = {"Repr-Digest": digestField(made.fixed.sha256)}
      if (blob.size > PART) await this.#sendInParts(id, blob, headers, signal)
      else await this.http.send("PUT", dataPath(id), {body: blob, headers, signal, as: "none"})
      await this.copy.transaction(["made", "uploads"], "readwrite", async tx => {
        const {needsBytes, ...rest} = await tx.get("made", id) ?? {}
        if (needsBytes) tx.put("made", rest)
        tx.delete("uploads", id)
      })
      this.over(null)
    } catch (error) {
      await this.#failed(made, error)
    } finally {
      this.#going.delete(id)
      this.#tell()
    }
  }

  /** @param {Made} made @param {unknown} error */
  async #failed(made, error) {
    if (!isRefusal(error)) throw error
    this.#later.set(made.uniqueID, Date.now() + Math.max(error.retryAfter ?? 0, LATER))
    if (["bytes-missing", "immutable", "too-large", "invalid-field"].includes(error.slug)) await this.#shelve(made, error)
    this.over(error)
  }

  /**
   * It can never go up: it goes on the shelf, and what names it goes.
   * @param {Made} made @param {Problem} problem
   */
  async #shelve({uniqueID, type, fixed}, {slug, title, detail, status, requestID}) {
    await this.copy.transaction(["made", "uploads", "unsent", "shelf"], "readwrite", async tx => {
      const edits = (await tx.getAll("unsent")).filter(edit => edit.attribute === `attachments.${uniqueID}`)
      for (const edit of edits) tx.delete("unsent", [edit.uniqueID, edit.attribute])
      tx.delete("made", uniqueID)
      tx.delete("uploads", uniqueID)
      const problem = {slug, title, detail, status, requestID}
      tx.put("shelf", {uniqueID, type, fixed, note: edits[0]?.uniqueID, problem, moment: Date.now()})
    })
  }

  /**
   * Resumable: goes on where it broke off, also after a reload.
   * @param {string} id @param {Blob} blob
   *  @param {Record<string, string>} headers
   * @param {AbortSignal} signal */
  async #sendInParts(id, blob, headers, signal) {
    let {location, at} = await this.#goOn(id, signal)
    if (!location) {
      const begun = await this.http.send("PUT", dataPath(id), {
        headers: {...headers, "Upload-Complete": "?0", "Upload-Length": String(blob.size)}, signal, as: "none"
      })
      if (begun.headers.get("Upload-Complete") === "?1") return // it is there already
      location = begun.headers.get("Location") ?? ""
      // Also a faulty server does not get bytes sent elsewhere.
      if (!/^\/v1\/uploads\/[\w-]+$/.test(location)) throw new Problem({slug: "unexpected", title: "The server names no upload"})
      await this.copy.transaction(["uploads"], "readwrite", tx => tx.put("uploads", {uniqueID: id, location, offset: 0}))
    }
    while (at < blob.size) {
      const end = Math.min(at + PART, blob.size)
      await this.http.send("PATCH", location, {
        body: blob.slice(at, end), signal, as: "none", headers: {
          "Content-Type": "application/partial-upload", "Upload-Offset": String(at),
          "Upload-Complete": end === blob.size ? "?1" : "?0"
        }
      })
      at = end
      this.#going.set(id, at)
      this.#tell()
      await this.copy.transaction(["uploads"], "readwrite", tx => tx.put("uploads", {uniqueID: id, location, offset: at}))
    }
  }

  /**
   * Where an upload that was begun goes on; no location: it begins anew.
   * @param {string} id @param {AbortSignal} signal
   */
  async #goOn(id, signal) {
    const begun = await this.copy.transaction(["uploads"], "readonly", tx => tx.get("uploads", id))
    if (!begun) return {location: "", at: 0}
    try {
      const {headers} = await this.http.send("HEAD", begun.location, {signal, as: "none"})
      const isComplete = headers.get("Upload-Complete") === "?1"
      return {location: begun.location, at: isComplete ? Infinity : Number(headers.get("Upload-Offset"))}
    } catch (error) {
      if (error instanceof Problem && [404, 410].includes(error.status)) return {location: "", at: 0}
      throw error
    }
  }

  /** How many bytes may be fetched unasked. */
  async #room() {
    const told = await globalThis.navigator.storage?.estimate().catch(() => null)
    return told?.quota === undefined ? GUESS : told.quota * SHARE - (told.usage ?? 0)
  }

  /** What live notes hold, is not here, and is fetched unasked: that of the newest notes first. */
  #missing() {
    const found = []
    for (const {uniqueID, type, registers, fixed} of this.copy.entities()) {
      if (type !== "note") continue
      const date = registers.sortDate?.[0] ?? fixed.creationDate
      for (const name of Object.keys(registers)) {
        if (!name.startsWith("attachments.") || !registers[name][0]) continue
        const attachment = this.copy.attachment(name.slice(12))
        if (!attachment || attachment.isHere || attachment.isUnsent || this.#isLate(attachment.uniqueID)) continue
        const most = attachment.mimeType.startsWith("image/") ? MOST_PICTURE : PART
        if ((attachment.byteCount ?? 0) <= most) found.push({...attachment, note: uniqueID, date})
      }
    }
    return found.sort((a, b) => a.date > b.date ? -1 : 1)
  }

  /** @param {string} id @param {AbortSignal | undefined} signal @param {boolean} isUrgent @returns {Promise<Blob>} */
  #fetch(id, signal, isUrgent) {
    const standing = this.#coming.get(id)
    if (standing) return standing
    const coming = this.#download(id, signal, isUrgent).finally(() => this.#coming.delete(id))
    this.#coming.set(id, coming)
    return coming
  }

  /** @param {string} id @param {AbortSignal | undefined} signal @param {boolean} isUrgent */
  async #download(id, signal, isUrgent) {
    if (!this.#free) await new Promise(go => isUrgent ? this.#queue.unshift(() => go(0)) : this.#queue.push(() => go(0)))
    else this.#free -= 1
    try {
      const {value: blob} = await this.http.send("GET", dataPath(id), {as: "blob", signal})
      const {sha256} = this.copy.attachment(id) ?? {}
      if (sha256 && sha256 !== await sha256Of(blob)) {
        throw new Problem({slug: "damaged", status: 200, title: "The bytes that came are not those that were sent"})
      }
      // Without room they are shown all the same, and fetched again next time.
      await this.copy.transaction(["bytes"], "readwrite", tx => {
        tx.put("bytes", {uniqueID: id, blob, lastUse: Date.now()})
      }).catch(() => this.#later.set(id, Date.now() + LATER))
      return blob
    } catch (error) {
      if (isRefusal(error)) this.#later.set(id, Date.now() + LATER)
      throw error
    } finally {
      const next = this.#queue.shift()
      if (next) next()
      else this.#free += 1
    }
  }
}
