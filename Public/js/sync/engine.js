// Keeps the copy and the server the same (clients.md). The tab that has the Web Lock leads, the others hear of it.
import {Http} from "./http.js"
import {Remote} from "./remote.js"
import {Rounds} from "./rounds.js"
import {Transfers} from "./transfers.js"

const TOGETHER = 150 // ms in which changes are gathered, to be sent together
const FIRST_WAIT = 1_000, LONGEST_WAIT = 60_000 // ms after something went wrong
const FIRST_POLL = 5_000, LONGEST_POLL = 60_000 // ms between polls while nothing happens
const STEADY = 30_000 // ms that a stream lasts before a break counts as a first one
const TYPING = 3_000 // ms between two signs of typing

/** Growing waits, each at random between its half and its whole, so that many do not come back as one. */
const backoff = attempt => Math.min(FIRST_WAIT * 2 ** attempt, LONGEST_WAIT) * (0.5 + Math.random() / 2)

/** @param {any} error @returns {Trouble} */
const wordsOf = ({slug = "unexpected", title = "", message = "", detail = message, requestID = null}) =>
  ({slug, title, detail, requestID})

// What does not go away by trying again.
const TWIN = wordsOf({
  slug: "clock-reused", title: "Two browsers share one sign-in",
  detail: "This browser's data was copied. Sign in again, and it becomes a device of its own; nothing is lost.",
})
const OTHER = wordsOf({
  slug: "copies-differ", title: "This copy differs from the server's",
  detail: "Within the hour all of it is read again and compared. Look at what the server refused.",
})

/** @type {Shared} */
const START = {
  hasFinished: false, toFetch: {objects: 0, bytes: 0}, uploads: {count: 0, sent: 0, total: 0},
  downloads: {count: 0, got: 0, total: 0}, offlineSince: null, nextTry: null, listeners: 0, live: false, problem: null,
  trouble: null,
}

/** Events: "status"; "typing" {uniqueID, device}; "requests". */
export class Engine extends Remote {
  #shared = START
  #channel = new BroadcastChannel("hesper-sync")
  // Without a secure context there is no lock: then every tab leads, and none listens.
  #locks = navigator.locks
  #leads = false
  #isVisible = true
  #giveUp = () => {}
  #isTold = false
  /** @type {boolean | null} */
  #isPersistent = null
  /** When to sync what happened, in ms; 0: at once, whatever is waited for. */
  #due = Infinity
  /** Looks again how long to wait. */
  #rouse = () => {}
  #failures = 0
  #quiet = 0 // syncs in a row that brought nothing
  #stream = {breaks: 0, after: 0, stop: /** @type {AbortController | null} */ (null)}
  #moves = {breaks: 0, after: 0}
  #typed = new Map()

  /** @param {Copy} copy */
  constructor(copy) {
    super(copy, new Http(entry => {
      this.#say({kind: "request", entry})
      this.dispatchEvent(new Event("requests"))
    }))
    this.rounds = new Rounds(copy, this.http, toFetch => this.#share({toFetch}))
    this.transfers = new Transfers(copy, this.http, progress => this.#share(progress), problem => {
      this.#share({trouble: problem && wordsOf(problem)})
      if (!problem) this.#wake() // What waited for these bytes can go.
    })
  }

