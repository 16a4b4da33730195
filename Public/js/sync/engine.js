// Keeps the copy and the server the same (clients.md). The tab that has the Web Lock leads, the others hear of it.
import {Rounds} from "./rounds.js"
import {Http, Remote, Transfers, wordsOf} from "./server.js"

const TOGETHER = 150, FIRST_WAIT = 1_000, FIRST_POLL = 5_000, LONGEST = 60_000, STEADY = 30_000, TYPING = 3_000
const LOGGED = 200

const backoff = attempt => Math.min(FIRST_WAIT * 2 ** attempt, LONGEST) * (0.5 + Math.random() / 2)

/** @type {Shared} */
const START = {
  hasFinished: false, toFetch: {objects: 0, bytes: 0}, uploads: {count: 0, sent: 0, total: 0},
  downloads: {count: 0, got: 0, total: 0}, offlineSince: null, nextTry: null, listeners: 0, live: false, problem: null,
  trouble: null,
}

/** @implements {SyncEngine} */
export class Engine extends Remote {
  #shared = START
  #channel = new BroadcastChannel("hesper-sync")
  #locks = navigator.locks
  #leads = false
  #isVisible = true
  #isTold = false
  #isPersistent = null
  #giveUp = () => {}
  #due = Infinity // when to sync what happened; 0: at once, whatever is waited for
  #rouse = () => {}
  #failures = 0
  #quiet = 0
  /** @type {any} */
  #stream = {breaks: 0, after: 0}
  #moves = {breaks: 0, after: 0}
  #typed = 0
  /** @type {LogEntry[]} */
  #log = []

