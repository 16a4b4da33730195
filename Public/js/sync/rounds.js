// What is unsent goes up; what changed comes down, in one transaction with its token (clients.md, rules 3, 4, 5, 9).
import {ZERO, derivedID, emptyEntity, readState, registersOf, sectionOf, writeChange} from "../model/entity.js"
import {lostWords} from "../model/text.js"
import {
  clockIn, edit, forget, putDeleted, putEntity, replaceEntity, rescueIn, stampAgain, takeDeletions,
} from "../store/copy.js"
import {Problem} from "./server.js"

const PAGE = 500, MOST_OBJECTS = 1_500, MOST_BYTES = 4 << 20, MOST_ROUNDS = 10_000, MOST_REFUSED_CLOCKS = 5
const HOUR = 3_600_000 // ms
const STORES = ["objects", "deleted", "unsent", "made", "deletions", "bytes", "shelf", "notices", "meta", "relays"]
const STAMP_AGAIN = ["clock-ahead", "clock-reused"]
const DELETED = "deleted object"

/** @type {Push} */
const NOTHING = {parts: [], deletions: []}
const isEmpty = ({parts, deletions}) => !parts.length && !deletions.length

const partsIn = (edits, made) => {
  const waiting = new Set(made.filter(one => one.needsBytes).map(one => `attachments.${one.uniqueID}`))
  const parts = new Map()
  for (const one of [...made, ...edits]) {
    const {uniqueID, type, attribute} = one
    if (one.needsBytes || waiting.has(attribute)) continue
    const part = parts.get(uniqueID) ?? {uniqueID, type, edits: []}
    parts.set(uniqueID, part)
    if (attribute) part.edits.push(one)
    else part.made = one
  }
  return [...parts.values()]
}

/** DeletedObjects, then tags (clients.md, rule 10). */
const firstOf = (all, deletions, most, relayed = false) => {
  /** @type {Push} */
  const push = {parts: [], deletions: deletions.slice(0, most), relayed}
  let count = push.deletions.length, size = count * 200
  const isTag = ({type}) => type === "tag"
  for (const part of all.sort((a, b) => +isTag(b) - +isTag(a))) {
    size += 3 * JSON.stringify(part).length
    if (count && (count >= most || size > MOST_BYTES)) break
    count = push.deletions.length + push.parts.push(part)
  }
  return push
}

const changesOf = ({parts, deletions}, withBases) => {
  const changes = {deletedObjects: deletions}
  for (const {uniqueID, type, made, edits} of parts) {
    const {base, baseValue} = edits.find(one => one.attribute === "text") ?? {}
    const section = changes[sectionOf(type)] ??= []
    section.push({
      ...writeChange({uniqueID, type, fixed: made?.fixed ?? {}, registers: registersOf(edits)}),
      ...base && {textBase: base, textBaseValue: withBases ? baseValue : undefined},
    })
  }
  return changes
}

const receive = async (tx, copy, push, answer) => {
  const moment = Date.now(), sync = await tx.get("meta", "sync") ?? {}, source = await clockIn(tx)
  source.learn(answer.serverClock, moment)
  const {refusedClocks, overruled} = await takeResults(tx, push, answer.results ?? [])
  const {deletedObjects = [], ...sections} = answer.changes
  await Promise.all(deletedObjects.map(one => takeDeleted(tx, copy, one)))
  const incoming = Object.entries(sections).flatMap(([name, items]) => items.map(item => readState(name, item)))
  await Promise.all(incoming.map(async theirs => {
    const {before, now} = await fold(tx, theirs)
    if (sync.reading && before) compare(tx, before, theirs)
    for (const {uniqueID, value, baseValue, clock} of overruled) {
      const base = baseValue ?? "" // null: nobody knows it.
      if (uniqueID !== theirs.uniqueID || !now || !lostWords(value, base, now.registers.text[0])) continue
      tx.put("notices", {kind: "merged", uniqueID, mine: value, base, clock, moment})
    }
  }))
  await tryHoldersAgain(tx, incoming, deletedObjects)
  if (refusedClocks.includes("clock-reused")) {
    tx.put("meta", {...await tx.get("meta", "session"), signedOut: true, isTwin: true}, "session")
  } else if (refusedClocks.length) await stampAgain(tx)
  const isEnd = !answer.hasMore
  tx.put("meta", {
    ...sync, token: answer.syncToken, serverDigest: isEnd ? answer.digest : null,
    ...isEnd && {lastSync: moment, reading: false},
  }, "sync")
  return {refusedClocks, isToSend: tx.journal.some(({store, record}) => record && ["unsent", "made"].includes(store))}
}

const fold = async (tx, entity) => {
  const clock = await clockIn(tx)
  for (const [, stamp] of Object.values(entity.registers)) clock.observe(stamp)
  return putEntity(tx, entity)
}