  /** Syncs from now on, or waits until this tab leads. */
  async start() {
    const {copy} = this
    copy.addEventListener("change", event => this.#changed(/** @type {CustomEvent} */ (event).detail.source))
    copy.addEventListener("held", () => this.#changed("tab"))
    copy.addEventListener("session", () => {
      this.#changed("tab")
      this.#wake(0) // Whatever was waited for is over with the session it was of.
    })
    copy.addEventListener("sync", () => this.#tell())
    addEventListener("online", () => this.syncNow())
    addEventListener("offline", () => this.#stream.stop?.abort())
    navigator.storage?.persisted?.().then(is => {
      this.#isPersistent = is
      this.#tell()
    }, () => {})
    this.#channel.onmessage = ({data}) => this.#hear(data)
    this.#say({kind: "hello"})
    // Whoever waits already comes first when this tab asks again.
    while (this.#locks) await this.#locks.request("hesper", () => this.#lead())
    await this.#lead()
  }

  /** @returns {Status} */
  get status() {
    const {hasFinished, trouble, ...shared} = this.#shared
    const {copy, copy: {session}, rounds: {isSame, record}} = this
    const toSend = copy.unsentCount(), waiting = toSend + shared.uploads.count + shared.toFetch.objects
    const isDone = hasFinished && !waiting && !record.startedOver
    const lasting = session?.isTwin ? TWIN : isDone && isSame === false ? OTHER : null
    const problem = shared.problem ?? (shared.uploads.count ? trouble : null) ?? lasting
    /** @type {Status["phase"]} */
    let phase = isDone ? "synced" : problem ? "waiting" : "syncing"
    if (shared.offlineSince) phase = "offline"
    if (session?.signedOut) phase = "expired"
    if (!session) phase = "signed-out"
    return {
      ...shared, phase, toSend, problem, identical: phase === "synced" && isSame === true,
      lastSync: record.lastSync ?? null, leads: this.#leads, isSecure: isSecureContext,
      isPersistent: this.#isPersistent,
    }
  }

  /** Syncs at once, whatever is waited for. */
  syncNow() {
    if (!this.#leads) return this.#say({kind: "sync"})
    this.transfers.forgive()
    this.#moves.after = 0
    this.#wake(0)
  }

  /** What the person looks at. @param {string | null} noteID */
  opened(noteID) {
    this.transfers.open = noteID
    this.#say({kind: "opened", noteID})
  }

  /** A hidden tab may be slowed down or put to sleep: it lets one lead that is seen. @param {boolean} isVisible */
  visible(isVisible) {
    this.#isVisible = isVisible
    if (!this.#leads) this.#sayIfSeen()
    else if (!isVisible) this.#say({kind: "who-is-seen"})
    else if (!this.#shared.live) this.#wake(0)
  }

  /** Tells who listens that somebody types here. @param {string} noteID */
  typing(noteID) {
    const now = Date.now()
    if (!this.#shared.listeners || now - (this.#typed.get(noteID) ?? 0) < TYPING) return
    this.#typed.set(noteID, now)
    this.http.send("POST", "/v1/ephemeral", {json: {uniqueID: noteID, data: {typing: true}}}).catch(() => {})
  }

  /** The bytes of an attachment, before all others. @param {string} id */
  want(id) {
    return this.transfers.want(id)
  }

  /** The last requests of all tabs, oldest first. */
  requests() {
    return [...this.http.log]
  }

  async #lead() {
    await this.copy.loaded
    const over = new AbortController(), {signal} = over
    this.#giveUp = () => {
      over.abort()
      this.#rouse()
    }
    this.#leads = true
    this.#share(START)
    if (!this.#isVisible) this.#say({kind: "who-is-seen"})
    while (!signal.aborted) {
      const {session} = this.copy
      if (session && !session.signedOut) await this.#round(session.device.uniqueID, signal)
      else {
        this.#stream.stop?.abort()
        this.#share(START)
      }
      await this.#rest(signal)
    }
    this.#stream.stop?.abort()
    await this.#move(signal)
    this.#leads = false
    this.#tell()
  }

  /** One sync, and what goes on after it. */
  async #round(device, signal) {
    try {
      this.#quiet = await this.rounds.sync(signal) ? 0 : this.#quiet + 1
    } catch (error) {
      return signal.aborted || this.#fail(error, device)
    }
    if (!this.#shared.hasFinished) this.server().catch(() => {}) // Its limits may have changed.
    this.#failures = 0
    if (this.#due && !this.copy.unsentCount()) this.#due = Infinity // What happened meanwhile went along.
    this.#share({hasFinished: true, offlineSince: null, nextTry: null, problem: null, toFetch: START.toFetch})
    this.#move(signal)
    this.#listen(signal)
  }

  async #fail(error, device) {
    if (error.slug === "unauthenticated") return this.expire(device)
    this.#stream.stop?.abort()
    const isAway = error.slug === "network", now = Date.now()
    this.#share({
      hasFinished: false, problem: isAway ? null : wordsOf(error),
      offlineSince: isAway ? this.#shared.offlineSince ?? now : null,
      nextTry: now + Math.max(backoff(this.#failures++), error.retryAfter ?? 0),
    })
  }

  /** When to sync if nothing happens, in ms. */
  #next() {
    const now = Date.now(), {nextTry, live} = this.#shared, {session} = this.copy
    if (!session || session.signedOut) return Infinity
    if (nextTry) return nextTry
    const poll = Math.min(FIRST_POLL * 1.5 ** this.#quiet, LONGEST_POLL)
    const again = this.#locks && !this.#stream.stop ? Math.max(this.#stream.after, now + FIRST_WAIT) : Infinity
    return Math.min(live ? Infinity : Math.min(now + poll, again), this.copy.nextDeletion() ?? Infinity)
  }

  /** Waits until there is something to sync: while something is wrong, mere changes wait, too. */
  async #rest(signal) {
    const {live} = this.#shared, next = this.#next()
    while (!signal.aborted) {
      // Who listens does not poll.
      const at = live === this.#shared.live ? next : this.#next()
      const due = Math.min(at, this.#due && this.#shared.nextTry ? Infinity : this.#due)
      if (due <= Date.now()) break
      await new Promise(resolve => {
        const timer = due === Infinity ? 0 : setTimeout(resolve, due - Date.now())
        this.#rouse = () => resolve(clearTimeout(timer))
      })
    }
    this.#rouse = () => {}
    this.#due = Infinity
  }

  /** Something is to be synced. */
  #wake(due = Date.now() + TOGETHER) {
    this.#due = Math.min(this.#due, due)
    this.#rouse()
  }

  /** Moves bytes, with growing waits while that breaks off though sync does not. */
  async #move(signal) {
    if (Date.now() < this.#moves.after) return
    try {
      await this.transfers.run(signal)
      this.#moves.breaks = 0
    } catch {
      const wait = backoff(this.#moves.breaks++)
      this.#moves.after = Date.now() + wait
      setTimeout(() => this.#wake(), wait) // The sync that follows says what is wrong.
    }
  }

  /** Listens from where a finished sync ended. */
  async #listen(signal) {
    const {token} = this.rounds.record, begun = Date.now()
    if (this.#stream.stop || !this.#locks || !token || begun < this.#stream.after) return
    const stop = this.#stream.stop = new AbortController()
    let retry = 0
    try {
      for await (const event of this.http.events(token, stop)) {
        if (!this.#shared.live) {
          this.#share({live: true})
          this.#rouse()
        }
        retry ||= event.retry
        if (event.name === "expired") break
        await this.#take(event, signal)
      }
    } catch {
      // The sync that follows says what is wrong.
    }
    const breaks = Date.now() - begun > STEADY ? 0 : this.#stream.breaks + 1
    this.#stream = {breaks, after: Date.now() + (retry || (breaks > 1 ? backoff(breaks) : 0)), stop: null}
    this.#share({live: false, listeners: 0})
    this.#wake()
  }

  /** @param {ServerEvent} event @param {AbortSignal} signal */
  async #take({name, data}, signal) {
    if (name === "listeners") this.#share(data)
    if (name === "ephemeral" && data.data.typing === true) {
      this.#hear({kind: "typing", detail: data})
      this.#say({kind: "typing", detail: data})
    }
    if (name !== "changes") return
    if (await this.rounds.take(data)) this.#wake()
    else if (!data.hasMore) this.#move(signal)
  }

  /** @param {Origin} source */
  async #changed(source) {
    this.#tell()
    if (source === "sync") return
    this.#quiet = 0
    this.#wake()
    if (source !== "here" || this.#isPersistent !== false || !this.copy.unsentCount()) return
    // There is something that is nowhere else: the browser is asked to keep it, once a visit.
    this.#isPersistent = null
    this.#isPersistent = await navigator.storage.persist().catch(() => false)
    this.#tell()
  }

  #say(message) {
    this.#channel.postMessage(message)
  }

  #sayIfSeen() {
    if (this.#isVisible && !this.#leads) this.#say({kind: "seen"})
  }

  /** What another tab says. */
  #hear({kind, ...said}) {
    if (kind === "status" && !this.#leads) this.#share(said.shared)
    if (kind === "typing") this.dispatchEvent(new CustomEvent("typing", {detail: said.detail}))
    if (kind === "opened") this.transfers.open = said.noteID
    if (kind === "who-is-seen") this.#sayIfSeen()
    if (kind === "log") this.http.log = said.log
    if (kind === "request") this.http.remember(said.entry)
    if (kind === "log" || kind === "request") this.dispatchEvent(new Event("requests"))
    if (!this.#leads) return
    if (kind === "sync") this.syncNow()
    if (kind === "seen" && !this.#isVisible && this.#locks) this.#giveUp()
    if (kind === "hello") {
      this.#tell()
      this.#say({kind: "log", log: this.http.log})
    }
  }

  /** @param {Partial<Shared>} fields */
  #share(fields) {
    this.#shared = {...this.#shared, ...fields}
    this.#tell()
  }

  /** Tells of the status, once for what changes together. */
  #tell() {
    if (this.#isTold) return
    this.#isTold = true
    setTimeout(() => {
      this.#isTold = false
      if (this.#leads && this.#locks) this.#say({kind: "status", shared: this.#shared})
      this.dispatchEvent(new Event("status"))
    })
  }
}
