// Uploading and downloading the bytes of attachments.
import {rawMembers, valueOf} from "../model/entity.js"
import {hashOfFile, unhex} from "../model/hash.js"
import {Problem, troubleOf} from "./http.js"

/** Larger files go up in parts of this size, and are not downloaded unasked unless they are pictures. In bytes. */
const PART_SIZE = 4 << 20
/** Larger pictures are not downloaded unasked, in bytes. */
const MAX_PICTURE_SIZE = 24 << 20
const CONCURRENT_TRANSFERS = 3
/** How much of the browser's storage is used for downloads unasked. */
const STORAGE_SHARE = 0.5
/** The same in bytes, if the browser does not tell how much storage there is. */
const DEFAULT_ROOM = 256 << 20
/** When a transfer that was refused is tried again, in ms. */
const RETRY_DELAY = 600_000
/** An upload that fails with one of these never succeeds. */
const PERMANENT = ["bytes-missing", "immutable", "too-large", "invalid-field"]
const NOTHING = {count: 0, got: 0, total: 0}

const dataPath = id => `/v1/attachments/${id}/data`
const sumOf = sizes => sizes.reduce((sum, size) => sum + size, 0)
/** Whether an error concerns one file only, so that others may still succeed. */
const isRefusal = ({slug}) => slug && !["network", "unauthenticated", "unavailable"].includes(slug)

/** Uploads and downloads of attachments' bytes. */
export class Transfers {
  /** @type {string | null} the ID of the open note, whose transfers come first */
  open = null
  /** When each transfer that was refused is tried again, by ID. */
  #retryTimes = new Map()
  /** The downloads under way, by ID: promises of their bytes. */
  #coming = new Map()
  /** How many bytes of each upload were sent, by ID. */
  #going = new Map()
  #running
  /** There is something new to transfer. */
  #isAgain = false
  #downloads = NOTHING

  /**
   * @param {Copy} copy
   * @param {Http} http
   * @param {Tell} tell
   */
  constructor(copy, http, tell) {
    this.copy = copy
    this.http = http
    this.tell = tell
  }

  /** Has transfers that were refused tried again at once. */
  retryAll = () => this.#retryTimes.clear()

