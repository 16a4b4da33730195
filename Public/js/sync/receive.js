// Takes an answer of sync, or a page of events, in: all of it in one transaction with its token (clients.md, rules 3 and 5).
import {emptyEntity, readState} from "../model/entity.js"
import {lostWords} from "../model/difference.js"
import {clockIn, forget, putDeleted, putEntity} from "../store/records.js"
import {Problem} from "./http.js"
import {receiptsOf} from "./push.js"
import {compare, compareDeleted, giveUpRelay, rescue, stampAgain, tryHoldersAgain, uploadAgain} from "./recovery.js"

/** @typedef {import("../store/transaction.js").Transaction} Transaction */
/** @typedef {import("../model/entity.js").Entity} Entity */
/** @typedef {import("../model/entity.js").DeletedObject} DeletedObject */
/** @typedef {import("./push.js").Push} Push */
/**
 * How far this browser has read; `digest` is that of what is here, `serverDigest` what the server said at the end.
 * `startedOver`: the server may lack the bases of texts; `reading`: it is being read from the start, to see what it lacks;
 * `repaired`: when the digests differed last. Moments in milliseconds.
 * @typedef {{token?: string | null, digest?: string, serverDigest?: string | null, lastSync?: number, startedOver?: boolean,
 *   reading?: boolean, repaired?: number}} SyncRecord
 */

/** The stores that an answer may change. */
export const STORES = ["objects", "deleted", "unsent", "made", "deletions", "bytes", "shelf", "notices", "meta", "relays"]

const STAMP_AGAIN = ["clock-ahead", "clock-reused"]

/**
 * @param {Transaction} tx  over STORES
 * @param {import("../store/copy.js").Copy} copy
 * @param {Push} push  what was sent, NOTHING for a page of events
 * @param {any} answer
 * @returns {Promise<{refusedClocks: string[], isToSend: boolean}>}  slugs, if clocks were refused and what is unsent was
 *   stamped again; whether there is something new to be sent
 */
export async function receive(tx, copy, push, answer) {
  const now = Date.now()
  const clock = await clockIn(tx)
  clock.learn(answer.serverClock, now)
  const sync = /** @type {SyncRecord} */ (await tx.get("meta", "sync") ?? {})
  const told = await takeResults(tx, push, receiptsOf(answer.results ?? []))
  const {deletedObjects = [], ...sections} = answer.changes
  await Promise.all(deletedObjects.map((/** @type {DeletedObject} */ one) => takeDeleted(tx, copy, one, sync.reading)))
  const incoming = Object.entries(sections).flatMap(([name, items]) => items.map((/** @type {any} */ item) => readState(name, item)))
  const states = await Promise.all(incoming.map(async entity => {
    for (const [, stamp] of Object.values(entity.registers)) clock.observe(stamp)
    const {before, now: standing} = await putEntity(tx, entity)
    if (sync.reading) await compare(tx, before, entity)
    return standing
  }))
  await tryHoldersAgain(tx, incoming, deletedObjects)
  tellLostWords(tx, told.overruled, states, now)
  if (told.refusedClocks.includes("clock-reused")) {
    // Two copies of this device exist: only a new sign-in makes this one a device of its own, with a node of its own.
    tx.put("meta", {...await tx.get("meta", "session"), signedOut: true, isTwin: true}, "session")
  } else if (told.refusedClocks.length) await stampAgain(tx)
  const isEnd = !answer.hasMore
  tx.put("meta", {
    ...sync, token: answer.syncToken, serverDigest: isEnd ? answer.digest ?? null : null,
    ...isEnd && {lastSync: now, reading: false}
  }, "sync")
  const isToSend = tx.journal.some(({store, record}) => record && (store === "unsent" || store === "made"))
  return {...told, isToSend}
}

/**
 * What was acknowledged goes into the copy, what was refused to the shelf.
 * @param {Transaction} tx @param {Push} push @param {ReturnType<typeof receiptsOf>} receipts
 */
