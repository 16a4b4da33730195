// Rounds of sync: each sends a push and takes a page (protocol.md, Sync cycle), until nothing is left on either side.
import {ZERO} from "../model/entity.js"
import {takeDeletions} from "../store/records.js"
import {Problem} from "./http.js"
import {NOTHING, changesOf, firstOf, isEmpty, partsIn, sendTexts} from "./push.js"
import {STORES, receive, release} from "./receive.js"
import {nextRelays, startOver} from "./relays.js"

/** Objects of the first page of a first sync: few, so that the first notes show soon. */
const FIRST_PAGE = 250
/** Objects of any other page. */
const PAGE = 1_000
/** The maximum number of objects in a push. */
const MAX_OBJECTS = 1_500
const MAX_ROUNDS = 10_000
/** The maximum number of rounds with refused clocks in one sync. */
const MAX_CLOCK_REFUSALS = 5
const HOUR = 3_600_000 // ms

export class Rounds {
  /** A person asked to try again what was over the quota. */
  #isAsked = false
  /** Whether an event with changes arrived after the last request was sent. The digest of the response can then be outdated. */
  #hasNewerEvent = false

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

  /** @returns {SyncRecord} */
  get record() {
    return this.copy.memory.meta.get("sync") ?? {}
  }

  /** Whether this copy has the server's digest; null while that is unknown. */
  get isSame() {
    const {digest = ZERO, serverDigest} = this.record
    return serverDigest ? serverDigest === digest : null
  }

  /** Has the next sync try again what was over the quota. */
  retryHeld() {
    this.#isAsked = true
  }

  /**
   * Sends all that is unsent, and reads all that changed.
   *
   * @param {AbortSignal} signal
   * @returns {Promise<boolean>} whether anything was sent or had changed
   */
  async sync(signal) {
    // Decided before the first answer, which changes both.
    const {startedOver, lastSync = Infinity} = this.record
    let withBases = startedOver || Date.now() - lastSync > 24 * HOUR
    let hasMore = true
    let clockRefusals = 0
    let isNews = false
    let mostObjects = MAX_OBJECTS
    /** @type {any} the request of the next page, which is sent while the previous one is stored */
    let ahead
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const {push, token} = await this.#next(mostObjects)
      const isPush = !isEmpty(push)
      const isOutdated = !hasMore && this.#hasNewerEvent && this.isSame === false
      if (!hasMore && !isPush && !isOutdated) {
        if (!await this.#startsRepair()) return isNews
        hasMore = withBases = true
        continue
      }
      const request = ahead && !isPush && ahead.token === token ? ahead : this.#request(token, push, withBases, signal)
      ahead = undefined
      let answer
      try {
        answer = (await request.response).value
      } catch (/** @type {any} */ error) {
        const count = push.parts.length + push.deletions.length
        if (error.slug === "too-large" && count > 1) {
          // The server would have to load too much of what it stores of these objects.
          mostObjects = count >> 1
          continue
        }
        if (error.slug !== "token-expired") throw error
        await this.#change(startOver)
        hasMore = withBases = true
        continue
      }
      if (answer.hasMore && !isPush) ahead = this.#request(answer.syncToken, NOTHING, false, signal)
      const {refusedClocks} = await this.#receive(request.device, push, answer, request.sent)
      if (refusedClocks.includes("clock-reused")) return true
      if (refusedClocks.length) clockRefusals++
      if (clockRefusals > MAX_CLOCK_REFUSALS) throw new Problem({slug: "clocks-refused"})
      isNews ||= isPush || Object.values(answer.changes).some(items => items.length)
      hasMore = answer.hasMore
      this.tell({toFetch: answer.remaining})
    }
    throw new Problem({slug: "endless"})
  }

  /**
   * Takes in a page of a device's stream of events.
   *
   * @returns {Promise<boolean>} whether a sync must follow
   */
  async take(device, page) {
    const {hasNewEdits} = await this.#receive(device, NOTHING, page)
    this.#hasNewerEvent = true
    return hasNewEdits || this.isSame === false && !this.copy.unsentCount()
  }

  /** Sends a request, and tells when and for which device it was sent. */
  #request(token, push, withBases, signal) {
    this.#hasNewerEvent = false
    const changes = !isEmpty(push) && changesOf(push, withBases)
    const json = {limit: token ? PAGE : FIRST_PAGE, ...token && {syncToken: token}, ...changes && {changes}}
    const response = this.http.send("POST", "/v1/sync", {json, signal})
    response.catch(() => {}) // A request that is sent ahead may fail before it is awaited, or never be awaited.
    return {token, device: this.copy.session?.device.uniqueID, sent: Date.now(), response}
  }

  /** Takes in what a device has received, unless it has signed out: the copy may be erased, or belong to another account. */
  #receive(device, push, answer, sent) {
    return this.#change(async tx => {
      const session = await tx.get("meta", "session")
      if (session?.device.uniqueID !== device) throw new Problem({slug: "session-ended"})
      return receive(tx, this.copy, push, answer, sent)
    })
  }

  #change = body => this.copy.transaction(STORES, "readwrite", body)

  /** The next push, and the token that goes with it. */
  #next(mostObjects) {
    return this.#change(async tx => {
      await release(tx, this.#isAsked)
      this.#isAsked = false
      const {token, reading, startedOver} = await tx.get("meta", "sync") ?? {}
      if (reading) return {push: NOTHING, token}
      const relays = startedOver ? await nextRelays(tx, mostObjects) : NOTHING
      if (!isEmpty(relays)) return {push: relays, token}
      const deletions = await takeDeletions(tx, Date.now())
      const parts = partsIn(await tx.getAll("unsent"), await tx.getAll("made"))
      return {push: sendTexts(tx, firstOf(parts, deletions, mostObjects)), token}
    })
  }

  /** If the digests differ though nothing is unsent, begins to read from the start, at most once an hour. Whether it does. */
  #startsRepair() {
    return this.#change(async tx => {
      const sync = await tx.get("meta", "sync")
      const now = Date.now()
      const differs = this.isSame === false && !this.copy.unsentCount() && now - (sync.repaired ?? 0) > HOUR
      tx.put("meta", {...sync, startedOver: false, repaired: differs ? now : sync.repaired}, "sync")
      if (differs) await startOver(tx)
      return differs
    })
  }
}
