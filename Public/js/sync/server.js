// The server that the page came from: requests, accounts, bytes of attachments, new versions of the app.
import {derivedID, hashOfFile, newID, rawMembers, registersOf, unhex, valueOf, writeState} from "../model/entity.js"
import {stampAgain} from "../store/copy.js"

const TIMEOUT = 120_000, SILENCE = 45_000, MINUTE = 60_000, HOUR = 3_600_000 // ms
/** @type {any} */
const signals = AbortSignal

export class Problem extends Error {
  slug = "unexpected"
  detail = ""

  /** @param {ProblemFields} fields */
  constructor(fields) {
    super(fields.detail || fields.title)
    Object.assign(this, fields)
  }
}

/** @type {(error: any) => Trouble} */
export const wordsOf = ({slug = "unexpected", title = "", message = "", detail = message, requestID = null}) =>
  ({slug, title, detail, requestID})

const refusal = ({status, headers}, requestID, says) => new Problem({
  // Of a proxy whose server is away.
  slug: status > 501 && status < 505 ? "unavailable" : "unexpected", title: `The server answered ${status}`, ...says,
  status, requestID: headers.get("X-Request-ID") ?? requestID,
  retryAfter: Number(headers.get("Retry-After")) * 1000 || 0,
})

export class Http {
  constructor(told) {
    this.told = told
  }

  /** @param {string} method @param {string} path @param {Asking} how @returns {Promise<Answer>} */
  send(method, path, {json, body = json && JSON.stringify(json), headers, signal, as = "text"} = {}) {
    const init = {
      method, body, headers: {...json && {"Content-Type": "application/json"}, ...headers},
      signal: signals.any([signals.timeout(TIMEOUT), ...signal ? [signal] : []]),
    }
    return this.#ask(path, init, async (answer, entry) => {
      const value = await answer[as]()
      entry.bytes = value.size ?? value.length
      return {headers: answer.headers, value: as === "text" && value ? JSON.parse(value) : value}
    })
  }

  async* events(since, stop) {
    let timer
    const wait = () => {
      clearTimeout(timer)
      timer = setTimeout(() => stop.abort(), SILENCE)
    }
    try {
      wait()
      const path = `/v1/events?since=${encodeURIComponent(since)}`
      const body = await this.#ask(path, {signal: stop.signal}, answer => answer.body)
      const reader = body.pipeThrough(new TextDecoderStream()).getReader()
      for (let text = "", part; !(part = await reader.read()).done;) {
        wait()
        text += part.value
        for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
          const lines = text.slice(0, end).split("\n").map(line => line.split(/: (.*)/s, 2))
          const {event, data = "null", retry = 0} = Object.fromEntries(lines)
          yield {name: event, data: JSON.parse(data), retry: Number(retry)}
        }
      }
    } finally {
      clearTimeout(timer)
      stop.abort()
    }
  }

  async #ask(path, init, read) {
    const requestID = newID(), moment = Date.now(), {method = "GET"} = init
    /** @type {LogEntry} */
    const entry = {moment, method, path: path.split("?")[0], status: 0, requestID, milliseconds: 0, bytes: 0}
    try {
      const answer = await fetch(path, {
        ...init, cache: "no-store", redirect: "error", headers: {"X-Request-ID": requestID, ...init.headers},
      })
      entry.status = answer.status
      if (!answer.ok) throw refusal(answer, requestID, await answer.json().catch(() => ({})))
      return await read(answer, entry)
    } catch (error) {
      const isProblem = error instanceof Problem
      const problem = isProblem ? error : new Problem({slug: "network", detail: String(error), requestID})
      entry.problem = problem.slug
      throw problem
    } finally {
      entry.milliseconds = Date.now() - moment
      this.told(entry)
    }
  }
}

const otherAccount = ({account: {email}}) => new Problem({slug: "other-account", detail: email})

export class Remote extends EventTarget {
  /** @param {Copy} copy @param {Http} http */
  constructor(copy, http) {
    super()
    this.copy = copy
    this.http = http
  }