async function takeResults(tx, push, receipts) {
  /** @type {{refusedClocks: string[], overruled: import("./push.js").Edit[]}} */
  const told = {refusedClocks: [], overruled: []}
  const moment = Date.now()
  /** @type {Map<string, Entity>} */
  const acknowledged = new Map()
  /** @param {{uniqueID: string, type: string}} of */
  const entityOf = ({uniqueID, type}) => {
    const entity = acknowledged.get(uniqueID) ?? emptyEntity(uniqueID, type)
    acknowledged.set(uniqueID, entity)
    return entity
  }
  /** @param {Map<string, any>} of @param {string} id */
  const receipt = (of, id) => {
    const found = of.get(id)
    if (!found) throw new Problem({slug: "unexpected", title: `The server's answer says nothing of ${id}`})
    return found
  }
  for (const deletion of push.deletions) {
    const {status, problem} = receipt(receipts.deletions, deletion.uniqueID)
    if (status === "rejected") {
      if (push.relayed) await giveUpRelay(tx, deletion.uniqueID)
      tx.put("shelf", {uniqueID: deletion.uniqueID, deletion, problem, moment})
    } else await putDeleted(tx, deletion)
    tx.delete("deletions", deletion.uniqueID)
  }
  for (const made of push.made) {
    const {status, problem, fields = {}} = receipt(receipts.objects, made.uniqueID)
    if (status === "deleted") continue // Its DeletedObject is in this answer, and rescues the words.
    if (problem && STAMP_AGAIN.includes(problem.slug)) continue
    if (!problem) {
      const stands = Object.entries(made.fixed).filter(([name]) => fields[name]?.outcome !== "rejected")
      Object.assign(entityOf(made).fixed, Object.fromEntries(stands))
      tx.delete("made", made.uniqueID)
    } else if (problem.slug === "attachment-data-missing" && await tx.count("bytes", IDBKeyRange.only(made.uniqueID))) {
      tx.put("made", {...made, needsBytes: true})
    } else {
      tx.put("shelf", {uniqueID: made.uniqueID, type: made.type, fixed: made.fixed, problem, moment})
      tx.delete("made", made.uniqueID)
    }
    if (problem && push.relayed) await giveUpRelay(tx, made.uniqueID)
  }
  const standing = await Promise.all(push.edits.map(edit => tx.get("unsent", [edit.uniqueID, edit.attribute])))
  for (const [at, edit] of push.edits.entries()) {
    const {uniqueID, attribute, value} = edit
    const {status, problem: whole, fields = {}} = receipt(receipts.objects, uniqueID)
    const field = fields[attribute] ?? {}
    if (status === "deleted" || field.outcome === "deleted") continue
    const problem = field.outcome === "rejected" ? field.problem : whole
    const current = standing[at]
    if (problem && push.relayed) await giveUpRelay(tx, uniqueID, attribute)
    if (problem && STAMP_AGAIN.includes(problem.slug)) {
      told.refusedClocks.push(problem.slug)
      // What another device made cannot be given back under a clock of the future: it becomes an edit of this one.
      if (push.relayed && !current) tx.put("unsent", edit)
      continue
    }
    if (problem) tx.put("shelf", {...edit, problem, moment})
    else {
      if (attribute === "text" && field.outcome && !push.relayed) told.overruled.push(edit)
      entityOf(edit).registers[attribute] = [value, edit.clock]
    }
    if (current?.clock === edit.clock) tx.delete("unsent", [uniqueID, attribute])
    else if (current && attribute === "text" && !problem && !push.relayed) {
      // Typed on while it was in flight: what is here descends from what was acknowledged just now.
      tx.put("unsent", {...current, base: edit.clock, baseValue: value})
    }
  }
  if (push.relayed) for (const {uniqueID} of [...push.deletions, ...push.made, ...push.edits]) tx.delete("relays", uniqueID)
  const clock = await clockIn(tx)
  await Promise.all([...acknowledged.values()].map(entity => {
    for (const [, stamp] of Object.values(entity.registers)) clock.observe(stamp)
    return putEntity(tx, entity)
  }))
  return told
}

/**
 * A DeletedObject removes the object; words of a note that are unsent go into a new note (clients.md, rule 4).
 * @param {Transaction} tx @param {import("../store/copy.js").Copy} copy @param {DeletedObject} incoming
 * @param {boolean | undefined} isReading
 */
async function takeDeleted(tx, copy, incoming, isReading) {
  const id = incoming.uniqueID
  const [own, text] = await Promise.all([tx.get("deletions", id), tx.get("unsent", [id, "text"])])
  if (text && !own) await rescue(tx, copy, id, text.value)
  const {before} = await putDeleted(tx, incoming)
  if (isReading) await compareDeleted(tx, incoming)
  if (before?.type === "attachment" && !own) await uploadAgain(tx, copy, before)
  if (own) tx.delete("deletions", id)
  await forget(tx, id)
}

/**
 * Where a merge replaced words of this device, a notice says so.
 * @param {Transaction} tx @param {import("./push.js").Edit[]} edits @param {(Entity | undefined)[]} states @param {number} moment
 */
function tellLostWords(tx, edits, states, moment) {
  const standing = new Map(states.map(entity => [entity?.uniqueID, entity?.registers.text]))
  for (const {uniqueID, value, baseValue, clock} of edits) {
    const base = baseValue ?? ""
    const text = standing.get(uniqueID)
    if (!text || !lostWords(value, base, text[0])) continue
    tx.put("notices", {kind: "merged", uniqueID, mine: value, base, clock, moment})
  }
}
