// Rounds of sync: what is unsent goes up, what changed comes down, until both are done (protocol.md, One round).
import {ZERO, emptyEntity, sectionOf, writeChange} from "../model/entity.js"
import {takeDeletions} from "../store/records.js"
import {Problem} from "./http.js"
import {STORES, nextRelays, receive, startOver} from "./receive.js"

const PAGE = 500 // objects: taking them in holds up no frame for long
const MOST_OBJECTS = 1_500, MOST_BYTES = 4 << 20 // of a push; the server takes more (protocol.md, Limits)
const MOST_ROUNDS = 10_000, MOST_REFUSED_CLOCKS = 5
const HOUR = 3_600_000 // ms
/** @type {Push} */
const NOTHING = {edits: [], made: [], deletions: [], relayed: false}

const isEmpty = ({edits, made, deletions}) => !(edits.length + made.length + deletions.length)

/**
 * The first push of what fits: DeletedObjects, then tags, then the rest (clients.md, rule 10).
 * @param {Push} all @returns {Push}
 */
const firstPart = ({edits, made, deletions, relayed}) => {
  /** @type {Push} */
  const part = {edits: [], made: [], deletions: deletions.slice(0, MOST_OBJECTS), relayed}
  // Bytes go up first: until then neither their attachment goes, nor what names it.
  const waiting = new Set(made.filter(one => one.needsBytes).map(one => `attachments.${one.uniqueID}`))
  const objects = new Map()
  const partsOf = ({uniqueID, type}) => {
    if (!objects.has(uniqueID)) objects.set(uniqueID, {rank: type === "tag" ? 0 : 1, edits: [], made: []})
    return objects.get(uniqueID)
  }
  for (const one of made) if (!one.needsBytes) partsOf(one).made.push(one)
  for (const one of edits) if (!waiting.has(one.attribute)) partsOf(one).edits.push(one)
  let count = part.deletions.length, size = count * 200
  for (const object of [...objects.values()].sort((a, b) => a.rank - b.rank)) {
    size += 3 * JSON.stringify(object).length // a character is at most 3 bytes
    if (count && (count === MOST_OBJECTS || size > MOST_BYTES)) break
    count += 1
    part.edits.push(...object.edits)
    part.made.push(...object.made)
  }
  return part
}

/** `withBases`: the server may not have the bases of texts any more (merge.md, Text). @param {Push} push */
const changesOf = ({edits, made, deletions}, withBases) => {
  const entities = new Map(), texts = new Map()
  for (const {uniqueID, type, fixed} of made) entities.set(uniqueID, {...emptyEntity(uniqueID, type), fixed})
  for (const edit of edits) {
    const entity = entities.get(edit.uniqueID) ?? emptyEntity(edit.uniqueID, edit.type)
    entities.set(edit.uniqueID, entity)
    entity.registers[edit.attribute] = [edit.value, edit.clock]
    if (edit.attribute === "text" && edit.base) texts.set(edit.uniqueID, edit)
  }
  const changes = /** @type {any} */ ({deletedObjects: deletions})
  for (const entity of entities.values()) {
    const {base, baseValue} = texts.get(entity.uniqueID) ?? {}
    const section = changes[sectionOf(entity.type)] ??= []
    section.push({
      ...writeChange(entity), ...base && {textBase: base},
      ...withBases && typeof baseValue === "string" && {textBaseValue: baseValue},
    })
  }
  return changes
}

/** What one tab reads and sends. */
export class Rounds {
  /** @param {Copy} copy @param {Http} http @param {(toFetch: Shared["toFetch"]) => void} tell */
  constructor(copy, http, tell) {
    this.copy = copy
    this.http = http
    this.tell = tell
  }

  /** @returns {SyncRecord} */
  get record() {
    return this.copy.memory.meta.get("sync") ?? {}
  }

  /** Whether the copies were the same at the last answer; null if the server did not say. */
  get isSame() {
    const {digest = ZERO, serverDigest} = this.record
    return serverDigest ? serverDigest === digest : null
  }

  /**
   * @param {AbortSignal} signal @returns {Promise<boolean>} whether anything was sent or came
   */
  async sync(signal) {
    // Judged once: with its first answer a device is no longer away for more than a day.
    const {startedOver, lastSync = Infinity} = this.record
    let withBases = startedOver || Date.now() - lastSync > 24 * HOUR
    let hasMore = true, refused = 0, isNews = false
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const {push, token} = await this.#next()
      if (!hasMore && isEmpty(push)) {
        if (!await this.#isOther()) return isNews
        hasMore = withBases = true
        continue
      }
      const changes = isEmpty(push) ? {} : {changes: changesOf(push, withBases)}
      let answer
      try {
        const json = {...token && {syncToken: token}, limit: PAGE, ...changes}
        answer = (await this.http.send("POST", "/v1/sync", {json, signal})).value
      } catch (/** @type {any} */ error) {
        if (error.slug !== "token-expired") throw error
        await this.#change(startOver)
        hasMore = withBases = true
        continue
      }
      const {refusedClocks} = await this.#take(push, answer)
      if (refusedClocks.includes("clock-reused")) return true
      if (refusedClocks.length) refused += 1
      if (refused > MOST_REFUSED_CLOCKS) throw new Problem({title: "The server refuses every clock"})
      isNews ||= !isEmpty(push) || Object.values(answer.changes).some(items => items.length)
      hasMore = answer.hasMore
      this.tell(answer.remaining)
    }
    throw new Problem({title: "Sync does not come to an end"})
  }

  /** Takes a page of events in. Whether a sync has to follow: only that says whether the copies differ. */
  async take(page) {
    const {isToSend} = await this.#take(NOTHING, page)
    return isToSend || (this.isSame === false && !this.copy.unsentCount())
  }

  #take(push, answer) {
    return this.#change(tx => receive(tx, this.copy, push, answer))
  }

  #change(body) {
    return this.copy.transaction(STORES, "readwrite", body)
  }

  /** The next push, and the token to send with it. */
  #next() {
    return this.#change(async tx => {
      const {token, reading, startedOver} = await tx.get("meta", "sync") ?? {}
      // Until all is read, nobody knows what the server lacks.
      if (reading) return {push: NOTHING, token}
      const relays = startedOver ? await nextRelays(tx) : NOTHING
      if (!isEmpty(relays)) return {push: firstPart(relays), token}
      const deletions = await takeDeletions(tx, Date.now())
      const [edits, made] = await Promise.all([tx.getAll("unsent"), tx.getAll("made")])
      return {push: firstPart({edits, made, deletions, relayed: false}), token}
    })
  }

  /** Whether they differ though nothing is unsent: then all is read again, at most once an hour. */
  #isOther() {
    return this.#change(async tx => {
      const sync = await tx.get("meta", "sync"), now = Date.now()
      const isOther = this.isSame === false && !this.copy.unsentCount() && now - (sync.repaired ?? 0) > HOUR
      if (isOther || sync.startedOver) {
        tx.put("meta", {...sync, startedOver: false, repaired: isOther ? now : sync.repaired}, "sync")
      }
      if (isOther) await startOver(tx)
      return isOther
    })
  }
}
