// What goes on inside a transaction: the clock, what the server is known to have and its digest, what is given up.
import {ClockSource} from "../model/clock.js"
import {ZERO, exists, fold, foldDeleted, hashOf, hashOfDeleted, valueOf, xor} from "../model/entity.js"
import {hex} from "../model/hash.js"
import {parseDate} from "../model/clock.js"
import {StoreError} from "./database.js"

/** @typedef {import("./transaction.js").Transaction} Transaction */
/** @typedef {import("../model/entity.js").Entity} Entity */
/** @typedef {import("../model/entity.js").DeletedObject} DeletedObject */
/** @typedef {Entity & {hash: string, place?: number}} Held what the server acknowledged or sent, and its digest in hex */

/** Where tags are in the index `place`; notes come after. */
export const TAGS_END = -8e15

/**
 * Where an object is in the index: tags, then pinned notes, notes, archived ones, each newest first. The page that a
 * person sees first is read by it.
 * @param {Entity} entity
 * @returns {number | undefined}
 */
function placeOf(entity) {
  if (entity.type === "tag") return TAGS_END - 1
  if (entity.type !== "note") return undefined
  const newest = -(parseDate(valueOf(entity, "sortDate")) ?? 0)
  if (valueOf(entity, "archived")) return 1e15 + newest
  return valueOf(entity, "attributes.pinned") === true ? newest - 1e15 : newest
}

/**
 * The clock of this device, read in this transaction and saved with it, so that no two tabs tick the same. `meta` must
 * be among its stores.
 * @param {Transaction} tx
 * @returns {Promise<ClockSource>}
 */
export async function clockIn(tx) {
  if (tx.clock) return tx.clock
  const [session, saved] = await Promise.all([tx.get("meta", "session"), tx.get("meta", "clock")])
  if (!session) throw new StoreError("signed-out")
  const clock = tx.clock = new ClockSource(session.device.uniqueID, saved)
  tx.atEnd.push(async () => tx.put("meta", clock.saved(), "clock"))
  return clock
}

/**
 * Adds to the digest in `meta`, `sync`, once at the end.
 * @param {Transaction} tx @param {string} hash in hex or ""
 */
function count(tx, hash) {
  if (!hash) return
  if (!tx.digest) {
    tx.digest = ZERO
    tx.atEnd.push(async () => {
      const sync = await tx.get("meta", "sync")
      tx.put("meta", {...sync, digest: xor(sync?.digest ?? ZERO, tx.digest)}, "sync")
    })
  }
  tx.digest = xor(tx.digest, hash)
}

/**
 * Folds what the server acknowledged or sent into `objects`, and counts it in the digest. Stores: objects, deleted, meta.
 * @param {Transaction} tx
 * @param {Entity} incoming
 * @param {object} [marks] further fields for the record, such as when it was last seen
 * @returns {Promise<{before: Held | undefined, now: Held | undefined, isChanged: boolean}>} `now` undefined: it is dead
 */
export async function putEntity(tx, incoming, marks) {
  const id = incoming.uniqueID
  const [dead, before] = await Promise.all([tx.get("deleted", id), tx.get("objects", id)])
  if (dead) return {before: undefined, now: undefined, isChanged: false}
  const {uniqueID, type, fixed, registers} = before ?? incoming
  const now = {...before, uniqueID, type, fixed: {...fixed}, registers: {...registers}, ...marks}
  const isChanged = before ? fold(now, incoming) : true
  if (!isChanged && !marks) return {before, now: before, isChanged}
  if (isChanged) put(tx, before, now)
  else tx.put("objects", now)
  return {before, now, isChanged}
}

/** @param {Transaction} tx @param {Held | undefined} before @param {Held} now */
function put(tx, before, now) {
  now.hash = exists(now) ? hex(hashOf(now)) : ""
  now.place = exists(now) ? placeOf(now) : undefined
  if (now.place === undefined) delete now.place // an index takes no undefined
  count(tx, before?.hash ?? "")
  count(tx, now.hash)
  tx.put("objects", now)
}

/**
 * Puts an object as it is to be, also with less than it had: what the server refused goes. Stores: objects, meta.
 * @param {Transaction} tx
 * @param {Held} now
 */
export async function replaceEntity(tx, now) {
  put(tx, await tx.get("objects", now.uniqueID), {...now})
}

/**
 * Takes a DeletedObject in: the object goes, the digest counts it. Stores: objects, deleted, meta. What is unsent of the
 * object stays: rescue words first, then `forget`.
 * @param {Transaction} tx
 * @param {DeletedObject} incoming
 * @param {object} [marks]
 * @returns {Promise<{before: Held | undefined, isChanged: boolean}>} the object that went
 */
export async function putDeleted(tx, incoming, marks) {
  const id = incoming.uniqueID
  const [standing, before] = await Promise.all([tx.get("deleted", id), tx.get("objects", id)])
  const folded = {...(standing ? foldDeleted(standing, incoming) : incoming), ...marks}
  const hash = hex(hashOfDeleted(folded))
  if (before) {
    tx.delete("objects", id)
    count(tx, before.hash)
  }
  const isChanged = standing?.hash !== hash
  if (isChanged) {
    count(tx, standing?.hash ?? "")
    count(tx, hash)
  }
  if (isChanged || marks) tx.put("deleted", {...folded, hash})
  return {before, isChanged}
}

/**
 * Gives up what is unsent of an object: its edits and `made`. Stores: unsent, made.
 * @param {Transaction} tx @param {string} id
 */
export async function forget(tx, id) {
  for (const {attribute} of await tx.getAllBy("unsent", "uniqueID", id)) tx.delete("unsent", [id, attribute])
  tx.delete("made", id)
}

/**
 * Deletions whose time to undo is over. From here on they cannot be undone, and what was unsent of the objects goes.
 * Stores: deletions, unsent, made.
 * @param {Transaction} tx
 * @param {number} wallMs
 * @returns {Promise<DeletedObject[]>} all that are to be sent, also those taken before
 */
export async function takeDeletions(tx, wallMs) {
  const due = (await tx.getAll("deletions")).filter(one => one.heldUntil <= wallMs)
  for (const deletion of due) {
    if (!deletion.heldUntil) continue // taken already
    tx.put("deletions", {...deletion, heldUntil: 0})
    await forget(tx, deletion.uniqueID)
  }
  return due.map(({uniqueID, objectType}) => ({uniqueID, objectType}))
}
