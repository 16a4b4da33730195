// Taking in an answer: receipts of what was pushed, and what changed on the server, in one transaction with the sync token
// (clients.md, rules 3 to 5, 9, 14).
import {emptyEntity, readState} from "../model/entity.js"
import {successorOf} from "../model/marks.js"
import {
  MAX_ANCESTORS, addEntities, clockIn, edit, forget, putDeleted, putEntity, rescueIn, rescueOf, stampAgain,
} from "../store/records.js"
import {compare, giveUp, markGiven} from "./relays.js"

const HOUR = 3_600_000 // ms
/** How long changes over the quota wait at first, in ms; each time twice as long, at most an hour. */
const FIRST_WAIT = 60_000
/** The object stores that all these functions need. */
export const STORES = [
  "objects", "deleted", "unsent", "made", "deletions", "bytes", "shelf", "notices", "meta", "relays",
]
/** How many keys are read together in the time that it takes to read one record by itself. */
const KEYS_PER_READ = 20
/** How many objects are taken in at the same time: few enough that this delays no frame. */
const AT_ONCE = 250
const OVER_QUOTA = "quota-exceeded"
/** Refusals of a clock: the edit gets a new one. */
const CLOCK_REFUSALS = ["clock-ahead", "clock-reused"]

/** Whether an edit may have a large value. */
const isLarge = ({attribute, value}) =>
  attribute === "text" || attribute.startsWith("attributes.") && typeof value === "string"

/**
 * Takes in an answer of sync, or a page of the stream of events.
 *
 * @param {Transaction} tx
 * @param {Copy} copy
 * @param {Push} push that it answers
 * @param {any} answer
 * @param {number} [sent] when the request was sent, in ms; none for an event
 * @returns {Promise<{refusedClocks: string[], hasNewEdits: boolean}>} the slugs of clocks that were refused, and whether this
 *   made something to send
 */
export const receive = async (tx, copy, push, answer, sent) => {
  const moment = Date.now()
  const sync = await tx.get("meta", "sync") ?? {}
  const clock = await clockIn(tx)
  clock.learn(answer.serverClock, moment, sent)

  const results = answer.results ?? []
  const refusedClocks = await takeResults(tx, push, results)

  const {deletedObjects = [], ...sections} = answer.changes
  const rescued = await Promise.all(deletedObjects.map(one => takeDeleted(tx, copy, push, one)))
  for (const text of rescued) {
    if (text) await keepWords(tx, copy, text)
  }
  const incoming = Object.entries(sections).flatMap(([name, items]) => items.map(item => readState(name, item)))
  // The mirror tells what is probably new, so that the objects of a first sync need not be looked for one by one.
  const {objects, deleted} = copy.memory
  const deletedIDs = deleted.size < KEYS_PER_READ * incoming.length && new Set(await tx.getAllKeys("deleted"))
  const isNew = ({uniqueID}) => !objects.has(uniqueID) && deletedIDs && !deletedIDs.has(uniqueID)
  const takeObject = async theirs => {
    const {before} = await putEntity(tx, theirs, !deletedIDs || deletedIDs.has(theirs.uniqueID))
    if (sync.reading && before) await compare(tx, before, theirs)
  }
  for (let at = 0; at < incoming.length; at += AT_ONCE) {
    const some = incoming.slice(at, at + AT_ONCE)
    for (const entity of some) observe(clock, entity)
    const added = await addEntities(tx, some.filter(isNew))
    await Promise.all(some.filter(({uniqueID}) => !added.has(uniqueID)).map(takeObject))
  }
  await retryFreedAttachments(tx, incoming, deletedObjects)

  if (refusedClocks.includes("clock-reused")) {
    tx.put("meta", {...await tx.get("meta", "session"), signedOut: true, isTwin: true}, "session")
  } else if (refusedClocks.length) {
    await stampAgain(tx)
  }
  const isLastPage = !answer.hasMore
  const isOverQuota = results.some(({problem}) => problem?.slug === OVER_QUOTA)
  tx.put("meta", {
    ...sync,
    ...isOverQuota && {full: longerWait(sync.full, moment)},
    token: answer.syncToken,
    serverDigest: isLastPage ? answer.digest : null,
    ...isLastPage && {lastSync: moment, reading: false},
  }, "sync")
  const hasNewEdits = tx.journal.some(({store, record}) => record && ["unsent", "made"].includes(store))
  return {refusedClocks, hasNewEdits}
}

/** Keeps this device's clock ahead of an object's clocks. */
const observe = (clock, {registers}) => {
  for (const [, stamp] of Object.values(registers)) clock.observe(stamp)
}

// The quota (protocol.md, Quota)

/** When changes over the quota are tried again: the wait doubles each time. */
const longerWait = (full, now) => {
  if (full?.until > now) return full
  const wait = Math.min(2 * (full?.wait ?? FIRST_WAIT / 2), HOUR)
  return {wait, until: now + wait}
}

