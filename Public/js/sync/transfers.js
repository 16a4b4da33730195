// Bytes of attachments, up and down (clients.md, rule 11; protocol.md, Attachments).
import {base64, hashOfFile} from "../model/hash.js"
import {Problem} from "./http.js"

const PART = 4 << 20 // bytes: larger files go up in parts of this size, and come down only when somebody wants them
const MOST_PICTURE = 24 << 20 // bytes of one that comes unasked
const AT_ONCE = 3
const SHARE = 0.5 // of the browser's storage, for what comes unasked
const GUESS = 256 << 20 // bytes, where the browser does not say how much it has
const LATER = 600_000 // ms until what was refused is tried again by itself
const NEVER = ["bytes-missing", "immutable", "too-large", "invalid-field"]

const dataPath = id => `/v1/attachments/${id}/data`

/** Whether it is about these bytes alone: others may do better. */
const isRefusal = ({slug}) => slug && !["network", "unauthenticated", "unavailable"].includes(slug)

/** Moves bytes in the background, and at once what somebody wants. */
export class Transfers {
  /** What the person looks at: its bytes come first. @type {string | null} */
  open = null
  /** When to try again what was refused, in ms. @type {Map<string, number>} */
  #later = new Map()
  /** @type {Map<string, Promise<Blob>>} */
  #coming = new Map()
  /** Bytes that the server has of what goes up just now. @type {Map<string, number>} */
  #going = new Map()
  #free = AT_ONCE
  #waiting = []
  /** @type {Promise<void> | null} */
  #running = null
  #isAgain = false
  #downloads = {count: 0, got: 0, total: 0}

  /**
   * @param {Copy} copy @param {Http} http
   * @param {(progress: Progress) => void} tell @param {(problem: Problem | null) => void} over an upload is
   */
  constructor(copy, http, tell, over) {
    this.copy = copy
    this.http = http
    this.tell = tell
    this.over = over
  }

  /** What was refused is tried again. */
  forgive() {
    this.#later.clear()
  }

