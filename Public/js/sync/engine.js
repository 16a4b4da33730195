// When to sync, and what is shown of it (clients.md, rule 6). types.d.ts describes how it works and its interface,
// `SyncEngine`.
//
// One tab of a browser leads: the one that holds the Web Lock "hesper". It syncs, and posts its state to the others.
import {Remote} from "./account.js"
import {Http, troubleOf} from "./http.js"
import {Rounds} from "./rounds.js"
import {Transfers} from "./transfers.js"

// All in ms.
/** Changes made within this time are sent together. */
const BATCH_DELAY = 150
const FIRST_RETRY = 1_000
const FIRST_POLL = 5_000
/** The maximum of both. */
const MAX_DELAY = 60_000
/** A stream that was open for this long and breaks is opened again at once. */
const STABLE = 30_000
/** How often other devices are told that somebody types here. */
const TYPING_INTERVAL = 3_000

/** How many requests the log keeps. */
const MAX_LOG_ENTRIES = 200

/** Exponential, at random between half and whole, so that clients do not all come back together. */
const backoff = attempt => Math.min(FIRST_RETRY * 2 ** attempt, MAX_DELAY) * (0.5 + Math.random() / 2)

/** @type {Shared} */
const START = {
  hasFinished: false, toFetch: {objects: 0, bytes: 0}, uploads: {count: 0, sent: 0, total: 0},
  downloads: {count: 0, got: 0, total: 0}, offlineSince: null, nextTry: null, listeners: 0, live: false, problem: null,
  trouble: null,
}

/** @implements {SyncEngine} */
export class Engine extends Remote {
  /** What the leading tab posts to the others. */
  #shared = START
  #channel = new BroadcastChannel("hesper-sync")
  #locks = navigator.locks
  #leads = false
  #isVisible = true
  #isPublishing = false
  #isPersistent = null
  #stopLeading = () => {}
  /** When to sync because of what happened, in ms since 1970; 0: at once, even while a retry is waited for. */
  #due = Infinity
  /** Ends the wait between two syncs. */
  #endWait = () => {}
  /** Failed syncs since the last that succeeded. */
  #failures = 0
  /** Syncs since the last that found something. */
  #idlePolls = 0
  /** @type {any} the stream of events: how often it broke, when it may be opened again, `stop` while it is open */
  #stream = {breaks: 0, after: 0}
  #transferRetry = {breaks: 0, after: 0}
  /** When other devices were last told that somebody types here. */
  #lastTyping = 0
  /** @type {LogEntry[]} */
  #log = []