  async #get(path, cursor = "") {
    return (await this.http.send("GET", cursor ? `${path}?cursor=${encodeURIComponent(cursor)}` : path)).value
  }

  async #all(path, name) {
    const found = []
    let cursor
    do {
      const page = await this.#get(path, cursor)
      found.push(...page[name])
      cursor = page.nextCursor
    } while (cursor)
    return found
  }

  async server() {
    const server = await this.#get("/v1/server")
    await this.copy.transaction(["meta"], "readwrite", tx => tx.put("meta", server.limits, "limits"))
    return server
  }

  account = () => this.#get("/v1/account")
  devices = () => this.#all("/v1/devices", "devices")
  history = (noteID, cursor) => this.#get(`/v1/notes/${noteID}/edits`, cursor)
  recentlyDeleted = cursor => this.#get("/v1/recently-deleted", cursor)
  signUp = credentials => this.#enter("/v1/accounts", credentials)
  signIn = credentials => this.#enter("/v1/devices", credentials)

  async #enter(path, credentials) {
    const held = this.copy.session
    if (held && held.account.email.toLowerCase() !== credentials.email.trim().toLowerCase()) throw otherAccount(held)
    const {value: {account: {uniqueID, email}, device}} =
      await this.http.send("POST", path, {json: {...credentials, cookie: true}})
    await this.copy.transaction(["meta", "unsent"], "readwrite", async tx => {
      const standing = await tx.get("meta", "session")
      if (standing && standing.account.uniqueID !== uniqueID) throw otherAccount(standing)
      tx.put("meta", {account: {uniqueID, email}, device: {uniqueID: device.uniqueID, name: device.name}}, "session")
      // A copied device must not go on under the clocks that the other may have used.
      if (standing?.isTwin) await stampAgain(tx)
    })
  }

  expire(device) {
    return this.copy.transaction(["meta"], "readwrite", async tx => {
      const session = await tx.get("meta", "session")
      if (session?.device.uniqueID === device) tx.put("meta", {...session, signedOut: true}, "session")
    })
  }

  async signOut({anyway = false} = {}) {
    const {session} = this.copy
    await (session && this.signOutDevice(session.device.uniqueID).catch(error => {
      if (!anyway && ![401, 404].includes(error.status)) throw error
    }))
    await this.copy.erase()
  }

  async deleteAccount(json) {
    await this.http.send("DELETE", "/v1/account", {json})
    await this.copy.erase()
  }

  changePassword = json => this.http.send("PATCH", "/v1/account", {json})
  verifyEmail = () => this.http.send("POST", "/v1/account/email-verification")
  signOutDevice = id => this.http.send("DELETE", `/v1/devices/${id}`)
  revoke = (id, json) => this.http.send("POST", `/v1/devices/${id}/revocation`, {json})

  async putBack(deletedID) {
    const edits = await this.#all(`/v1/notes/${deletedID}/edits`, "edits")
    edits.sort((a, b) => a.clock < b.clock ? -1 : 1)
    const {copy, copy: {memory}} = this, creationDate = edits[0]?.clock.slice(0, 24)
    const registers = registersOf(edits.filter(one => one.value !== undefined))
    const note = writeState({uniqueID: deletedID, type: "note", fixed: {creationDate}, registers})
    let uniqueID = deletedID
    // What was put back may have been deleted again.
    do uniqueID = derivedID(uniqueID, "put back")
    while (memory.deleted.has(uniqueID) || memory.deletions.has(uniqueID))
    const isThere = id => copy.entity(id)
    return copy.createNote({
      ...note, uniqueID, tags: note.tags.filter(isThere), attachments: note.attachments.filter(isThere),
    })
  }
}

const PART = 4 << 20, MOST_PICTURE = 24 << 20 // bytes
const AT_ONCE = 3
const SHARE = 0.5, GUESS = 256 << 20 // of the browser's storage, in bytes if it does not say
const LATER = 600_000 // ms
const NEVER = ["bytes-missing", "immutable", "too-large", "invalid-field"]
const NOTHING = {count: 0, got: 0, total: 0}