  #share = fields => {
    this.#shared = {...this.#shared, ...fields}
    this.#tell()
  }

  constructor(copy) {
    super(copy, new Http(entry => this.#sayAll({kind: "request", entry})))
    this.rounds = new Rounds(copy, this.http, this.#share)
    this.transfers = new Transfers(copy, this.http, this.#share)
  }

  async start() {
    const {copy} = this
    copy.addEventListener("change", (/** @type {any} */ {detail}) => this.#changed(detail.source))
    copy.addEventListener("held", () => this.#changed("tab"))
    copy.addEventListener("session", () => {
      this.#changed("tab")
      this.#wake(0)
    })
    copy.addEventListener("sync", () => this.#tell())
    addEventListener("online", () => this.syncNow())
    addEventListener("offline", () => this.#stream.stop?.abort())
    navigator.storage?.persisted().then(this.#sayPersistent, () => {})
    this.#channel.onmessage = ({data}) => this.#hear(data)
    this.#say({kind: "hello"})
    while (this.#locks) await this.#locks.request("hesper", () => this.#lead())
    await this.#lead()
  }

  /** @returns {Status} */
  get status() {
    const {hasFinished, trouble, ...shared} = this.#shared
    const {copy, copy: {session}, rounds: {isSame, record}} = this
    const toSend = copy.unsentCount(), held = copy.heldCount()
    const waiting = toSend + shared.uploads.count + shared.toFetch.objects
    const isDone = hasFinished && !waiting && !record.startedOver
    const lasting = session?.isTwin ? "clock-reused" : held ? "changes-held"
      : isDone && isSame === false ? "copies-differ" : null
    const problem = shared.problem ?? (shared.uploads.count && trouble || lasting && wordsOf({slug: lasting, detail: String(held)}))
    /** @type {Status["phase"]} */
    let phase = isDone ? "synced" : problem ? "waiting" : "syncing"
    if (shared.offlineSince) phase = "offline"
    if (session?.signedOut) phase = "expired"
    if (!session) phase = "signed-out"
    return {
      ...shared, phase, toSend, held, problem, lastSync: record.lastSync ?? null, isSecure: isSecureContext,
      identical: phase === "synced" && isSame === true, isPersistent: this.#isPersistent, leads: this.#leads,
    }
  }

  syncNow() {
    if (!this.#leads) return this.#say({kind: "sync"})
    this.transfers.forgive()
    this.rounds.ask()
    this.#moves.after = 0
    this.#wake(0)
  }

  opened = noteID => this.#sayAll({kind: "opened", noteID})

  /** A hidden tab may be put to sleep: it lets one lead that is seen. */
  visible(isVisible) {
    this.#isVisible = isVisible
    if (!this.#leads) this.#sayIfSeen()
    else if (!isVisible) this.#say({kind: "who-is-seen"})
    else if (!this.#shared.live) this.#wake(0)
  }

  typing(noteID) {
    const now = Date.now()
    if (!this.#shared.listeners || now - this.#typed < TYPING) return
    this.#typed = now
    this.http.send("POST", "/v1/ephemeral", {json: {uniqueID: noteID, data: {typing: true}}}).catch(() => {})
  }

  want = id => this.transfers.want(id)
  requests = () => this.#log

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

  async #round(device, signal) {
    try {
      this.#quiet = await this.rounds.sync(signal) ? 0 : this.#quiet + 1
    } catch (error) {
      return signal.aborted || this.#fail(error, device)
    }
    if (!this.#shared.hasFinished) this.server().catch(() => {})
    this.#failures = 0
    if (this.#due && !this.copy.unsentCount()) this.#due = Infinity
    this.#share({hasFinished: true, offlineSince: null, nextTry: null, problem: null, toFetch: START.toFetch})
    this.#move(signal)
    this.#listen(signal)
  }

  #fail(error, device) {
    if (error.slug === "unauthenticated") return this.expire(device)
    this.#stream.stop?.abort()
    const isAway = error.slug === "network", now = Date.now()
    this.#share({
      hasFinished: false, problem: isAway ? null : wordsOf(error),
      offlineSince: isAway ? this.#shared.offlineSince ?? now : null,
      nextTry: now + Math.max(backoff(this.#failures++), error.retryAfter ?? 0),
    })
  }

  #next() {
    const now = Date.now(), {nextTry, live} = this.#shared, {session} = this.copy
    if (!session || session.signedOut) return Infinity
    if (nextTry) return nextTry
    const poll = Math.min(FIRST_POLL * 1.5 ** this.#quiet, LONGEST)
    const again = this.#locks && !this.#stream.stop ? Math.max(this.#stream.after, now + FIRST_WAIT) : Infinity
    const full = this.copy.heldCount() && this.rounds.record.full?.until || Infinity
    return Math.min(live ? Infinity : Math.min(now + poll, again), this.copy.nextDeletion(), full)
  }

  /** While something is wrong, mere changes wait, too. */
  async #rest(signal) {
    const {live} = this.#shared, next = this.#next()
    while (!signal.aborted) {
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

  #wake(due = Date.now() + TOGETHER) {
    this.#due = Math.min(this.#due, due)
    this.#rouse()
  }

  async #move(signal) {
    if (Date.now() < this.#moves.after) return
    try {
      await this.transfers.run(signal)
      this.#moves.breaks = 0
    } catch {
      const wait = backoff(this.#moves.breaks++)
      this.#moves.after = Date.now() + wait
      setTimeout(() => this.#wake(), wait)
    }
  }

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
    } catch {} // The sync that follows says what is wrong.
    const breaks = Date.now() - begun > STEADY ? 0 : this.#stream.breaks + 1
    this.#stream = {breaks, after: Date.now() + (retry || (breaks > 1 ? backoff(breaks) : 0))}
    this.#share({live: false, listeners: 0})
    this.#wake()
  }

  async #take({name, data}, signal) {
    if (name === "listeners") this.#share(data)
    if (name === "ephemeral" && data.data.typing === true) this.#sayAll({kind: "typing", detail: data})
    if (name !== "changes") return
    if (await this.rounds.take(data)) this.#wake()
    else if (!data.hasMore) this.#move(signal)
  }

  #changed(source) {
    this.#tell()
    if (source === "sync") return
    this.#quiet = 0
    this.#wake()
    if (source !== "here" || this.#isPersistent !== false || !this.copy.unsentCount()) return
    this.#isPersistent = null
    navigator.storage.persist().then(this.#sayPersistent, () => this.#sayPersistent(false))
  }

  #sayPersistent = is => {
    this.#isPersistent = is
    this.#tell()
  }

  #say = message => this.#channel.postMessage(message)

  #sayAll(message) {
    this.#say(message)
    this.#hear(message)
  }

  #sayIfSeen() {
    if (this.#isVisible && !this.#leads) this.#say({kind: "seen"})
  }

  #hear({kind, ...said}) {
    if (kind === "status" && !this.#leads) this.#share(said.shared)
    if (kind === "typing") this.dispatchEvent(new CustomEvent("typing", {detail: said.detail}))
    if (kind === "opened") this.transfers.open = said.noteID
    if (kind === "who-is-seen") this.#sayIfSeen()
    if (said.log || said.entry) {
      this.#log = said.log ?? [...this.#log, said.entry].slice(-LOGGED)
      this.dispatchEvent(new Event("requests"))
    }
    if (!this.#leads) return
    if (kind === "sync") this.syncNow()
    if (kind === "seen" && !this.#isVisible && this.#locks) this.#giveUp()
    if (kind === "hello") {
      this.#tell()
      this.#say({kind: "log", log: this.#log})
    }
  }

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
