// Takes an answer of sync, or a page of events, in: in one transaction with its token (clients.md, rules 3, 4, 5, 9).
import {emptyEntity, partsOf, readState} from "../model/entity.js"
import {lostWords} from "../model/text.js"
import {derivedID} from "../model/hash.js"
import {clockIn, edit, forget, putDeleted, putEntity, replaceEntity, rescueIn} from "../store/records.js"
import {Problem} from "./http.js"

/** What an answer may change. */
export const STORES = [
  "objects", "deleted", "unsent", "made", "deletions", "bytes", "shelf", "notices", "meta", "relays",
]
const STAMP_AGAIN = ["clock-ahead", "clock-reused"]
const DELETED = "deleted object" // the type of a Relay

/** @param {Transaction} tx @param {Copy} copy @param {Push} push what was sent */
export const receive = async (tx, copy, push, answer) => {
  const moment = Date.now(), sync = await tx.get("meta", "sync") ?? {}
  ;(await clockIn(tx)).learn(answer.serverClock, moment)
  const {refusedClocks, overruled} = await takeResults(tx, push, answer.results ?? [])
  const {deletedObjects = [], ...sections} = answer.changes
  await Promise.all(deletedObjects.map(one => takeDeleted(tx, copy, one)))
  const incoming = Object.entries(sections).flatMap(([name, items]) => items.map(item => readState(name, item)))
  await Promise.all(incoming.map(async theirs => {
    const {before, now} = await fold(tx, theirs)
    if (sync.reading && before) compare(tx, before, theirs)
    const mine = overruled.find(one => one.uniqueID === theirs.uniqueID)
    if (!mine || !now) return
    // Where a merge replaced words that were written here, a notice says so.
    const {uniqueID, value, baseValue, clock} = mine, base = baseValue ?? ""
    if (!lostWords(value, base, now.registers.text[0])) return
    tx.put("notices", {kind: "merged", uniqueID, mine: value, base, clock, moment})
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
  const isToSend = tx.journal.some(({store, record}) => record && (store === "unsent" || store === "made"))
  return {refusedClocks, isToSend}
}

const fold = async (tx, entity) => {
  const clock = await clockIn(tx)
  for (const [, stamp] of Object.values(entity.registers)) clock.observe(stamp)
  return putEntity(tx, entity)
}

/** What was acknowledged goes into the copy, what was refused onto the shelf. */
const takeResults = async (tx, {edits, made, deletions, relayed}, results) => {
  const refusedClocks = [], overruled = [], acknowledged = new Map()
  const shelve = (record, problem) => tx.put("shelf", {...record, problem, moment: Date.now()})
  const entityOf = ({uniqueID, type}) => {
    if (!acknowledged.has(uniqueID)) acknowledged.set(uniqueID, emptyEntity(uniqueID, type))
    return acknowledged.get(uniqueID)
  }
  // An object and its DeletedObject may be in one push.
  const keyOf = (uniqueID, isDeletion) => uniqueID + isDeletion
  const receipts = new Map(results.map(one => [keyOf(one.uniqueID, /^.changes.deleted/.test(one.pointer)), one]))
  const receiptOf = ({uniqueID}, isDeletion = false) => {
    const found = receipts.get(keyOf(uniqueID, isDeletion))
    if (!found) throw new Problem({title: `The server's answer says nothing of ${uniqueID}`})
    return {fields: {}, ...found}
  }
  for (const deletion of deletions) {
    const {status, problem} = receiptOf(deletion, true), {uniqueID} = deletion
    tx.delete("deletions", uniqueID)
    if (status === "rejected") shelve({uniqueID, deletion}, problem)
    else await putDeleted(tx, deletion)
  }
  for (const one of made) {
    const {uniqueID, fixed} = one, {status, problem, fields} = receiptOf(one)
    if (status === "deleted") continue // Its DeletedObject is in this answer, and rescues the words.
    tx.delete("made", uniqueID)
    if (!problem) {
      for (const name in fixed) if (fields[name]?.outcome !== "rejected") entityOf(one).fixed[name] = fixed[name]
      entityOf(one)
      continue
    }
    if (relayed) await giveUp(tx, uniqueID)
    const isHere = problem.slug === "attachment-data-missing" && await tx.count("bytes", IDBKeyRange.only(uniqueID))
    if (isHere) tx.put("made", {...one, needsBytes: true})
    else shelve(one, problem)
  }
  const standing = await Promise.all(edits.map(one => tx.get("unsent", [one.uniqueID, one.attribute])))
  for (const [at, one] of edits.entries()) {
    const {uniqueID, attribute, value, clock} = one, now = standing[at]
    const {status, problem: whole, fields} = receiptOf(one), {outcome, problem = whole} = fields[attribute] ?? {}
    if (status === "deleted" || outcome === "deleted") continue
    if (problem && relayed) await giveUp(tx, uniqueID, attribute)
    if (STAMP_AGAIN.includes(problem?.slug)) {
      refusedClocks.push(problem.slug)
      // What another device made cannot be given back under a clock of the future: it becomes an edit of this one.
      if (!now) tx.put("unsent", one)
      continue
    }
    if (problem) shelve(one, problem)
    else {
      entityOf(one).registers[attribute] = [value, clock]
      if (attribute === "text" && outcome && !relayed) overruled.push(one)
    }
    if (now?.clock === clock) tx.delete("unsent", [uniqueID, attribute])
    else if (now && attribute === "text" && !problem && !relayed) {
      // Typed on while it was in flight: what is here descends from what was acknowledged just now.
      tx.put("unsent", {...now, base: clock, baseValue: value})
    }
  }
  if (relayed) for (const {uniqueID} of [...deletions, ...made, ...edits]) tx.delete("relays", uniqueID)
  await Promise.all([...acknowledged.values()].map(entity => fold(tx, entity)))
  return {refusedClocks, overruled}
}

/** It removes the object; unsent words of a note go into a new one. */
const takeDeleted = async (tx, copy, incoming) => {
  const id = incoming.uniqueID
  const [own, text] = await Promise.all([tx.get("deletions", id), tx.get("unsent", [id, "text"])])
  if (text && !own) await rescueIn(tx, {uniqueID: id, tags: [], attachments: [], ...copy.note(id)}, text.value)
  const {before} = await putDeleted(tx, incoming)
  if ((await tx.get("deleted", id)).mergedInto === incoming.mergedInto) tx.delete("relays", id)
  if (before?.type === "attachment" && !own) await uploadAgain(tx, copy, before)
  tx.delete("deletions", id)
  await forget(tx, id)
}

/** If a live note holds what was deleted, its bytes go up again under another ID. */
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

/** Attachments that another note held are tried again when one lets go of them. */
const tryHoldersAgain = async (tx, incoming, deleted) => {
  const [keys, records] = await Promise.all([tx.getAllKeys("shelf"), tx.getAll("shelf")])
  for (const [at, {uniqueID, attribute, problem}] of records.entries()) {
    const isFree = problem?.slug === "attachment-in-use" && (deleted.some(one => one.objectType === "note") ||
      incoming.some(one => one.uniqueID !== uniqueID && one.registers[attribute]?.[0] === false))
    if (!isFree) continue
    tx.delete("shelf", keys[at])
    await edit(tx, "note", uniqueID, attribute, true)
  }
}

/**
 * All that is unsent, in its order, from the greatest clock that the server knows (merge.md, Ahead). A text keeps its
 * node: it descends from what of it the server may have.
 * @param {Transaction} tx
 */
export const stampAgain = async (tx, isNewNode = false) => {
  const clock = await clockIn(tx), edits = await tx.getAll("unsent")
  clock.setBack()
  for (const one of edits.sort((a, b) => a.clock < b.clock ? -1 : 1)) {
    const node = isNewNode || one.attribute !== "text" ? clock.node : partsOf(one.clock).node
    tx.put("unsent", {...one, clock: clock.tick(Date.now(), node)})
  }
}

/**
 * Begins to read all again (protocol.md, Restored servers). The copy stays. At first all of it is to be given back;
 * what turns out to be there no longer is: a reload in the middle loses nothing.
 * @param {Transaction} tx
 */
export const startOver = async tx => {
  const all = await Promise.all([tx.getAll("objects"), tx.getAll("deleted")])
  tx.clear("relays")
  for (const {uniqueID, type = DELETED} of all.flat()) tx.put("relays", {uniqueID, type, fixed: true}, uniqueID)
  const sync = await tx.get("meta", "sync")
  tx.put("meta", {...sync, token: null, serverDigest: null, startedOver: true, reading: true}, "sync")
}

/** What is greater here is to be given back. */
const compare = (tx, {uniqueID, type, fixed, registers}, theirs) => {
  const attributes = Object.keys(registers).filter(name => registers[name][1] > (theirs.registers[name]?.[1] ?? ""))
  const isLess = ([name, value]) => !(name in theirs.fixed) || (name === "creationDate" && value < theirs.fixed[name])
  const relay = {uniqueID, type, attributes, fixed: Object.entries(fixed).some(isLess), theirs}
  if (relay.fixed || attributes.length) tx.put("relays", relay, uniqueID)
  else tx.delete("relays", uniqueID)
}

/** What a restored server lacks, with the clocks it always had. @param {Transaction} tx */
export const nextRelays = async tx => {
  /** @type {Push} */
  const push = {edits: [], made: [], deletions: [], relayed: true}
  await Promise.all((await tx.getAll("relays")).map(async ({uniqueID, type, attributes, fixed}) => {
    const {hash, place, ...standing} = await tx.get(type === DELETED ? "deleted" : "objects", uniqueID)
    if (type === DELETED) return push.deletions.push(standing)
    if (fixed) push.made.push({uniqueID, type, fixed: standing.fixed})
    for (const attribute of attributes ?? Object.keys(standing.registers)) {
      const [value, clock] = standing.registers[attribute]
      push.edits.push({uniqueID, attribute, type, value, clock})
    }
  }))
  return push
}

/** What the server refused of what it lacked leaves the copy: an attribute, or what is set once. */
const giveUp = async (tx, id, attribute = "") => {
  const {theirs} = await tx.get("relays", id), {registers: {...registers}, ...held} = await tx.get("objects", id)
  if (!attribute) held.fixed = theirs?.fixed ?? {}
  else if (theirs?.registers[attribute]) registers[attribute] = theirs.registers[attribute]
  else delete registers[attribute]
  await replaceEntity(tx, {...held, registers})
}