const dataPath = id => `/v1/attachments/${id}/data`
const sumOf = sizes => sizes.reduce((sum, size) => sum + size, 0)
// Of these bytes alone: others may do better.
const isRefusal = ({slug}) => slug && !["network", "unauthenticated", "unavailable"].includes(slug)

export class Transfers {
  open = null
  #later = new Map()
  #coming = new Map()
  #going = new Map()
  #running
  #isAgain = false
  #downloads = NOTHING

  /** @param {Copy} copy @param {Http} http @param {Tell} tell */
  constructor(copy, http, tell) {
    this.copy = copy
    this.http = http
    this.tell = tell
  }

  forgive = () => this.#later.clear()

  run(signal) {
    this.#isAgain = !!this.#running
    return this.#running ??= this.#run(signal).finally(() => {
      this.#running = undefined
      this.#told(NOTHING)
    })
  }

  async #run(signal) {
    let failure
    do {
      this.#isAgain = false
      const missing = await this.#missing()
      /** @type {any[]} */
      const jobs = [...this.#toSend().filter(one => !this.#isLate(one)), ...missing]
      this.#told({count: missing.length, got: 0, total: sumOf(missing.map(one => one.byteCount))})
      const next = () => jobs.splice(Math.max(0, jobs.findIndex(one => one.note === this.open)), 1)[0]
      const work = async () => {
        // Something new may come before what is left.
        for (let job; !failure && !this.#isAgain && !signal.aborted && (job = next());) {
          await (job.needsBytes ? this.#send(job, signal) : this.#take(job, signal)).catch(error => {
            if (isRefusal(error)) this.#putOff(job.uniqueID)
            else failure = error
          })
        }
      }
      await Promise.all(Array.from({length: AT_ONCE}, work))
      if (failure) throw failure
    } while (this.#isAgain && !signal.aborted)
  }

  async #take({uniqueID, byteCount}, signal) {
    if (!this.copy.attachment(uniqueID)?.isHere) await this.#fetch(uniqueID, signal)
    const {count, got, total} = this.#downloads
    this.#told({count: count - 1, got: got + byteCount, total})
  }

  async want(id) {
    return await this.copy.bytes(id) ?? this.#fetch(id)
  }

  #putOff = id => this.#later.set(id, Date.now() + LATER)
  #isLate = ({uniqueID}) => this.#later.get(uniqueID) > Date.now()
  #toSend = () => [...this.copy.memory.made.values()].filter(one => one.needsBytes)

  #told(downloads = this.#downloads) {
    this.#downloads = downloads
    const all = this.#toSend(), total = sumOf(all.map(one => one.fixed.byteCount))
    this.tell({uploads: {count: all.length, sent: sumOf([...this.#going.values()]), total}, downloads})
  }

  async #send(made, signal) {
    const id = made.uniqueID
    this.#going.set(id, 0)
    try {
      this.#told()
      const body = await this.copy.bytes(id)
      if (!body) throw new Problem({slug: NEVER[0], status: 404})
      const headers = {"Repr-Digest": `sha-256=:${btoa(String.fromCharCode(...unhex(made.fixed.sha256)))}:`}
      if (body.size > PART) await this.#sendParts(id, body, headers, signal)
      else await this.http.send("PUT", dataPath(id), {body, headers, signal})
      await this.copy.transaction(["made", "uploads"], "readwrite", async tx => {
        const standing = await tx.get("made", id)
        if (standing) tx.put("made", {...standing, needsBytes: false})
        tx.delete("uploads", id)
      }, "here") // What waited for them can go.
      this.tell({trouble: null})
    } catch (/** @type {any} */ error) {
      if (NEVER.includes(error.slug)) await this.#shelve(made, error)
      if (isRefusal(error)) this.tell({trouble: wordsOf(error)})
      throw error
    } finally {
      this.#going.delete(id)
      this.#told()
    }
  }

  #shelve(made, error) {
    return this.copy.transaction(["made", "uploads", "unsent", "shelf"], "readwrite", async tx => {
      const names = (await tx.getAll("unsent")).filter(one => one.attribute === `attachments.${made.uniqueID}`)
      for (const {uniqueID, attribute} of names) tx.delete("unsent", [uniqueID, attribute])
      for (const store of ["made", "uploads"]) tx.delete(store, made.uniqueID)
      const problem = {...wordsOf(error), status: error.status}
      tx.put("shelf", {...made, note: names[0]?.uniqueID, problem, moment: Date.now()})
    })
  }

  async #sendParts(id, blob, headers, signal) {
    let {location} = await this.copy.transaction(["uploads"], "readonly", tx => tx.get("uploads", id)) ?? {}
    let begun = location && await this.http.send("HEAD", location, {signal}).catch(error => {
      if (error.status !== 404) throw error
    })
    if (!begun) {
      const how = {...headers, "Upload-Complete": "?0", "Upload-Length": String(blob.size)}
      begun = await this.http.send("PUT", dataPath(id), {headers: how, signal})
      location = begun.headers.get("Location")
      await this.copy.transaction(["uploads"], "readwrite", tx => tx.put("uploads", {uniqueID: id, location}))
    }
    if (begun.headers.get("Upload-Complete") === "?1") return
    for (let at = Number(begun.headers.get("Upload-Offset")); at < blob.size; at += PART) {
      this.#going.set(id, at)
      this.#told()
      await this.http.send("PATCH", location, {
        body: blob.slice(at, at + PART), signal, headers: {
          "Content-Type": "application/partial-upload", "Upload-Offset": String(at),
          "Upload-Complete": at + PART < blob.size ? "?0" : "?1",
        },
      })
    }
  }

  async #missing() {
    const {quota, usage = 0} = await navigator.storage?.estimate().catch(() => null) ?? {}
    const found = []
    for (const entity of this.copy.entities()) {
      for (const {id, isIn} of rawMembers(entity, "attachments")) {
        const note = entity.uniqueID, attachment = isIn && this.copy.attachment(id)
        if (!attachment || attachment.isHere || attachment.isUnsent || this.#isLate(attachment)) continue
        const {uniqueID, mimeType, byteCount = 0} = attachment
        if (byteCount > (mimeType.startsWith("image/") ? MOST_PICTURE : PART)) continue
        found.push({uniqueID, byteCount, note, sortDate: valueOf(entity, "sortDate")})
      }
    }
    let room = quota ? quota * SHARE - usage : GUESS
    return found.sort((a, b) => a.sortDate > b.sortDate ? -1 : 1).filter(one => (room -= one.byteCount) > 0)
  }

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
    await this.copy.transaction(["bytes"], "readwrite", tx => tx.put("bytes", kept)).catch(() => this.#putOff(id))
    return blob
  }
}

/** @type {KeepUpToDate} */
export const keepUpToDate = (offer, reload) => {
  const container = navigator.serviceWorker
  if (!container) return () => {}
  let registration, looked = Date.now(), {controller} = container
  const offerWaiting = () => {
    const {waiting} = registration
    if (waiting && container.controller) offer(() => {
      container.oncontrollerchange = reload
      waiting.postMessage("skipWaiting")
    })
  }
  container.oncontrollerchange = () => {
    if (controller) offer(reload)
    controller = container.controller
  }
  const policy = globalThis.trustedTypes?.createPolicy("hesper", {createScriptURL: path => path})
  container.register(policy?.createScriptURL("/sw.js") ?? "/sw.js", {updateViaCache: "none"}).then(made => {
    registration = made
    offerWaiting()
    made.onupdatefound = () => made.installing?.addEventListener("statechange", offerWaiting)
  }, () => {})
  const look = () => {
    if (Date.now() - looked < MINUTE) return
    looked = Date.now()
    registration?.update().catch(() => {})
  }
  setInterval(look, HOUR)
  return look
}