const takeResults = async (tx, {parts, deletions, relayed}, results) => {
  const refusedClocks = [], overruled = []
  // An object and its DeletedObject may be in one push.
  const receipts = new Map(results.map(one => [one.uniqueID + /^.changes.deleted/.test(one.pointer), one]))
  const shelve = (record, problem) => tx.put("shelf", {...record, problem, moment: Date.now()})

  const takeDeletion = async deletion => {
    const {uniqueID} = deletion, {status, problem} = receipts.get(`${uniqueID}true`)
    tx.delete("deletions", uniqueID)
    if (status === "rejected") shelve({uniqueID, deletion}, problem)
    else await putDeleted(tx, deletion)
  }

  const takePart = async ({uniqueID, type, made, edits}) => {
    const {status, problem, fields = {}} = receipts.get(`${uniqueID}false`)
    if (status === "deleted") return // Its DeletedObject is in this answer, and rescues the words.
    const entity = emptyEntity(uniqueID, type)
    if (made) tx.delete("made", uniqueID)
    if (made && problem) {
      if (relayed) await giveUp(tx, uniqueID)
      const isHere = problem.slug === "attachment-data-missing" && await tx.count("bytes", uniqueID)
      isHere ? tx.put("made", {...made, needsBytes: true}) : shelve(made, problem)
    } else if (made) {
      for (const name in made.fixed) if (fields[name]?.outcome !== "rejected") entity.fixed[name] = made.fixed[name]
    }
    let isTaken = made && !problem
    for (const one of edits) {
      const {attribute, value, clock} = one, key = [uniqueID, attribute], now = await tx.get("unsent", key)
      const {outcome, problem: refused = problem} = fields[attribute] ?? {}
      if (outcome === "deleted") continue
      if (refused && relayed) await giveUp(tx, uniqueID, attribute)
      if (STAMP_AGAIN.includes(refused?.slug)) {
        refusedClocks.push(refused.slug)
        // What another device made becomes an edit of this one.
        if (!now) tx.put("unsent", one)
        continue
      }
      if (refused) shelve(one, refused)
      else {
        isTaken = true
        entity.registers[attribute] = [value, clock]
        if (attribute === "text" && outcome && !relayed) overruled.push(one)
      }
      if (now?.clock === clock) tx.delete("unsent", key)
      else if (now && attribute === "text" && !refused && !relayed) {
        // Typed on while it was in flight: what is here descends from that.
        tx.put("unsent", {...now, base: clock, baseValue: value})
      }
    }
    if (isTaken) await fold(tx, entity)
  }

  await Promise.all(deletions.map(takeDeletion))
  await Promise.all(parts.map(takePart))
  if (relayed) for (const {uniqueID} of [...deletions, ...parts]) tx.delete("relays", uniqueID)
  return {refusedClocks, overruled}
}

const takeDeleted = async (tx, copy, incoming) => {
  const id = incoming.uniqueID
  const own = await tx.get("deletions", id), text = await tx.get("unsent", [id, "text"])
  if (text && !own) await rescueIn(tx, {uniqueID: id, tags: [], attachments: [], ...copy.note(id)}, text.value)
  const {before} = await putDeleted(tx, incoming)
  if ((await tx.get("deleted", id)).mergedInto === incoming.mergedInto) tx.delete("relays", id)
  if (before?.type === "attachment" && !own) await uploadAgain(tx, copy, before)
  tx.delete("deletions", id)
  await forget(tx, id)
}

const uploadAgain = async (tx, copy, {uniqueID, fixed}) => {
  const bytes = await tx.get("bytes", uniqueID)
  for (const note of bytes ? copy.entities() : []) {
    if (!note.registers[`attachments.${uniqueID}`]?.[0]) continue
    const again = derivedID(uniqueID, note.uniqueID)
    tx.put("made", {uniqueID: again, type: "attachment", fixed, needsBytes: true})
    tx.put("bytes", {...bytes, uniqueID: again})
    await edit(tx, "note", note.uniqueID, `attachments.${again}`, true)
  }
}

const tryHoldersAgain = async (tx, incoming, deleted) => {
  const keys = await tx.getAllKeys("shelf"), records = await tx.getAll("shelf")
  for (const [at, {uniqueID, attribute, problem}] of records.entries()) {
    const isFree = problem?.slug === "attachment-in-use" && (deleted.some(one => one.objectType === "note") ||
      incoming.some(one => one.uniqueID !== uniqueID && one.registers[attribute]?.[0] === false))
    if (!isFree) continue
    tx.delete("shelf", keys[at])
    await edit(tx, "note", uniqueID, attribute, true)
  }
}

/** At first all is to be given back, and what turns out to be there no longer is. */
const startOver = async tx => {
  const all = await Promise.all([tx.getAll("objects"), tx.getAll("deleted")])
  tx.clear("relays")
  for (const {uniqueID, type = DELETED} of all.flat()) tx.put("relays", {uniqueID, type, fixed: true}, uniqueID)
  const sync = await tx.get("meta", "sync")
  tx.put("meta", {...sync, token: null, serverDigest: null, startedOver: true, reading: true}, "sync")
}