  #share = fields => {
    this.#shared = {...this.#shared, ...fields}
    this.#publish()
  }

  constructor(copy) {
    super(copy, new Http(entry => this.#postToAll({kind: "request", entry})))
    this.rounds = new Rounds(copy, this.http, this.#share)
    this.transfers = new Transfers(copy, this.http, this.#share)
  }

  async start() {
    const {copy} = this
    copy.addEventListener("change", (/** @type {any} */ {detail}) => this.#changed(detail.source))
    copy.addEventListener("held", () => this.#changed("tab"))
    copy.addEventListener("session", () => {
      this.#changed("tab")
      this.#schedule(0)
    })
    copy.addEventListener("sync", () => this.#publish())
    addEventListener("online", () => this.syncNow())
    addEventListener("offline", () => this.#stream.stop?.abort())
    navigator.storage?.persisted().then(this.#setPersistent, () => {})
    this.#channel.onmessage = ({data}) => this.#receive(data)
    this.#post({kind: "hello"})
    // Without a secure context there are no locks: each tab leads.
    while (this.#locks) await this.#locks.request("hesper", () => this.#lead())
    await this.#lead()
  }

  /** @returns {Status} */
  get status() {
    const {hasFinished, trouble, ...shared} = this.#shared
    const {copy, copy: {session}, rounds: {isSame, record}} = this
    const toSend = copy.unsentCount()
    const held = copy.heldCount()
    const waiting = toSend + shared.uploads.count + shared.toFetch.objects
    const isDone = hasFinished && !waiting && !record.startedOver
    const lasting = session?.isTwin ? "clock-reused"
      : held ? "changes-held"
      : isDone && isSame === false ? "copies-differ"
      : null
    const problem = shared.problem ?? (shared.uploads.count && trouble
      || lasting && troubleOf({slug: lasting, detail: String(held)}))
    /** @type {Status["phase"]} */
    let phase = isDone ? "synced" : problem ? "waiting" : "syncing"
    if (shared.offlineSince) phase = "offline"
    if (session?.signedOut) phase = "expired"
    if (!session) phase = "signed-out"
    return {
      ...shared,
      phase,
      toSend,
      held,
      problem,
      lastSync: record.lastSync ?? null,
      identical: phase === "synced" && isSame === true,
      leads: this.#leads,
      isSecure: isSecureContext,
      isPersistent: this.#isPersistent,
    }
  }

  syncNow() {
    if (!this.#leads) return this.#post({kind: "sync"})
    this.transfers.retryAll()
    this.rounds.retryHeld()
    this.#transferRetry.after = 0
    this.#schedule(0)
  }

  opened = noteID => this.#postToAll({kind: "opened", noteID})

  /** Browsers suspend hidden tabs: a hidden one that leads stops when another tab is visible. */
  visible(isVisible) {
    this.#isVisible = isVisible
    if (!this.#leads) this.#postIfVisible()
    else if (!isVisible) this.#post({kind: "who-is-seen"})
    else if (!this.#shared.live) this.#schedule(0)
  }

  typing(noteID) {
    const now = Date.now()
    if (!this.#shared.listeners || now - this.#lastTyping < TYPING_INTERVAL) return
    this.#lastTyping = now
    this.http.send("POST", "/v1/ephemeral", {json: {uniqueID: noteID, data: {typing: true}}}).catch(() => {})
  }

  want = id => this.transfers.want(id)
  requests = () => this.#log

  // Syncing, in the tab that leads

  /** Syncs and waits in turn, until another tab is to lead. */
  async #lead() {
    await this.copy.loaded
    const ending = new AbortController()
    const {signal} = ending
    this.#stopLeading = () => {
      ending.abort()
      this.#endWait()
    }
    this.#leads = true
    this.#share(START)
    if (!this.#isVisible) this.#post({kind: "who-is-seen"})
    while (!signal.aborted) {
      const {session} = this.copy
      if (session && !session.signedOut) await this.#round(session.device.uniqueID, signal)
      else {
        this.#stream.stop?.abort()
        this.#share(START)
      }
      await this.#wait(signal)
    }
    this.#stream.stop?.abort()
    await this.#transfer(signal)
    this.#leads = false
    this.#publish()
  }

  async #round(device, signal) {
    try {
      this.#idlePolls = await this.rounds.sync(signal) ? 0 : this.#idlePolls + 1
    } catch (/** @type {any} */ error) {
      return signal.aborted || error.slug === "session-ended" || this.#fail(error, device)
    }
    if (!this.#shared.hasFinished) this.server().catch(() => {})
    this.#failures = 0
    if (this.#due && !this.copy.unsentCount()) this.#due = Infinity
    this.#share({hasFinished: true, offlineSince: null, nextTry: null, problem: null, toFetch: START.toFetch})
    this.#transfer(signal)
    this.#listen(device, signal)
  }

  #fail(error, device) {
    if (error.slug === "unauthenticated") return this.expire(device)
    this.#stream.stop?.abort()
    const isOffline = error.slug === "network"
    const now = Date.now()
    this.#share({
      hasFinished: false,
      problem: isOffline ? null : troubleOf(error),
      offlineSince: isOffline ? this.#shared.offlineSince ?? now : null,
      nextTry: now + Math.max(backoff(this.#failures++), error.retryAfter ?? 0),
    })
  }

  /** When to sync next if nothing happens, in ms since 1970. */
  #nextSync() {
    const {nextTry, live} = this.#shared
    const {session} = this.copy
    if (!session || session.signedOut) return Infinity
    if (nextTry) return nextTry
    const now = Date.now()
    const poll = now + Math.min(FIRST_POLL * 1.5 ** this.#idlePolls, MAX_DELAY)
    const reopenStream = this.#locks && !this.#stream.stop ? Math.max(this.#stream.after, now + FIRST_RETRY) : Infinity
    const retryHeld = this.copy.heldCount() && this.rounds.record.full?.until || Infinity
    return Math.min(live ? Infinity : Math.min(poll, reopenStream), this.copy.nextDeletion(), retryHeld)
  }

  /** Waits until the next sync is due. While a retry is waited for, changes wait too. */
  async #wait(signal) {
    const {live} = this.#shared
    const next = this.#nextSync()
    while (!signal.aborted) {
      const at = live === this.#shared.live ? next : this.#nextSync()
      const due = Math.min(at, this.#due && this.#shared.nextTry ? Infinity : this.#due)
      if (due <= Date.now()) break
      await new Promise(resolve => {
        const timer = due === Infinity ? 0 : setTimeout(resolve, due - Date.now())
        this.#endWait = () => resolve(clearTimeout(timer))
      })
    }
    this.#endWait = () => {}
    this.#due = Infinity
  }

  /** Has the next sync happen by then. */
  #schedule(due = Date.now() + BATCH_DELAY) {
    this.#due = Math.min(this.#due, due)
    this.#endWait()
  }

  /** Uploads and downloads, beside syncing: their failures do not delay it. */
  async #transfer(signal) {
    if (Date.now() < this.#transferRetry.after) return
    try {
      await this.transfers.run(signal)
      this.#transferRetry.breaks = 0
    } catch {
      const wait = backoff(this.#transferRetry.breaks++)
      this.#transferRetry.after = Date.now() + wait
      setTimeout(() => this.#schedule(), wait)
    }
  }

  /** Opens the stream of events, unless it is open, and takes in what it sends. */
  async #listen(device, signal) {
    const {token} = this.rounds.record
    const begun = Date.now()
    if (this.#stream.stop || !this.#locks || !token || begun < this.#stream.after) return
    const stop = this.#stream.stop = new AbortController()
    let retry = 0
    try {
      for await (const event of this.http.events(token, stop)) {
        if (!this.#shared.live) {
          this.#share({live: true})
          this.#endWait()
        }
        retry ||= event.retry
        if (event.name === "expired") break
        await this.#takeEvent(device, event, signal)
      }
    } catch {} // The sync that follows finds out what is wrong.
    const breaks = Date.now() - begun > STABLE ? 0 : this.#stream.breaks + 1
    this.#stream = {breaks, after: Date.now() + (retry || (breaks > 1 ? backoff(breaks) : 0))}
    this.#share({live: false, listeners: 0})
    this.#schedule()
  }

  async #takeEvent(device, {name, data}, signal) {
    if (name === "listeners") this.#share(data)
    if (name === "import") this.#postToAll({kind: "import", detail: data})
    if (name === "ephemeral" && data.data.typing === true) this.#postToAll({kind: "typing", detail: data})
    if (name !== "changes") return
    if (await this.rounds.take(device, data)) this.#schedule()
    else if (!data.hasMore) this.#transfer(signal)
  }

  /** The copy changed; `source` tells who changed it. */
  #changed(source) {
    this.#publish()
    if (source === "sync") return
    this.#idlePolls = 0
    this.#schedule()
    // Persistent storage: browsers are more likely to grant it once a person has written something.
    if (source !== "here" || this.#isPersistent !== false || !this.copy.unsentCount()) return
    this.#isPersistent = null
    navigator.storage.persist().then(this.#setPersistent, () => this.#setPersistent(false))
  }

  #setPersistent = is => {
    this.#isPersistent = is
    this.#publish()
  }

  // Messages between tabs

  #post = message => this.#channel.postMessage(message)

  #postToAll(message) {
    this.#post(message)
    this.#receive(message)
  }

  #postIfVisible() {
    if (this.#isVisible && !this.#leads) this.#post({kind: "seen"})
  }

  #receive({kind, ...message}) {
    if (kind === "status" && !this.#leads) this.#share(message.shared)
    if (["typing", "import"].includes(kind)) this.dispatchEvent(new CustomEvent(kind, {detail: message.detail}))
    if (kind === "opened") this.transfers.open = message.noteID
    if (kind === "who-is-seen") this.#postIfVisible()
    if (message.log || message.entry) {
      this.#log = message.log ?? [...this.#log, message.entry].slice(-MAX_LOG_ENTRIES)
      this.dispatchEvent(new Event("requests"))
    }
    if (!this.#leads) return
    if (kind === "sync") this.syncNow()
    if (kind === "seen" && !this.#isVisible && this.#locks) this.#stopLeading()
    if (kind === "hello") {
      this.#publish()
      this.#post({kind: "log", log: this.#log})
    }
  }

  /** Posts the state to the other tabs and dispatches "status", once for all changes of one task. */
  #publish() {
    if (this.#isPublishing) return
    this.#isPublishing = true
    setTimeout(() => {
      this.#isPublishing = false
      if (this.#leads && this.#locks) this.#post({kind: "status", shared: this.#shared})
      this.dispatchEvent(new Event("status"))
    })
  }
}