  /** Transfers everything that is due, until nothing is left or one fails. */
  run(signal) {
    this.#isAgain = !!this.#running
    return this.#running ??= this.#run(signal).finally(() => {
      this.#running = undefined
      this.#report(NOTHING)
    })
  }

  async #run(signal) {
    let failure
    do {
      this.#isAgain = false
      const missing = await this.#missing()
      /** @type {any[]} */
      const jobs = [...this.#toSend().filter(one => !this.#isPostponed(one)), ...missing]
      this.#report({count: missing.length, got: 0, total: sumOf(missing.map(one => one.byteCount))})
      const next = () => jobs.splice(Math.max(0, jobs.findIndex(one => one.note === this.open)), 1)[0]
      const work = async () => {
        // What is new may be more urgent than what is left.
        for (let job; !failure && !this.#isAgain && !signal.aborted && (job = next());) {
          await (job.needsBytes ? this.#send(job, signal) : this.#take(job, signal)).catch(error => {
            if (isRefusal(error)) this.#postpone(job.uniqueID)
            else failure = error
          })
        }
      }
      await Promise.all(Array.from({length: CONCURRENT_TRANSFERS}, work))
      if (failure) throw failure
    } while (this.#isAgain && !signal.aborted)
  }

  /** Downloads an attachment unasked. */
  async #take({uniqueID, byteCount}, signal) {
    if (!this.copy.attachment(uniqueID)?.isHere) await this.#fetch(uniqueID, signal)
    const {count, got, total} = this.#downloads
    this.#report({count: count - 1, got: got + byteCount, total})
  }

  /** An attachment's bytes, at once. */
  async want(id) {
    return await this.copy.bytes(id) ?? this.#fetch(id)
  }

  #postpone = id => this.#retryTimes.set(id, Date.now() + RETRY_DELAY)
  #isPostponed = ({uniqueID}) => this.#retryTimes.get(uniqueID) > Date.now()
  #toSend = () => [...this.copy.memory.made.values()].filter(one => one.needsBytes)

  #report(downloads = this.#downloads) {
    this.#downloads = downloads
    const all = this.#toSend()
    const total = sumOf(all.map(one => one.fixed.byteCount))
    this.tell({uploads: {count: all.length, sent: sumOf([...this.#going.values()]), total}, downloads})
  }

  /** Uploads an attachment's bytes. */
  async #send(made, signal) {
    const id = made.uniqueID
    this.#going.set(id, 0)
    try {
      this.#report()
      const body = await this.copy.bytes(id)
      if (!body) throw new Problem({slug: "bytes-missing", status: 404})
      const headers = {"Repr-Digest": `sha-256=:${btoa(String.fromCharCode(...unhex(made.fixed.sha256)))}:`}
      if (body.size > PART_SIZE) await this.#sendParts(id, body, headers, signal)
      else await this.http.send("PUT", dataPath(id), {body, headers, signal})
      await this.copy.transaction(["made", "uploads"], "readwrite", async tx => {
        const standing = await tx.get("made", id)
        if (standing) tx.put("made", {...standing, needsBytes: false})
        tx.delete("uploads", id)
      }, "here") // The edits that name it can be sent now.
      this.tell({trouble: null})
    } catch (/** @type {any} */ error) {
      if (PERMANENT.includes(error.slug)) await this.#shelve(made, error)
      if (isRefusal(error)) this.tell({trouble: troubleOf(error)})
      throw error
    } finally {
      this.#going.delete(id)
      this.#report()
    }
  }

  /** Gives up an upload: the attachment becomes a refused change, with the edits that name it. */
  #shelve(made, error) {
    return this.copy.transaction(["made", "uploads", "unsent", "shelf"], "readwrite", async tx => {
      if (!await tx.get("made", made.uniqueID)) return // It was deleted meanwhile, or the copy was erased.
      const names = (await tx.getAll("unsent")).filter(one => one.attribute === `attachments.${made.uniqueID}`)
      for (const {uniqueID, attribute} of names) tx.delete("unsent", [uniqueID, attribute])
      for (const store of ["made", "uploads"]) tx.delete(store, made.uniqueID)
      const problem = {...troubleOf(error), status: error.status}
      tx.put("shelf", {...made, note: names[0]?.uniqueID, problem, moment: Date.now()})
    })
  }

  /** A resumable upload (protocol.md, Resumable uploads), which continues where it was interrupted. */
  async #sendParts(id, blob, headers, signal) {
    let {location} = await this.copy.transaction(["uploads"], "readonly", tx => tx.get("uploads", id)) ?? {}
    let begun = location && await this.http.send("HEAD", location, {signal}).catch(error => {
      if (error.status !== 404) throw error
    })
    if (!begun) {
      const how = {...headers, "Upload-Complete": "?0", "Upload-Length": String(blob.size)}
      begun = await this.http.send("PUT", dataPath(id), {headers: how, signal})
      location = begun.headers.get("Location")
      const keep = async tx => await tx.get("made", id) && tx.put("uploads", {uniqueID: id, location})
      await this.copy.transaction(["made", "uploads"], "readwrite", keep)
    }
    if (begun.headers.get("Upload-Complete") === "?1") return
    for (let at = Number(begun.headers.get("Upload-Offset")); at < blob.size; at += PART_SIZE) {
      this.#going.set(id, at)
      this.#report()
      await this.http.send("PATCH", location, {
        body: blob.slice(at, at + PART_SIZE), signal, headers: {
          "Content-Type": "application/partial-upload", "Upload-Offset": String(at),
          "Upload-Complete": at + PART_SIZE < blob.size ? "?0" : "?1",
        },
      })
    }
  }

  /** Attachments of notes whose bytes are to be downloaded unasked, the newest notes' first. */
  async #missing() {
    const {quota, usage = 0} = await navigator.storage?.estimate().catch(() => null) ?? {}
    const found = []
    for (const entity of this.copy.entities()) {
      for (const {id, isIn} of rawMembers(entity, "attachments")) {
        const note = entity.uniqueID
        const attachment = isIn && this.copy.attachment(id)
        if (!attachment || attachment.isHere || attachment.isUnsent || this.#isPostponed(attachment)) continue
        const {uniqueID, mimeType, byteCount = 0} = attachment
        if (byteCount > (mimeType.startsWith("image/") ? MAX_PICTURE_SIZE : PART_SIZE)) continue
        found.push({uniqueID, byteCount, note, sortDate: valueOf(entity, "sortDate")})
      }
    }
    let room = quota ? quota * STORAGE_SHARE - usage : DEFAULT_ROOM
    return found.sort((a, b) => a.sortDate > b.sortDate ? -1 : 1).filter(one => (room -= one.byteCount) > 0)
  }

  /** A download, of which one for each attachment runs at a time. */
  #fetch(id, signal) {
    if (!this.#coming.has(id)) this.#coming.set(id, this.#download(id, signal).finally(() => this.#coming.delete(id)))
    return this.#coming.get(id)
  }

  async #download(id, signal) {
    const {value: blob} = await this.http.send("GET", dataPath(id), {as: "blob", signal})
    const {sha256: wanted} = this.copy.attachment(id) ?? {}
    const isDamaged = wanted && wanted !== await hashOfFile(await blob.arrayBuffer())
    if (isDamaged) throw new Problem({slug: "damaged"})
    const kept = {uniqueID: id, blob, lastUse: Date.now()}
    // The attachment may have been deleted meanwhile, or the copy erased.
    const keep = async tx => await tx.get("objects", id) && tx.put("bytes", kept)
    await this.copy.transaction(["bytes", "objects"], "readwrite", keep).catch(() => this.#postpone(id))
    return blob
  }
}