const compare = (tx, {uniqueID, type, fixed, registers}, theirs) => {
  const attributes = Object.keys(registers).filter(name => registers[name][1] > (theirs.registers[name]?.[1] ?? ""))
  const isLess = ([name, value]) => !(name in theirs.fixed) || (name === "creationDate" && value < theirs.fixed[name])
  const relay = {uniqueID, type, attributes, fixed: Object.entries(fixed).some(isLess), theirs}
  if (relay.fixed || attributes.length) tx.put("relays", relay, uniqueID)
  else tx.delete("relays", uniqueID)
}

const nextRelays = async (tx, most) => {
  const parts = [], deletions = []
  await Promise.all((await tx.getAll("relays")).map(async ({uniqueID, type, attributes, fixed}) => {
    const {hash, place, ...standing} = await tx.get(type === DELETED ? "deleted" : "objects", uniqueID)
    if (type === DELETED) return deletions.push(standing)
    const {registers} = standing, made = fixed ? {uniqueID, type, fixed: standing.fixed} : undefined
    const edits = (attributes ?? Object.keys(registers)).map(attribute => {
      const [value, clock] = registers[attribute]
      return {uniqueID, attribute, type, value, clock}
    })
    parts.push({uniqueID, type, made, edits})
  }))
  return firstOf(parts, deletions, most, true)
}

const giveUp = async (tx, id, attribute = "") => {
  const {theirs} = await tx.get("relays", id), {registers: {...registers}, ...held} = await tx.get("objects", id)
  if (!attribute) held.fixed = theirs?.fixed ?? {}
  else if (theirs?.registers[attribute]) registers[attribute] = theirs.registers[attribute]
  else delete registers[attribute]
  await replaceEntity(tx, {...held, registers})
}

export class Rounds {
  /** @param {Copy} copy @param {Http} http @param {Tell} tell */
  constructor(copy, http, tell) {
    this.copy = copy
    this.http = http
    this.tell = tell
  }

  /** @returns {SyncRecord} */
  get record() {
    return this.copy.memory.meta.get("sync") ?? {}
  }

  get isSame() {
    const {digest = ZERO, serverDigest} = this.record
    return serverDigest ? serverDigest === digest : null
  }

  async sync(signal) {
    // Judged once: the first answer changes it.
    const {startedOver, lastSync = Infinity} = this.record
    let withBases = startedOver || Date.now() - lastSync > 24 * HOUR
    let hasMore = true, refused = 0, isNews = false, most = MOST_OBJECTS
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const {push, token} = await this.#next(most), isPush = !isEmpty(push)
      if (!hasMore && !isPush) {
        if (!await this.#isOther()) return isNews
        hasMore = withBases = true
        continue
      }
      let answer
      try {
        const json = {limit: PAGE, ...token && {syncToken: token}, ...isPush && {changes: changesOf(push, withBases)}}
        answer = (await this.http.send("POST", "/v1/sync", {json, signal})).value
      } catch (/** @type {any} */ error) {
        const count = push.parts.length + push.deletions.length
        if (error.slug === "too-large" && count > 1) {
          // The server would have to load more of what it keeps than it may.
          most = count >> 1
          continue
        }
        if (error.slug !== "token-expired") throw error
        await this.#change(startOver)
        hasMore = withBases = true
        continue
      }
      const {refusedClocks} = await this.#take(push, answer)
      if (refusedClocks.includes("clock-reused")) return true
      if (refusedClocks.length) refused++
      if (refused > MOST_REFUSED_CLOCKS) throw new Problem({slug: "clocks-refused"})
      isNews ||= isPush || Object.values(answer.changes).some(items => items.length)
      hasMore = answer.hasMore
      this.tell({toFetch: answer.remaining})
    }
    throw new Problem({slug: "endless"})
  }

  async take(page) {
    const {isToSend} = await this.#take(NOTHING, page)
    return isToSend || this.isSame === false && !this.copy.unsentCount()
  }

  #take = (push, answer) => this.#change(tx => receive(tx, this.copy, push, answer))
  #change = body => this.copy.transaction(STORES, "readwrite", body)

  #next(most) {
    return this.#change(async tx => {
      const {token, reading, startedOver} = await tx.get("meta", "sync") ?? {}
      if (reading) return {push: NOTHING, token}
      const relays = startedOver ? await nextRelays(tx, most) : NOTHING
      if (!isEmpty(relays)) return {push: relays, token}
      const deletions = await takeDeletions(tx, Date.now())
      return {push: firstOf(partsIn(await tx.getAll("unsent"), await tx.getAll("made")), deletions, most), token}
    })
  }

  #isOther() {
    return this.#change(async tx => {
      const sync = await tx.get("meta", "sync"), now = Date.now()
      const isOther = this.isSame === false && !this.copy.unsentCount() && now - (sync.repaired ?? 0) > HOUR
      tx.put("meta", {...sync, startedOver: false, repaired: isOther ? now : sync.repaired}, "sync")
      if (isOther) await startOver(tx)
      return isOther
    })
  }
}
