// Rounds of sync: what is unsent goes up, what changed comes down, until both are done (protocol.md, One round).
import {takeDeletions} from "../store/records.js"
import {Problem} from "./http.js"
import {NOTHING, changesOf, firstPart, isEmpty, ready} from "./push.js"
import {STORES, receive} from "./receive.js"
import {nextRelays, startOver} from "./recovery.js"

/** @typedef {import("./receive.js").SyncRecord} SyncRecord */
/** @typedef {import("./push.js").Push} Push */

/** Objects on a page: few enough that taking one in holds up no frame for long. */
const PAGE = 500
const MOST_ROUNDS = 10_000
const MOST_REFUSED_CLOCKS = 5
const MOST_STALLED = 3
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Reads and sends for one tab. Only the tab that leads calls it. */
export class Rounds {
  /**
   * @param {import("../store/copy.js").Copy} copy @param {import("./http.js").Http} http
   * @param {(remaining: {objects: number, bytes: number}) => void} tell  what is still to be fetched
   */
  constructor(copy, http, tell) {
    this.copy = copy
    this.http = http
    this.tell = tell
  }

  /**
   * How far this browser has read.
   * @returns {SyncRecord}
   */
  get record() {
    return this.copy.list.memory.meta.get("sync") ?? {}
  }

  /**
   * Whether this copy is the server's, as it was when the last sync or event ended.
   * @returns {boolean | null}  null if the server did not say
   */
  get isSame() {
    const {digest, serverDigest} = this.record
    return serverDigest ? serverDigest === (digest ?? "0".repeat(32)) : null
  }

  /**
   * Syncs to the end. Throws a Problem, also if the signal ends it; what was taken in until then stays.
   * @param {AbortSignal} signal @returns {Promise<boolean>}  whether anything was sent or came
   */
  async sync(signal) {
    let hasMore = true, refused = 0, isNews = false, first = "", stalled = 0
    // Judged once: after its first answer a device no longer looks as if it had been away.
    const {startedOver, lastSync} = this.record
    let wasAway = Boolean(startedOver) || (lastSync !== undefined && Date.now() - lastSync > DAY)
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const {push, sync} = await this.#prepare()
      if (!hasMore && isEmpty(push)) {
        if (!await this.#end()) return isNews
        hasMore = wasAway = true
        continue
      }
      const again = first
      first = push.edits[0]?.clock ?? push.made[0]?.uniqueID ?? push.deletions[0]?.uniqueID ?? ""
      stalled = first && first === again ? stalled + 1 : 0
      if (stalled > MOST_STALLED) throw new Problem({slug: "unexpected", title: "The server answers, but takes nothing"})
      const body = {
        ...sync.token && {syncToken: sync.token}, limit: PAGE, ...!isEmpty(push) && {changes: changesOf(push, wasAway)}
      }
      let answer
      try {
        answer = (await this.http.send("POST", "/v1/sync", {json: body, signal})).value
      } catch (error) {
        if (!(error instanceof Problem) || error.slug !== "token-expired") throw error
        await this.copy.transaction(STORES, "readwrite", startOver)
        hasMore = wasAway = true
        continue
      }
      const told = await this.#receive(push, answer)
      if (told.refusedClocks.includes("clock-reused")) return true
      refused += told.refusedClocks.length ? 1 : 0
      if (refused > MOST_REFUSED_CLOCKS) throw new Problem({slug: "clock-ahead", title: "The server refuses every clock"})
      isNews ||= !isEmpty(push) || Object.values(answer.changes).some(items => items.length > 0)
      hasMore = answer.hasMore
      this.tell(answer.remaining)
    }
    throw new Problem({slug: "unexpected", title: "Sync does not come to an end"})
  }

  /**
   * Takes a page of events in. Whether a sync has to follow: to send what it led to, or because an event may be older than
   * what is here, and only a sync of its own says that the copies differ.
   * @param {any} page
   */
  async take(page) {
    const {isToSend} = await this.#receive(NOTHING, page)
    return isToSend || (this.isSame === false && !this.copy.unsentCount())
  }

  /** @param {Push} push @param {any} answer */
  #receive(push, answer) {
    return this.copy.transaction(STORES, "readwrite", tx => receive(tx, this.copy, push, answer))
  }

  /** The next push: of what a restored server lacks if there is any, then of what is unsent. */
  #prepare() {
    const stores = ["objects", "deleted", "relays", "unsent", "made", "deletions", "meta"]
    return this.copy.transaction(stores, "readwrite", async tx => {
      const now = Date.now()
      const sync = /** @type {SyncRecord} */ (await tx.get("meta", "sync") ?? {})
      // Until all that the server has is known, nobody knows what it lacks.
      if (sync.reading) return {push: NOTHING, sync}
      const relays = sync.startedOver ? await nextRelays(tx) : null
      if (relays) return {push: relays, sync}
      const deletions = await takeDeletions(tx, now)
      const [edits, made] = await Promise.all([tx.getAll("unsent"), tx.getAll("made")])
      return {push: firstPart(ready(edits, made, deletions)), sync}
    })
  }

  /**
   * Looks at what a sync came to. Equal digests prove equal copies; of others (an old file was put back, and its numbers
   * have overtaken this browser's token) it is all read again, at most once an hour. Whether to go on.
   */
  async #end() {
    const isOther = this.isSame === false && !this.copy.unsentCount()
    const {repaired = 0, startedOver} = this.record
    if (!isOther || Date.now() - repaired < HOUR) {
      if (startedOver) await this.#mark({startedOver: false})
      return false
    }
    await this.copy.transaction(STORES, "readwrite", startOver)
    await this.#mark({repaired: Date.now()})
    return true
  }

  /** @param {SyncRecord} fields */
  #mark(fields) {
    return this.copy.transaction(["meta"], "readwrite", async tx => {
      tx.put("meta", {...await tx.get("meta", "sync"), ...fields}, "sync")
    })
  }
}
