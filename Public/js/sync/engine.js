// Keeps the copy and the server the same: one engine in each tab, of which one leads (clients.md, rules 6, 9, 12 and 13).
import {Http, Problem, eventsSince} from "./http.js"
import {Remote} from "./remote.js"
import {Rounds} from "./rounds.js"
import {Tabs} from "./tabs.js"
import {Transfers} from "./transfers.js"

/** @typedef {import("../store/copy.js").Copy} Copy */
/**
 * How sync stands; moments in milliseconds since 1970. `nextTry`: when it is tried again; `identical`: the server's digest is
 * that of this copy; `live`: a stream of events is open; `leads`: this tab syncs; `isPersistent`: the browser promised to keep it.
 * @typedef {{phase: "signed-out"|"offline"|"syncing"|"waiting"|"synced"|"expired", toSend: number,
 *   toFetch: {objects: number, bytes: number}, uploads: {count: number, sent: number, total: number},
 *   downloads: {count: number, got: number, total: number}, identical: boolean, lastSync: number | null,
 *   offlineSince: number | null, nextTry: number | null, listeners: number, live: boolean,
 *   problem: {slug: string, title: string, detail: string, requestID: string | null} | null, leads: boolean,
 *   isSecure: boolean, isPersistent: boolean | null}} Status
 */

const TOGETHER = 150 // ms in which changes are gathered to be sent together
const FIRST_WAIT = 1_000
const LONGEST_WAIT = 60_000
const FIRST_POLL = 5_000
const LONGEST_POLL = 60_000
const HIDDEN = 5 // times as long between polls while nobody looks
const STEADY = 30_000 // ms that a stream lasts before a break counts as a first one
const TYPING = 3_000 // ms between two signs of typing in a note
const MOST_PATIENCE = 20_000 // ms that signing out waits for what is unsent

/**
 * Growing waits, each at random between its half and its whole, so that many clients do not come back as one.
 * @param {number} attempt
 */
const backoff = attempt => Math.min(FIRST_WAIT * 2 ** attempt, LONGEST_WAIT) * (0.5 + Math.random() / 2)

/** @typedef {NonNullable<Status["problem"]>} Words */

/**
 * What went wrong, as it is shown.
 * @param {any} error @returns {Words}
 */
const wordsOf = ({slug = "unexpected", title, detail, message, requestID = null}) =>
  ({slug, title: title ?? "Something went wrong in this browser", detail: detail ?? String(message), requestID})

/** What the tab that leads tells the others. `trouble`: what keeps attachments from going up. */
const START = {
  hasFinished: false, toFetch: {objects: 0, bytes: 0}, uploads: {count: 0, sent: 0, total: 0},
  downloads: {count: 0, got: 0, total: 0}, offlineSince: /** @type {number | null} */ (null),
  nextTry: /** @type {number | null} */ (null), listeners: 0, live: false,
  problem: /** @type {Words | null} */ (null), trouble: /** @type {Words | null} */ (null)
}

/** Events: "status"; "typing" {uniqueID, device}; "requests". */
export class Engine extends Remote {
  #state = START
  #isTold = false
  /** @type {boolean | null} */
  #isPersistent = null
  /** When what happened is to be synced, in ms; 0: at once, whatever is waited for. */
  #due = Infinity
  /** Looks again how long to wait. */
  #rouse = () => {}
  /** Breaks in a row, and when to try again, in ms: of sync, of the stream, of transfers. */
  #failures = 0
  #stream = {breaks: 0, after: 0, stop: /** @type {AbortController | null} */ (null)}
  #moving = {breaks: 0, after: 0}
  #quiet = 0
  /** @type {Map<string, number>} */
  #typed = new Map()

