// What is unsent goes up; what changed comes down, in one transaction with its token (clients.md, rules 3, 4, 5, 9).
import {ZERO, derivedID, emptyEntity, readState, registersOf, sectionOf, writeChange} from "../model/entity.js"
import {
  MOST_NAMED, clockIn, edit, forget, putDeleted, putEntity, replaceEntity, rescueIn, rescueOf, stampAgain,
  takeDeletions,
} from "../store/copy.js"
import {Problem} from "./server.js"

const PAGE = 500, MOST_OBJECTS = 1_500, MOST_BYTES = 4 << 20, MOST_ROUNDS = 10_000, MOST_REFUSED_CLOCKS = 5
const HOUR = 3_600_000, FIRST_WAIT = 60_000 // ms
const STORES = ["objects", "deleted", "unsent", "made", "deletions", "bytes", "shelf", "notices", "meta", "relays"]
const STAMP_AGAIN = ["clock-ahead", "clock-reused"]
const FULL = "quota-exceeded", DELETED = "deleted object"

/** @type {Push} */
const NOTHING = {parts: [], deletions: []}
const isText = ({attribute}) => attribute === "text"
const isLarge = ({attribute, value}) =>
  attribute === "text" || attribute.startsWith("attributes.") && typeof value === "string"
const isEmpty = ({parts, deletions}) => !parts.length && !deletions.length