  /** Until nothing is left to be moved; throws if the network is gone. @param {AbortSignal} signal */
  run(signal) {
    this.#isAgain = Boolean(this.#running)
    return this.#running ??= this.#run(signal).finally(() => {
      this.#running = null
      this.#told({count: 0, got: 0, total: 0})
    })
  }

  async #run(signal) {
    do {
      this.#isAgain = false
      await this.#all(this.#toSend().filter(one => !this.#isLate(one)), one => this.#send(one, signal), signal)
      const missing = await this.#missing()
      this.#told({count: missing.length, got: 0, total: missing.reduce((sum, one) => sum + one.byteCount, 0)})
      await this.#all(missing, async ({uniqueID, byteCount}) => {
        // Something new may have to go up, or come before this.
        if (this.#isAgain) return
        if (!this.copy.attachment(uniqueID)?.isHere) await this.#fetch(uniqueID, signal)
        const {count, got, total} = this.#downloads
        this.#told({count: count - 1, got: got + byteCount, total})
      }, signal)
    } while (this.#isAgain && !signal.aborted)
  }

  /**
   * The bytes of an attachment, from here or from the server, before all others.
   * @param {string} id @returns {Promise<Blob>}
   */
  async want(id) {
    return await this.copy.bytes(id) ?? this.#coming.get(id) ?? this.#inTurn(() => this.#fetch(id))
  }

  /** Each in its turn, until the network goes. */
  async #all(jobs, work, signal) {
    let failure
    await Promise.all(jobs.map(job => this.#inTurn(async () => {
      if (failure || signal.aborted) return
      await work(job).catch(error => {
        if (isRefusal(error)) this.#later.set(job.uniqueID, Date.now() + LATER)
        else failure = error
      })
    }, job.note)))
    if (failure) throw failure
  }

  /** What is of no note comes before all others, then what is of the open one. */
  async #inTurn(work, note) {
    if (this.#free) this.#free -= 1
    else await new Promise(go => this.#waiting.push({go, note}))
    try {
      return await work()
    } finally {
      const waiting = this.#waiting, first = test => waiting.findIndex(test) + 1
      const [next] = waiting.splice((first(one => !one.note) || first(one => one.note === this.open) || 1) - 1, 1)
      if (next) next.go()
      else this.#free += 1
    }
  }

  #isLate({uniqueID}) {
    return (this.#later.get(uniqueID) ?? 0) > Date.now()
  }

  /** @returns {Made[]} */
  #toSend() {
    return [...this.copy.memory.made.values()].filter(one => one.needsBytes)
  }

  #told(downloads = this.#downloads) {
    this.#downloads = downloads
    const all = this.#toSend(), sum = sizes => sizes.reduce((one, other) => one + other, 0)
    const sent = sum([...this.#going.values()]), total = sum(all.map(one => one.fixed.byteCount))
    this.tell({uploads: {count: all.length, sent, total}, downloads})
  }

  /** @param {Made} made */
  async #send(made, signal) {
    const id = made.uniqueID
    this.#going.set(id, 0)
    try {
      this.#told()
      const body = await this.copy.bytes(id)
      if (!body) throw new Problem({slug: NEVER[0], status: 404, title: "Its bytes are not in this browser any more"})
      const digest = Uint8Array.from(made.fixed.sha256.match(/../g), pair => Number(`0x${pair}`))
      const headers = {"Repr-Digest": `sha-256=:${base64(digest)}:`}
      if (body.size > PART) await this.#sendParts(id, body, headers, signal)
      else await this.http.send("PUT", dataPath(id), {body, headers, signal})
      await this.copy.transaction(["made", "uploads"], "readwrite", async tx => {
        const {needsBytes, ...rest} = await tx.get("made", id) ?? {}
        if (needsBytes) tx.put("made", rest)
        tx.delete("uploads", id)
      })
      this.over(null)
    } catch (/** @type {any} */ error) {
      if (NEVER.includes(error.slug)) await this.#shelve(made, error)
      if (isRefusal(error)) this.over(error)
      throw error
    } finally {
      this.#going.delete(id)
      this.#told()
    }
  }

  /** It can never go up, so what names it goes, too. @param {Made} made @param {Problem} problem */
  #shelve(made, {slug, title, detail, status, requestID}) {
    return this.copy.transaction(["made", "uploads", "unsent", "shelf"], "readwrite", async tx => {
      const names = (await tx.getAll("unsent")).filter(one => one.attribute === `attachments.${made.uniqueID}`)
      for (const {uniqueID, attribute} of names) tx.delete("unsent", [uniqueID, attribute])
      for (const store of ["made", "uploads"]) tx.delete(store, made.uniqueID)
      const problem = {slug, title, detail, status, requestID}
      tx.put("shelf", {...made, note: names[0]?.uniqueID, problem, moment: Date.now()})
    })
  }

  /** Goes on where it broke off, also after a reload. */
  async #sendParts(id, blob, headers, signal) {
    let {location, offset} = await this.#begun(id, signal)
    if (!location) {
      const begun = await this.http.send("PUT", dataPath(id), {
        headers: {...headers, "Upload-Complete": "?0", "Upload-Length": String(blob.size)}, signal,
      })
      if (begun.headers.get("Upload-Complete") === "?1") return // it is there already
      location = begun.headers.get("Location")
    }
    for (; offset < blob.size; offset = Math.min(offset + PART, blob.size)) {
      this.#going.set(id, offset)
      this.#told()
      const record = {uniqueID: id, location, offset}
      await this.copy.transaction(["uploads"], "readwrite", tx => tx.put("uploads", record))
      await this.http.send("PATCH", location, {
        body: blob.slice(offset, offset + PART), signal, headers: {
          "Content-Type": "application/partial-upload", "Upload-Offset": String(offset),
          "Upload-Complete": offset + PART < blob.size ? "?0" : "?1",
        },
      })
    }
  }

  /** Where an upload that was begun goes on. */
  async #begun(id, signal) {
    const {location} = await this.copy.transaction(["uploads"], "readonly", tx => tx.get("uploads", id)) ?? {}
    try {
      if (!location) return {offset: 0}
      const {headers} = await this.http.send("HEAD", location, {signal})
      const isComplete = headers.get("Upload-Complete") === "?1"
      return {location, offset: isComplete ? Infinity : Number(headers.get("Upload-Offset"))}
    } catch (/** @type {any} */ error) {
      if (error.status === 404) return {offset: 0} // the server forgot it
      throw error
    }
  }

  /** What live notes hold, is not here, and comes unasked: that of the open note, then of the newest. */
  async #missing() {
    const {quota, usage = 0} = await navigator.storage?.estimate().catch(() => null) ?? {}
    const found = []
    for (const {uniqueID, registers, fixed} of this.copy.entities()) {
      for (const name in registers) {
        const attachment = name.startsWith("attachments.") && registers[name][0] && this.copy.attachment(name.slice(12))
        if (!attachment || attachment.isHere || attachment.isUnsent || this.#isLate(attachment)) continue
        const {mimeType, byteCount = 0} = attachment
        if (byteCount > (mimeType.startsWith("image/") ? MOST_PICTURE : PART)) continue
        const date = registers.sortDate?.[0] ?? fixed.creationDate
        found.push({uniqueID: attachment.uniqueID, byteCount, note: uniqueID, date})
      }
    }
    let room = quota ? quota * SHARE - usage : GUESS
    const rank = ({note}) => note === this.open ? 0 : 1
    found.sort((a, b) => rank(a) - rank(b) || (a.date > b.date ? -1 : 1))
    return found.filter(one => (room -= one.byteCount) > 0)
  }

  #fetch(id, signal) {
    if (!this.#coming.has(id)) this.#coming.set(id, this.#download(id, signal).finally(() => this.#coming.delete(id)))
    return this.#coming.get(id)
  }

  async #download(id, signal) {
    const {value: blob} = await this.http.send("GET", dataPath(id), {as: "blob", signal})
    const {sha256: wanted} = this.copy.attachment(id) ?? {}
    const isDamaged = wanted && wanted !== await hashOfFile(await blob.arrayBuffer())
    if (isDamaged) throw new Problem({slug: "damaged", title: "Other bytes came than were sent"})
    // Without room they are shown all the same, and fetched again.
    const keep = tx => tx.put("bytes", {uniqueID: id, blob, lastUse: Date.now()})
    await this.copy.transaction(["bytes"], "readwrite", keep).catch(() => this.#later.set(id, Date.now() + LATER))
    return blob
  }
}