/** Keeps what is over the quota unsent: all of a new object, else what is large of it. The rest is sent again at once. */
const hold = async (tx, {uniqueID, made, edits}, relayed) => {
  const madeNow = made && (relayed ? made : await tx.get("made", uniqueID))
  if (madeNow) tx.put("made", {...madeNow, held: true})
  const isWhole = made || !edits.some(isLarge)
  await Promise.all(edits.map(async one => {
    const now = await tx.get("unsent", [uniqueID, one.attribute]) ?? (relayed && one)
    if (!now) return // The object was deleted since it was sent.
    const held = now.clock === one.clock && (isWhole || isLarge(one))
    const after = now.after?.filter(clock => clock !== one.clock)
    tx.put("unsent", {...now, ...after && {after, last: undefined}, held})
  }))
}

/**
 * Has held changes sent again, if their wait is over or a person asks for it.
 *
 * @param {Transaction} tx
 * @param {boolean} isAsked
 */
export const release = async (tx, isAsked) => {
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

// Receipts (protocol.md, Receipts)

/** Puts a refused change on the shelf, for a person to see (clients.md, rule 9). */
const shelve = (tx, record, problem) => tx.put("shelf", {...record, problem, moment: Date.now()})

/**
 * Takes in the receipts of a push. The slugs of clocks that were refused.
 *
 * @param {Transaction} tx
 * @param {Push} push
 * @param {any[]} results
 */
const takeResults = async (tx, {parts, deletions, relayed}, results) => {
  // One push may have an object and its DeletedObject.
  const keyOf = (uniqueID, isDeletion) => `${uniqueID} ${isDeletion}`
  const receipts = new Map(results.map(one => [keyOf(one.uniqueID, /^.changes.deleted/.test(one.pointer)), one]))
  const refusedClocks = []
  await Promise.all(deletions.map(one => takeDeletionReceipt(tx, one, receipts.get(keyOf(one.uniqueID, true)))))
  await Promise.all(parts.map(async part => {
    const receipt = receipts.get(keyOf(part.uniqueID, false))
    refusedClocks.push(...await takePartReceipt(tx, part, receipt, relayed))
  }))
  if (relayed) await Promise.all([...deletions, ...parts].map(({uniqueID}) => markGiven(tx, uniqueID)))
  return refusedClocks
}

const takeDeletionReceipt = async (tx, deletion, {status, problem}) => {
  const {uniqueID} = deletion
  tx.delete("deletions", uniqueID)
  if (status === "rejected") return shelve(tx, {uniqueID, deletion}, problem)
  const {textSeen, textAfter, ...deleted} = deletion
  await putDeleted(tx, deleted)
}

/**
 * What was acknowledged of an object moves from `made` and `unsent` to `objects`. The slugs of clocks that were refused.
 *
 * @param {Transaction} tx
 * @param {Part} part
 * @param {any} receipt
 * @param {boolean} [relayed]
 */
const takePartReceipt = async (tx, {uniqueID, type, made, edits}, {status, problem, fields = {}}, relayed) => {
  const refusedClocks = []
  if (status === "deleted") return refusedClocks // Its DeletedObject is in this answer, and its words are rescued there.
  if (problem?.slug === OVER_QUOTA) {
    await hold(tx, {uniqueID, made, edits}, relayed)
    return refusedClocks
  }
  const acknowledged = emptyEntity(uniqueID, type)
  let isAnyAcknowledged = made && !problem
  if (made) tx.delete("made", uniqueID)
  if (made && problem) {
    if (relayed) await giveUp(tx, uniqueID)
    const canUpload = problem.slug === "attachment-data-missing" && await tx.count("bytes", uniqueID)
    if (canUpload) tx.put("made", {...made, needsBytes: true})
    else shelve(tx, made, problem)
  } else if (made) {
    for (const name in made.fixed) {
      if (fields[name]?.outcome !== "rejected") acknowledged.fixed[name] = made.fixed[name]
    }
  }
  for (const one of edits) {
    const {attribute, value, clock} = one
    const key = [uniqueID, attribute]
    const now = await tx.get("unsent", key)
    // A refused list of members refuses each of them.
    const receipt = fields[attribute] ?? fields[attribute.split(".")[0]] ?? {}
    const {outcome, problem: refusal = problem, superseded = [], clock: standing} = receipt
    /** The unsent text without these clocks among what it descends from. */
    const without = clocks => ({...now, after: now.after.filter(one => !clocks.includes(one)), last: undefined})
    if (outcome === "deleted") continue
    if (refusal && relayed) await giveUp(tx, uniqueID, attribute)
    if (CLOCK_REFUSALS.includes(refusal?.slug)) {
      refusedClocks.push(refusal.slug)
      // An edit of another device that was to be given back becomes one of this device, which can get a new clock.
      if (!now) tx.put("unsent", one)
      else if (now.after) tx.put("unsent", without([clock]))
      continue
    }
    if (refusal) {
      shelve(tx, one, refusal)
    } else {
      isAnyAcknowledged = true
      acknowledged.registers[attribute] = [value, clock]
      const words = superseded.filter(({text}) => text)
      if (words.length) {
        tx.put("notices", {kind: "merged", uniqueID, superseded: words, clock: standing, moment: Date.now()})
      }
    }
    if (now?.clock === clock) {
      tx.delete("unsent", key)
    } else if (now?.after?.includes(clock)) {
      // The text was edited again since it was sent: the new one descends from what was acknowledged.
      const descent = {...without(one.after), base: clock, baseValue: value, isMoved: false}
      tx.put("unsent", refusal ? without([clock]) : descent)
    }
  }
  if (isAnyAcknowledged) {
    observe(await clockIn(tx), acknowledged)
    await putEntity(tx, acknowledged)
  }
  return refusedClocks
}

// Deleted objects

/** Takes in a DeletedObject. The unsent text of its note, if that is to be rescued. */
const takeDeleted = async (tx, copy, push, incoming) => {
  const id = incoming.uniqueID
  const own = await tx.get("deletions", id)
  const text = await tx.get("unsent", [id, "text"])
  const {before} = await putDeleted(tx, incoming)
  const {mergedInto, rescuedInto} = await tx.get("deleted", id)
  if (mergedInto === incoming.mergedInto && rescuedInto === incoming.rescuedInto) tx.delete("relays", id)
  if (before?.type === "attachment" && !own) await uploadAgain(tx, copy, before)
  const isOwn = own || !push.relayed && push.deletions.some(one => one.uniqueID === id)
  if (incoming.rescuedInto && isOwn) {
    // This browser deleted a note without having seen all of its words.
    tx.put("notices", {kind: "unseen", uniqueID: id, into: incoming.rescuedInto, moment: Date.now()}, id)
  }
  tx.delete("deletions", id)
  await forget(tx, id)
  return !own && text
}

/** Words of a deleted note continue in the note that has its other words, or else in a new one (clients.md, rule 4). */
const keepWords = async (tx, copy, text) => {
  const {uniqueID} = text
  const into = await rescueOf(id => tx.get("deleted", id), uniqueID) ?? ""
  const obstacles = [tx.get("deleted", into), tx.get("deletions", into), tx.get("unsent", [into, "text"])]
  if (!into || (await Promise.all(obstacles)).some(Boolean)) {
    return rescueIn(tx, {uniqueID, tags: [], attachments: [], ...copy.note(uniqueID)}, text.value)
  }
  const clock = (await clockIn(tx)).tick(Date.now())
  const after = text.after?.slice(1 - MAX_ANCESTORS)
  tx.put("unsent", {...text, uniqueID: into, clock, after, last: undefined, isMoved: true})
  tx.put("notices", {kind: "rescued", uniqueID, into, moment: Date.now()})
}

/** An attachment that was deleted, though notes have it and its bytes are here, is uploaded as a new one for each note. */
const uploadAgain = async (tx, copy, {uniqueID, fixed}) => {
  const bytes = await tx.get("bytes", uniqueID)
  if (!bytes) return
  for (const note of copy.entities()) {
    if (!note.registers[`attachments.${uniqueID}`]?.[0]) continue
    const newID = successorOf(uniqueID, note.uniqueID)
    tx.put("made", {uniqueID: newID, type: "attachment", fixed, needsBytes: true})
    tx.put("bytes", {...bytes, uniqueID: newID})
    await edit(tx, "note", note.uniqueID, `attachments.${newID}`, true)
  }
}

/**
 * Whether an object may have had an attachment and has let it go. The files of an app object may have changed several times, so
 * they may have been any attachment.
 */
const mayLetGo = ({registers}, attribute) => registers[attribute]?.[0] === false ||
  Object.entries(registers).some(([name, [value]]) => name.startsWith("files.") && `attachments.${value}` !== attribute)

/** Attachments that were refused because another object had them are tried again if that object may have let them go. */
const retryFreedAttachments = async (tx, incoming, deleted) => {
  const keys = await tx.getAllKeys("shelf")
  const records = await tx.getAll("shelf")
  const isHolderDeleted = deleted.some(({objectType}) => !["tag", "attachment"].includes(objectType))
  for (const [at, {uniqueID, attribute, problem}] of records.entries()) {
    const mayBeFree = problem?.slug === "attachment-in-use" && (isHolderDeleted ||
      incoming.some(one => one.uniqueID !== uniqueID && mayLetGo(one, attribute)))
    if (!mayBeFree) continue
    tx.delete("shelf", keys[at])
    await edit(tx, "note", uniqueID, attribute, true)
  }
}