const partsIn = (edits, made) => {
  const waiting = new Set(made.filter(one => one.needsBytes).map(one => `attachments.${one.uniqueID}`))
  const held = new Set(made.filter(one => one.held).map(one => one.uniqueID))
  const parts = new Map()
  for (const one of [...made, ...edits]) {
    const {uniqueID, type, attribute} = one
    if (one.needsBytes || one.held || held.has(uniqueID) || waiting.has(attribute)) continue
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

/** What a text descends from that was sent and not answered is on the disk before it goes (clients.md, rule 3). */
const sendTexts = (tx, push) => {
  for (const {edits} of push.parts) {
    const at = edits.findIndex(isText), {after, clock, last} = edits[at] ?? {}
    if (!after || after.includes(clock)) continue
    const sent = edits[at] = last ?? {...edits[at], after: [...after, clock]}
    if (!last) tx.put("unsent", sent.after.length < MOST_NAMED ? sent : {...sent, last: sent})
  }
  return push
}

const changesOf = ({parts, deletions}, withBases) => {
  const changes = {deletedObjects: deletions}
  for (const {uniqueID, type, made, edits} of parts) {
    const {base, baseValue, after, clock, isMoved} = edits.find(isText) ?? {}
    const section = changes[sectionOf(type)] ??= []
    section.push({
      ...writeChange({uniqueID, type, fixed: made?.fixed ?? {}, registers: registersOf(edits)}),
      ...base && {textBase: base, textBaseValue: withBases || isMoved ? baseValue : undefined},
      textAfter: after?.filter(one => one !== clock),
    })
  }
  return changes
}

const receive = async (tx, copy, push, answer) => {
  const moment = Date.now(), sync = await tx.get("meta", "sync") ?? {}, source = await clockIn(tx)
  source.learn(answer.serverClock, moment)
  const results = answer.results ?? [], refusedClocks = await takeResults(tx, push, results)
  const {deletedObjects = [], ...sections} = answer.changes
  const texts = await Promise.all(deletedObjects.map(one => takeDeleted(tx, copy, push, one)))
  for (const text of texts) if (text) await keepWords(tx, copy, text)
  const incoming = Object.entries(sections).flatMap(([name, items]) => items.map(item => readState(name, item)))
  await Promise.all(incoming.map(async theirs => {
    const {before} = await fold(tx, theirs)
    if (sync.reading && before) await compare(tx, before, theirs)
  }))
  await tryHoldersAgain(tx, incoming, deletedObjects)
  if (refusedClocks.includes("clock-reused")) {
    tx.put("meta", {...await tx.get("meta", "session"), signedOut: true, isTwin: true}, "session")
  } else if (refusedClocks.length) await stampAgain(tx)
  const isEnd = !answer.hasMore, isFull = results.some(({problem}) => problem?.slug === FULL)
  tx.put("meta", {
    ...sync, ...isFull && {full: longer(sync.full, moment)}, token: answer.syncToken, serverDigest: isEnd ? answer.digest : null,
    ...isEnd && {lastSync: moment, reading: false},
  }, "sync")
  return {refusedClocks, isToSend: tx.journal.some(({store, record}) => record && ["unsent", "made"].includes(store))}
}

const fold = async (tx, entity) => {
  const clock = await clockIn(tx)
  for (const [, stamp] of Object.values(entity.registers)) clock.observe(stamp)
  return putEntity(tx, entity)
}

const longer = (full, now) => {
  if (full?.until > now) return full
  const wait = Math.min(2 * (full?.wait ?? FIRST_WAIT / 2), HOUR)
  return {wait, until: now + wait}
}

/** What is over the quota stays unsent: all of a new object, else what is large of it; the rest is sent again at once. */
const hold = async (tx, {uniqueID, made, edits}, relayed) => {
  const madeNow = made && (relayed ? made : await tx.get("made", uniqueID))
  if (madeNow) tx.put("made", {...madeNow, held: true})
  const isWhole = made || !edits.some(isLarge)
  await Promise.all(edits.map(async one => {
    const now = await tx.get("unsent", [uniqueID, one.attribute]) ?? (relayed && one)
    if (!now) return // The object was deleted while it was in flight.
    const held = now.clock === one.clock && (isWhole || isLarge(one))
    const after = now.after?.filter(clock => clock !== one.clock)
    tx.put("unsent", {...now, ...after && {after, last: undefined}, held})
  }))
}

/** Has what is held tried again once its wait is over, or if somebody asks for it. */
const release = async (tx, isAsked) => {
  const {full, ...sync} = await tx.get("meta", "sync") ?? {}
  if (!full) return
  const isDue = isAsked || full.until <= Date.now()
  const counts = await Promise.all(["unsent", "made"].map(async store => {
    const held = (await tx.getAll(store)).filter(one => one.held)
    if (isDue) for (const one of held) tx.put(store, {...one, held: false})
    return held.length
  }))
  if (!counts.some(Boolean)) tx.put("meta", sync, "sync")
}

const takeResults = async (tx, {parts, deletions, relayed}, results) => {
  const refusedClocks = []
  // An object and its DeletedObject may be in one push.
  const receipts = new Map(results.map(one => [one.uniqueID + /^.changes.deleted/.test(one.pointer), one]))
  const shelve = (record, problem) => tx.put("shelf", {...record, problem, moment: Date.now()})

  const takeDeletion = async deletion => {
    const {uniqueID} = deletion, {status, problem} = receipts.get(`${uniqueID}true`)
    tx.delete("deletions", uniqueID)
    if (status === "rejected") shelve({uniqueID, deletion}, problem)
    else {
      const {textSeen, textAfter, ...deleted} = deletion
      await putDeleted(tx, deleted)
    }
  }

  const takePart = async ({uniqueID, type, made, edits}) => {
    const {status, problem, fields = {}} = receipts.get(`${uniqueID}false`)
    if (status === "deleted") return // Its DeletedObject is in this answer, and rescues the words.
    if (problem?.slug === FULL) return hold(tx, {uniqueID, made, edits}, relayed)
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
      const {outcome, problem: refused = problem, superseded = [], clock: standing} = fields[attribute] ?? {}
      const without = named => ({...now, after: now.after.filter(one => !named.includes(one)), last: undefined})
      if (outcome === "deleted") continue
      if (refused && relayed) await giveUp(tx, uniqueID, attribute)
      if (STAMP_AGAIN.includes(refused?.slug)) {
        refusedClocks.push(refused.slug)
        // What another device made becomes an edit of this one.
        if (!now) tx.put("unsent", one)
        else if (now.after) tx.put("unsent", without([clock]))
        continue
      }
      if (refused) shelve(one, refused)
      else {
        isTaken = true
        entity.registers[attribute] = [value, clock]
        const words = superseded.filter(({text}) => text)
        if (words.length) {
          tx.put("notices", {kind: "merged", uniqueID, superseded: words, clock: standing, moment: Date.now()})
        }
      }
      if (now?.clock === clock) tx.delete("unsent", key)
      else if (now?.after?.includes(clock)) {
        // Typed on while it was in flight: what is here descends from that.
        const descent = {...without(one.after), base: clock, baseValue: value, isMoved: false}
        tx.put("unsent", refused ? without([clock]) : descent)
      }
    }
    if (isTaken) await fold(tx, entity)
  }

  await Promise.all(deletions.map(takeDeletion))
  await Promise.all(parts.map(takePart))
  if (relayed) await Promise.all([...deletions, ...parts].map(({uniqueID}) => given(tx, uniqueID)))
  return refusedClocks
}

const takeDeleted = async (tx, copy, push, incoming) => {
  const id = incoming.uniqueID, into = incoming.rescuedInto
  const own = await tx.get("deletions", id), text = await tx.get("unsent", [id, "text"])
  const {before} = await putDeleted(tx, incoming), {mergedInto, rescuedInto} = await tx.get("deleted", id)
  if (mergedInto === incoming.mergedInto && rescuedInto === into) tx.delete("relays", id)
  if (before?.type === "attachment" && !own) await uploadAgain(tx, copy, before)
  const isOwn = own || !push.relayed && push.deletions.some(one => one.uniqueID === id)
  if (into && isOwn) tx.put("notices", {kind: "unseen", uniqueID: id, into, moment: Date.now()}, id)
  tx.delete("deletions", id)
  await forget(tx, id)
  return !own && text
}

/** Words of a deleted note go on in the note that has its others, or else in a new one (clients.md, rule 4). */
const keepWords = async (tx, copy, text) => {
  const uniqueID = text.uniqueID, into = await rescueOf(id => tx.get("deleted", id), uniqueID) ?? ""
  const others = [tx.get("deleted", into), tx.get("deletions", into), tx.get("unsent", [into, "text"])]
  if (!into || (await Promise.all(others)).some(Boolean)) {
    return rescueIn(tx, {uniqueID, tags: [], attachments: [], ...copy.note(uniqueID)}, text.value)
  }
  const clock = (await clockIn(tx)).tick(Date.now())
  const after = text.after?.slice(1 - MOST_NAMED)
  tx.put("unsent", {...text, uniqueID: into, clock, after, last: undefined, isMoved: true})
  tx.put("notices", {kind: "rescued", uniqueID, into, moment: Date.now()})
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
  const [relays, ...all] = await Promise.all(["relays", "objects", "deleted"].map(store => tx.getAll(store)))
  const before = new Map(relays.map(({uniqueID, texts}) => [uniqueID, texts]))
  tx.clear("relays")
  for (const {uniqueID, type = DELETED, registers} of all.flat()) {
    // As it stood: another may take its place here before this one is given back.
    const text = registers?.text, earlier = (before.get(uniqueID) ?? []).filter(one => one[1] !== text?.[1])
    tx.put("relays", {uniqueID, type, fixed: true, texts: [...earlier, ...text ? [text] : []]}, uniqueID)
  }
  const sync = await tx.get("meta", "sync")
  tx.put("meta", {...sync, token: null, serverDigest: null, startedOver: true, reading: true}, "sync")
}

const compare = async (tx, {uniqueID, type, fixed, registers}, theirs) => {
  const clockOf = name => theirs.registers[name]?.[1] ?? ""
  const texts = (await tx.get("relays", uniqueID))?.texts?.filter(([, clock]) => clock !== clockOf("text")) ?? []
  const isLacking = name => name === "text" ? texts.length : registers[name][1] > clockOf(name)
  const attributes = Object.keys(registers).filter(isLacking)
  const isLess = ([name, value]) => !(name in theirs.fixed) || (name === "creationDate" && value < theirs.fixed[name])
  const relay = {uniqueID, type, attributes, fixed: Object.entries(fixed).some(isLess), theirs, texts}
  if (relay.fixed || attributes.length) tx.put("relays", relay, uniqueID)
  else tx.delete("relays", uniqueID)
}

const nextRelays = async (tx, most) => {
  const parts = [], deletions = []
  await Promise.all((await tx.getAll("relays")).map(async ({uniqueID, type, attributes, fixed, texts = []}) => {
    const {hash, place, ...standing} = await tx.get(type === DELETED ? "deleted" : "objects", uniqueID)
    if (type === DELETED) return deletions.push(standing)
    const {registers} = standing, made = fixed ? {uniqueID, type, fixed: standing.fixed} : undefined
    const edits = (attributes ?? Object.keys(registers)).map(attribute => {
      const [value, clock] = attribute === "text" && texts[0] || registers[attribute]
      return {uniqueID, attribute, type, value, clock, base: clock, after: []}
    })
    parts.push({uniqueID, type, made, edits})
  }))
  return firstOf(parts, deletions, most, true)
}

/** Two texts of one note are not in one push. */
const given = async (tx, id) => {
  const {texts = [], ...relay} = await tx.get("relays", id) ?? {}
  if (texts.length < 2) tx.delete("relays", id)
  else tx.put("relays", {...relay, fixed: false, attributes: ["text"], texts: texts.slice(1)}, id)
}

const giveUp = async (tx, id, attribute = "") => {
  const {theirs} = await tx.get("relays", id), {registers: {...registers}, ...held} = await tx.get("objects", id)
  if (!attribute) held.fixed = theirs?.fixed ?? {}
  else if (theirs?.registers[attribute]) registers[attribute] = theirs.registers[attribute]
  else delete registers[attribute]
  await replaceEntity(tx, {...held, registers})
}

export class Rounds {
  #isAsked = false

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

  /** Has the next sync try again what was over the quota. */
  ask() {
    this.#isAsked = true
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
      await release(tx, this.#isAsked)
      this.#isAsked = false
      const {token, reading, startedOver} = await tx.get("meta", "sync") ?? {}
      if (reading) return {push: NOTHING, token}
      const relays = startedOver ? await nextRelays(tx, most) : NOTHING
      if (!isEmpty(relays)) return {push: relays, token}
      const deletions = await takeDeletions(tx, Date.now())
      const parts = partsIn(await tx.getAll("unsent"), await tx.getAll("made"))
      return {push: sendTexts(tx, firstOf(parts, deletions, most)), token}
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