  /** @param {Copy} copy */
  constructor(copy) {
    super(copy, new Http(entry => {
      this.tabs.say({kind: "requests", entries: [entry]})
      this.dispatchEvent(new Event("requests"))
    }))
    this.tabs = new Tabs(signal => this.#lead(signal), message => this.#hear(message))
    this.rounds = new Rounds(copy, this.http, toFetch => this.#set({toFetch}))
    this.transfers = new Transfers(copy, this.http, progress => this.#set(progress), problem => {
      this.#set({trouble: problem && wordsOf(problem)})
      if (!problem) this.#wake() // What waited for these bytes can be pushed.
    })
  }

  /** Begins to sync, or to wait until this tab leads. */
  start() {
    const {copy} = this
    copy.addEventListener("change", event => this.#changed(/** @type {CustomEvent} */ (event).detail.source))
    for (const name of ["held", "session"]) copy.addEventListener(name, () => this.#changed("tab"))
    copy.addEventListener("sync", () => this.#tell())
    globalThis.addEventListener?.("online", () => this.syncNow())
    globalThis.addEventListener?.("offline", () => this.#stream.stop?.abort())
    globalThis.navigator.storage?.persisted?.().then(is => {
      this.#isPersistent = is
      this.#tell()
    }, () => {})
    this.tabs.start().catch(error => this.#set({problem: wordsOf(error), nextTry: null}))
    this.#tell()
  }

  /** @returns {Status} */
  get status() {
    const {hasFinished, trouble, ...state} = this.#state
    const {copy, copy: {session}, rounds: {isSame}} = this
    const toSend = copy.unsentCount()
    const isDone = hasFinished && !toSend && !state.uploads.count
    const problem = state.problem ?? (state.uploads.count ? trouble : null) ?? this.#lasting(isDone, isSame)
    /** @type {Status["phase"]} */
    let phase = isDone ? "synced" : problem ? "waiting" : "syncing"
    if (state.offlineSince) phase = "offline"
    if (session?.signedOut) phase = "expired"
    if (!session) phase = "signed-out"
    return {
      ...state, phase, toSend, problem, identical: phase === "synced" && isSame === true,
      lastSync: this.rounds.record.lastSync ?? null, leads: this.tabs.leads,
      isSecure: Boolean(globalThis.isSecureContext), isPersistent: this.#isPersistent
    }
  }

  /**
   * What does not go away by trying again.
   * @param {boolean} isDone @param {boolean | null} isSame @returns {Words | null}
   */
  #lasting(isDone, isSame) {
    const session = /** @type {{isTwin?: boolean} | null} */ (this.copy.session)
    if (session?.isTwin) {
      return {
        slug: "clock-reused", title: "Two browsers share one sign-in", requestID: null,
        detail: "This browser's data was copied. Sign in again here, and it becomes a device of its own; nothing is lost."
      }
    }
    if (!isDone || isSame !== false) return null
    return {
      slug: "copies-differ", title: "This copy differs from the server's", requestID: null,
      detail: "Within the hour all of it is read again and compared. Look at what the server refused."
    }
  }

  /** Syncs at once, whatever was waited for. */
  syncNow() {
    if (!this.tabs.leads) return this.tabs.say({kind: "sync"})
    this.transfers.forgive()
    this.#moving.after = 0
    this.#wake(true)
  }

  /**
   * Signs this browser out and erases everything here. `wait`: first sends what is unsent, if it can be.
   * @param {{wait?: boolean, anyway?: boolean}} how
   */
  async signOut({wait = false, anyway = false} = {}) {
    if (wait) await this.#sent()
    await super.signOut({anyway})
  }

  /**
   * Resolves when nothing is unsent, or it cannot be sent now.
   * @returns {Promise<void>}
   */
  #sent() {
    return new Promise(resolve => {
      const timer = setTimeout(() => end(), MOST_PATIENCE)
      const look = () => ["syncing"].includes(this.status.phase) ? undefined : end()
      const end = () => {
        clearTimeout(timer)
        this.removeEventListener("status", look)
        resolve()
      }
      this.addEventListener("status", look)
      this.syncNow()
      look()
    })
  }

  /**
   * What the person looks at: its bytes come first.
   * @param {string | null} noteID
   */
  opened(noteID) {
    this.transfers.opened(noteID)
    if (!this.tabs.leads) this.tabs.say({kind: "opened", noteID})
  }

  /**
   * Whether the page is seen: a hidden tab lets another lead.
   * @param {boolean} isVisible
   */
  visible(isVisible) {
    this.tabs.visible(isVisible)
    if (isVisible && this.tabs.leads && !this.#state.live) this.#wake(true)
  }

  /**
   * Says that somebody types in a note here, if anybody listens.
   * @param {string} noteID
   */
  typing(noteID) {
    const now = Date.now()
    if (!this.#state.listeners || now - (this.#typed.get(noteID) ?? 0) < TYPING) return
    this.#typed.set(noteID, now)
    this.http.send("POST", "/v1/ephemeral", {json: {uniqueID: noteID, data: {typing: true}}}).catch(() => {})
  }

  /**
   * The bytes of an attachment, before all others.
   * @param {string} id @returns {Promise<Blob>}
   */
  want(id) {
    return this.transfers.want(id)
  }

  /** The last requests of all tabs, oldest first. */
  requests() {
    return [...this.http.log]
  }

  /**
   * Ends soon after the signal, and leaves nothing under way.
   * @param {AbortSignal} signal
   */
  async #lead(signal) {
    await this.copy.loaded
    this.#set(START)
    this.#failures = this.#quiet = 0
    this.#stream = {breaks: 0, after: 0, stop: null}
    this.#moving = {breaks: 0, after: 0}
    signal.addEventListener("abort", () => this.#rouse())
    while (!signal.aborted) {
      const {session} = this.copy
      if (!session || session.signedOut) {
        this.#stream.stop?.abort()
        this.#set(START)
      } else await this.#round(session.device.uniqueID, signal)
      await this.#rest(signal)
    }
    this.#stream.stop?.abort()
    await this.#move(signal)
    this.#set({live: false, listeners: 0})
  }

  /**
   * One sync, and what goes on after it.
   * @param {string} device
   * @param {AbortSignal} signal
   */
  async #round(device, signal) {
    try {
      const isNews = await this.rounds.sync(signal)
      this.#quiet = isNews ? 0 : this.#quiet + 1
    } catch (error) {
      return signal.aborted ? undefined : this.#fail(error, device)
    }
    if (!this.#state.hasFinished) this.server().catch(() => {}) // Its limits may have changed.
    this.#failures = 0
    if (this.#due && !this.copy.unsentCount()) this.#due = Infinity // What happened meanwhile went along.
    this.#set({hasFinished: true, offlineSince: null, nextTry: null, problem: null, toFetch: START.toFetch})
    this.#move(signal)
    this.#listen(signal)
  }

  /**
   * @param {unknown} error
   * @param {string} device
   */
  async #fail(error, device) {
    if (error instanceof Problem && error.slug === "unauthenticated") return this.expire(device)
    this.#stream.stop?.abort()
    const isAway = error instanceof Problem && error.slug === "network"
    const wait = Math.max(backoff(this.#failures++), error instanceof Problem ? error.retryAfter ?? 0 : 0)
    const offlineSince = isAway ? this.#state.offlineSince ?? Date.now() : null
    this.#set({hasFinished: false, offlineSince, nextTry: Date.now() + wait, problem: isAway ? null : wordsOf(error)})
  }

  /** When to sync if nothing happens, in ms. */
  #next() {
    const now = Date.now(), {nextTry, live} = this.#state
    const {session} = this.copy
    if (!session || session.signedOut) return Infinity
    if (nextTry) return nextTry
    const poll = Math.min(FIRST_POLL * 1.5 ** this.#quiet, LONGEST_POLL) * (this.tabs.isVisible ? 1 : HIDDEN)
    const again = Tabs.areOne && !this.#stream.stop ? Math.max(this.#stream.after, now + FIRST_WAIT) : Infinity
    return Math.min(live ? Infinity : Math.min(now + poll, again), this.copy.nextDeletion() ?? Infinity)
  }

  /**
   * Waits until there is something to sync: while something is wrong, mere changes wait, too.
   * @param {AbortSignal} signal
   */
  async #rest(signal) {
    const {live} = this.#state, next = this.#next()
    while (!signal.aborted) {
      // Whether a stream is open decides whether to poll.
      const at = live === this.#state.live ? next : this.#next()
      const due = Math.min(at, this.#due && this.#state.nextTry ? Infinity : this.#due)
      if (due <= Date.now()) break
      await new Promise(resolve => {
        const timer = due === Infinity ? undefined : setTimeout(resolve, due - Date.now())
        this.#rouse = () => {
          clearTimeout(timer)
          resolve(null)
        }
      })
    }
    this.#rouse = () => {}
    this.#due = Infinity
  }

  /**
   * Something is to be synced: at once, or together with what comes within a moment.
   * @param {boolean} [isForced]
   */
  #wake(isForced = false) {
    this.#due = Math.min(this.#due, isForced ? 0 : Date.now() + TOGETHER)
    this.#rouse()
  }

  /**
   * Moves bytes, with growing waits while that breaks off though sync does not.
   * @param {AbortSignal} signal
   */
  async #move(signal) {
    if (Date.now() < this.#moving.after) return
    try {
      await this.transfers.run(signal)
      this.#moving.breaks = 0
    } catch {
      if (signal.aborted) return
      const wait = backoff(this.#moving.breaks++)
      this.#moving.after = Date.now() + wait
      setTimeout(() => this.#wake(), wait) // The sync that follows says what is wrong.
    }
  }

  /**
   * Listens from where a finished sync ended: who listens does not poll.
   * @param {AbortSignal} signal
   */
  async #listen(signal) {
    const {token} = this.rounds.record
    if (this.#stream.stop || !Tabs.areOne || !token || Date.now() < this.#stream.after) return
    const stop = this.#stream.stop = new AbortController()
    const begun = Date.now()
    let retry = 0
    try {
      for await (const event of eventsSince(this.http, token, stop)) {
        if (!this.#state.live) {
          this.#set({live: true})
          this.#rouse() // Who listens does not poll.
        }
        retry = event.retry ?? retry
        if (event.name === "expired") break
        await this.#takeEvent(event.name, event.data, signal)
      }
    } catch {
      // The sync that follows says what is wrong.
    }
    const breaks = Date.now() - begun > STEADY ? 0 : this.#stream.breaks + 1
    this.#stream = {breaks, after: Date.now() + (retry || (breaks > 1 ? backoff(breaks) : 0)), stop: null}
    this.#set({live: false, listeners: 0})
    this.#wake()
  }

  /** @param {string} name @param {any} data @param {AbortSignal} signal */
  async #takeEvent(name, data, signal) {
    if (name === "listeners") this.#set({listeners: data.listeners})
    if (name === "ephemeral" && data.data?.typing === true) this.#heard({uniqueID: data.uniqueID, device: data.device})
    if (name !== "changes") return
    if (await this.rounds.take(data)) this.#wake()
    else if (!data.hasMore) this.#move(signal)
  }

  /** @param {{uniqueID: string, device: {uniqueID: string, name: string}}} detail */
  #heard(detail) {
    if (this.tabs.leads) this.tabs.say({kind: "typing", detail})
    this.dispatchEvent(new CustomEvent("typing", {detail}))
  }

  /** @param {string} source */
  #changed(source) {
    this.#tell()
    if (source === "sync") return
    this.#quiet = 0
    this.#wake()
    if (source === "here" && this.#isPersistent === false && this.copy.unsentCount()) this.#persist()
  }

  /** Asks the browser to keep what is here, once there is something that is nowhere else. */
  async #persist() {
    this.#isPersistent = null // asked once a visit
    this.#isPersistent = await globalThis.navigator.storage.persist().catch(() => false)
    this.#tell()
  }

  /** @param {any} message  from another tab */
  #hear(message) {
    if (message.kind === "status" && !this.tabs.leads) this.#set(message.state)
    if (message.kind === "typing") this.#heard(message.detail)
    if (message.kind === "opened") this.transfers.opened(message.noteID)
    if (message.kind === "requests") {
      const known = new Set(this.http.log.map(entry => entry.requestID))
      for (const entry of message.entries) if (!known.has(entry.requestID)) this.http.remember(entry)
      this.dispatchEvent(new Event("requests"))
    }
    if (!this.tabs.leads) return
    if (message.kind === "sync") this.syncNow()
    if (message.kind === "hello") {
      this.tabs.say({kind: "status", state: this.#state})
      this.tabs.say({kind: "requests", entries: this.http.log})
    }
  }

  /** @param {Partial<typeof START>} fields */
  #set(fields) {
    this.#state = {...this.#state, ...fields}
    this.#tell()
  }

  /** Tells of the status, once for what changes together. */
  #tell() {
    if (this.#isTold) return
    this.#isTold = true
    setTimeout(() => {
      this.#isTold = false
      if (this.tabs.leads && Tabs.areOne) this.tabs.say({kind: "status", state: this.#state})
      this.dispatchEvent(new Event("status"))
    }, 0)
  }
}
