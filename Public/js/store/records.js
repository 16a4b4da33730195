// What goes on inside a transaction: the clock, what the server is known to have and its digest, what is given up.
import {ClockSource, parseDate} from "../model/clock.js"
import {ZERO, exists, fold, foldDeleted, hashOf, hashOfDeleted, valueOf, xor} from "../model/entity.js"
import {hex} from "../model/hash.js"
import {StoreError} from "./database.js"


/** In the index `place` tags come up to here, then pinned notes, notes, archived ones, each newest first. */
export const TAGS = -8e15

/** @type {(entity: Entity) => number | undefined} */
const placeOf = entity => {
  if (entity.type === "tag") return TAGS
  if (entity.type !== "note") return undefined
  const newest = -(parseDate(valueOf(entity, "sortDate")) ?? 0)
  if (valueOf(entity, "archived")) return newest + 1e15
  return valueOf(entity, "attributes.pinned") === true ? newest - 1e15 : newest
}

/**
 * This device's clock, read and saved in the transaction, so that no two tabs tick the same. Stores: meta.
 * @type {(tx: Transaction) => Promise<ClockSource>}
 */
export const clockIn = async tx => {
  if (tx.clock) return tx.clock
  const [session, saved] = await Promise.all([tx.get("meta", "session"), tx.get("meta", "clock")])
  if (!session) throw new StoreError("signed-out")
  if (tx.clock) return tx.clock // Somebody else asked meanwhile.
  const clock = tx.clock = new ClockSource(session.device.uniqueID, saved)
  tx.atEnd.push(() => tx.put("meta", clock.saved(), "clock"))
  return clock
}

/**
 * Adds hashes to the digest in `meta`, `sync`, or takes them out.
 * @type {(tx: Transaction, ...hashes: (string | undefined)[]) => void}
 */
const count = (tx, ...hashes) => {
  if (!tx.digest) {
    tx.atEnd.push(async () => {
      const sync = await tx.get("meta", "sync")
      tx.put("meta", {...sync, digest: xor(sync?.digest ?? ZERO, tx.digest)}, "sync")
    })
  }
  for (const hash of hashes) tx.digest = xor(tx.digest || ZERO, hash || ZERO)
}

/**
 * Folds what the server acknowledged or sent into `objects`; not two of one ID at once. `now`
 * undefined: it is dead. Stores: objects, deleted, meta.
 * @type {(tx: Transaction, incoming: Entity) => Promise<{before?: Held, now?: Held, isChanged: boolean}>}
 */
export const putEntity = async (tx, incoming) => {
  const id = incoming.uniqueID
  const [dead, before] = await Promise.all([tx.get("deleted", id), tx.get("objects", id)])
  if (dead) return {isChanged: false}
  const {type, fixed, registers} = before ?? incoming
  const now = {...before, uniqueID: id, type, fixed: {...fixed}, registers: {...registers}}
  const isChanged = before ? fold(now, incoming) : true
  if (isChanged) put(tx, before, now)
  return {before, now, isChanged}
}

/** @type {(tx: Transaction, before: Held | undefined, now: Held) => void} */
const put = (tx, before, now) => {
  now.hash = exists(now) ? hex(hashOf(now)) : ""
  const place = exists(now) && placeOf(now)
  if (place) now.place = place
  count(tx, before?.hash, now.hash)
  tx.put("objects", now)
}

/**
 * Puts an object as it is to be, also with less than it had: what the server refused goes. Stores: objects, meta.
 * @type {(tx: Transaction, now: Held) => Promise<void>}
 */
export const replaceEntity = async (tx, now) => put(tx, await tx.get("objects", now.uniqueID), {...now})

/**
 * Takes a DeletedObject in; `before` is the object that goes. What is unsent of it stays: rescue words, then `forget`.
 * Stores: objects, deleted, meta.
 * @type {(tx: Transaction, incoming: DeletedObject) => Promise<{before?: Held, isChanged: boolean}>}
 */
export const putDeleted = async (tx, incoming) => {
  const id = incoming.uniqueID
  const [standing, before] = await Promise.all([tx.get("deleted", id), tx.get("objects", id)])
  const folded = standing ? foldDeleted(standing, incoming) : incoming
  const hash = hex(hashOfDeleted(folded))
  if (before) tx.delete("objects", id)
  const isChanged = standing?.hash !== hash
  if (isChanged || before) count(tx, before?.hash, standing?.hash, hash)
  if (isChanged) tx.put("deleted", {...folded, hash})
  return {before, isChanged}
}

/**
 * Gives up what is unsent of an object. Stores: unsent, made.
 * @type {(tx: Transaction, id: string) => Promise<void>}
 */
export const forget = async (tx, id) => {
  for (const {attribute} of await tx.getAllBy("unsent", "uniqueID", id)) tx.delete("unsent", [id, attribute])
  if (await tx.get("made", id)) tx.delete("made", id)
}

/**
 * Deletions that are due at `wallMs`, also those taken before. They cannot be undone any more, and what was unsent of
 * their objects goes. Stores: deletions, unsent, made.
 * @type {(tx: Transaction, wallMs: number) => Promise<DeletedObject[]>}
 */
export const takeDeletions = async (tx, wallMs) => {
  /** @type {Deletion[]} */
  const due = (await tx.getAll("deletions")).filter(one => one.heldUntil <= wallMs)
  for (const deletion of due) {
    if (!deletion.heldUntil) continue
    tx.put("deletions", {...deletion, heldUntil: 0})
    await forget(tx, deletion.uniqueID)
  }
  return due.map(({uniqueID, objectType}) => ({uniqueID, objectType}))
}
