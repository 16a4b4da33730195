// What is done inside of transactions: edits with their clocks, new notes, what the server acknowledged or sent, deletions.
// Each function says which object stores its transaction needs. The object stores are described in types.d.ts.
import {ClockSource, formatDate} from "../model/clock.js"
import {ZERO, exists, fold, foldDeleted, hashOf, hashOfDeleted, xor} from "../model/entity.js"
import {derivedID} from "../model/hash.js"
import {StoreError} from "./database.js"

/** The maximum number of earlier texts that one text names as what it descends from (protocol.md, Limits). */
export const MAX_ANCESTORS = 16

/**
 * This device's clock. It is read and saved in the transaction, so that no two tabs tick the same clock. Needs `meta`.
 *
 * @type {(tx: Transaction) => Promise<ClockSource>}
 */
export const clockIn = tx => tx.clock ??= (async () => {
  const [session, saved] = await Promise.all([tx.get("meta", "session"), tx.get("meta", "clock")])
  if (!session) throw new StoreError("signed-out")
  const clock = new ClockSource(session.device.uniqueID, saved)
  tx.atEnd.push(() => tx.put("meta", clock.saved, "clock"))
  return clock
})()

/**
 * Sets a register. Needs `meta`, `unsent`.
 *
 * @param {Transaction} tx
 * @param {string} type of the object
 * @param {string} uniqueID
 * @param {string} attribute
 * @param {any} value
 * @returns {Promise<string>} the edit's clock
 */
export const edit = async (tx, type, uniqueID, attribute, value) => {
  const clock = (await clockIn(tx)).tick(Date.now())
  tx.put("unsent", {uniqueID, attribute, type, value, clock, ...attribute === "text" && {after: []}})
  return clock
}

/**
 * Gives all unsent edits new clocks, in their order, from the greatest clock that the server knows (merge.md, Clock skew).
 * Needs `meta`, `unsent`.
 *
 * @param {Transaction} tx
 */
export const stampAgain = async tx => {
  const clock = await clockIn(tx)
  const edits = await tx.getAll("unsent")
  clock.setBack()
  for (const one of edits.sort((a, b) => a.clock < b.clock ? -1 : 1)) {
    tx.put("unsent", {...one, clock: clock.tick(Date.now())})
  }
}

/**
 * Makes a note, unless there is or was an object of this ID. Needs `meta`, `objects`, `deleted`, `made`, `unsent`.
 *
 * @param {Transaction} tx
 * @param {string} uniqueID
 * @param {NewNote} note
 * @returns {Promise<boolean>} whether it was made
 */
export const makeNote = async (tx, uniqueID, note) => {
  const known = await Promise.all(["objects", "deleted", "made"].map(store => tx.get(store, uniqueID)))
  if (known.some(Boolean)) return false
  const {creationDate, text, sortDate, archived, attributes} = note
  const now = (await clockIn(tx)).now(Date.now())
  tx.put("made", {uniqueID, type: "note", fixed: {creationDate: creationDate ?? formatDate(now)}})
  // What has its default value needs no edit.
  const values = {text: text || undefined, sortDate, archived: archived || undefined}
  for (const kind of ["tags", "attachments"]) {
    for (const id of note[kind] ?? []) values[`${kind}.${id}`] = true
  }
  for (const name in attributes) values[`attributes.${name}`] = attributes[name]
  for (const name in values) {
    if (values[name] !== undefined) await edit(tx, "note", uniqueID, name, values[name])
  }
  return true
}

/**
 * Puts words of a deleted note into a new note. The new ID is derived from the old one and the words, so that two devices that
 * rescue the same words make one note (clients.md, rule 4). Needs what `makeNote` needs, and `notices`.
 *
 * @param {Transaction} tx
 * @param {Rescued} note
 * @param {string} text
 * @returns {Promise<string>} the new note's ID
 */
export const rescueIn = async (tx, {uniqueID, creationDate, tags, attachments}, text) => {
  const into = derivedID(uniqueID, text)
  const isMade = await makeNote(tx, into, {creationDate, text, tags, attachments})
  if (isMade) tx.put("notices", {kind: "rescued", uniqueID, into, mine: text, moment: Date.now()})
  return into
}

/**
 * The note that has the words of a deleted one. If that was deleted too, its DeletedObject names the next.
 *
 * @param {(id: string) => Promise<DeletedObject | undefined>} get
 * @param {string} id
 * @param {number} [steps] that are still allowed
 * @returns {Promise<string | undefined>}
 */
export const rescueOf = async (get, id, steps = 9) => {
  const into = (await get(id))?.rescuedInto
  return into && steps && await get(into) ? rescueOf(get, into, steps - 1) : into
}

/** Adds hashes to the digest of what is in `objects` and `deleted`, or takes them out: it is saved at the transaction's end. */
const addToDigest = (tx, ...hashes) => {
  if (!tx.digest) {
    tx.atEnd.push(async () => {
      const sync = await tx.get("meta", "sync")
      tx.put("meta", {...sync, digest: xor(sync?.digest ?? ZERO, tx.digest)}, "sync")
    })
  }
  for (const hash of hashes) if (hash) tx.digest = xor(tx.digest || ZERO, hash)
}

/** The record of an object, with what is derived from it. */
const recordOf = object => ({...object, hash: exists(object) ? hashOf(object) : ""})

const put = (tx, before, object) => {
  const now = recordOf(object)
  addToDigest(tx, before?.hash, now.hash)
  tx.put("objects", now)
  return now
}

/**
 * Folds what the server acknowledged or sent into `objects`. Must not run twice at once for one ID.
 * Needs `objects`, `deleted`, `meta`, where the digest is kept.
 *
 * @param {Transaction} tx
 * @param {Entity} incoming
 * @param {boolean} [isDeleted] false if there certainly is no such DeletedObject
 * @returns {Promise<{before?: StoredObject, now?: StoredObject}>} `now` is missing if the object is deleted
 */
export const putEntity = async (tx, incoming, isDeleted = true) => {
  const id = incoming.uniqueID
  const [deleted, before] = await Promise.all([isDeleted && tx.get("deleted", id), tx.get("objects", id)])
  if (deleted) return {}
  const {type, fixed, registers} = before || incoming
  const now = {...before, uniqueID: id, type, fixed: {...fixed}, registers: {...registers}}
  return {before, now: !before || fold(now, incoming) ? put(tx, before, now) : now}
}

/**
 * Stores objects that are probably new, without looking each of them up. Needs `objects`, `meta`.
 *
 * @param {Transaction} tx
 * @param {Entity[]} entities objects that certainly have no DeletedObject
 * @returns {Promise<Set<string>>} the IDs of the stored objects. An object that was not stored may exist already.
 */
export const addEntities = async (tx, entities) => {
  const added = await tx.addObjects(entities.map(recordOf))
  if (added.length) addToDigest(tx, ...added.map(object => object.hash))
  return new Set(added.map(object => object.uniqueID))
}

/**
 * Replaces an object, which may lose registers: those that the server refused. Needs `objects`, `meta`.
 *
 * @param {Transaction} tx
 * @param {StoredObject} now
 */
export const replaceEntity = async (tx, now) => put(tx, await tx.get("objects", now.uniqueID), now)

/**
 * Takes in a DeletedObject and removes its object. What is unsent of the object stays: rescue its words, then `forget` it.
 * Needs `objects`, `deleted`, `meta`.
 *
 * @param {Transaction} tx
 * @param {DeletedObject} incoming
 * @returns {Promise<{before?: StoredObject}>} the object that was removed
 */
export const putDeleted = async (tx, incoming) => {
  const id = incoming.uniqueID
  const [standing, before] = await Promise.all([tx.get("deleted", id), tx.get("objects", id)])
  const folded = standing ? foldDeleted(standing, incoming) : incoming
  const hash = hashOfDeleted(folded)
  addToDigest(tx, before?.hash, standing?.hash, hash)
  if (before) tx.delete("objects", id)
  if (standing?.hash !== hash || standing.rescuedInto !== folded.rescuedInto) tx.put("deleted", {...folded, hash})
  return {before}
}

/**
 * Discards what is unsent of an object. Needs `unsent`, `made`.
 *
 * @param {Transaction} tx
 * @param {string} id
 */
export const forget = async (tx, id) => {
  for (const {attribute} of await tx.getAllBy("unsent", "uniqueID", id)) tx.delete("unsent", [id, attribute])
  if (await tx.get("made", id)) tx.delete("made", id)
}

/**
 * What a person has seen of a note's text, for its deletion: the clock of the text on the server, and of their own texts
 * since then (merge.md, Deleting a text that was not seen).
 *
 * @param {Edit | undefined} text the unsent one
 * @param {StoredObject | undefined} stored
 * @returns {Pick<Deletion, "textSeen" | "textAfter">}
 */
export const seenTexts = (text, stored) => text
  ? {textSeen: text.base ?? "", textAfter: [...new Set([...text.after ?? [], text.clock])].slice(-MAX_ANCESTORS)}
  : {textSeen: stored?.registers.text?.[1] ?? "", textAfter: []}

/**
 * The deletions that are due, also those taken before. They can no longer be undone, and unsent edits of their objects are
 * discarded. Needs `deletions`, `unsent`, `made`.
 *
 * @param {Transaction} tx
 * @param {number} wallMs
 * @returns {Promise<DeletedObject[]>}
 */
export const takeDeletions = async (tx, wallMs) => {
  const due = (await tx.getAll("deletions")).filter(one => one.heldUntil <= wallMs)
  for (const deletion of due.filter(one => one.heldUntil)) {
    tx.put("deletions", {...deletion, heldUntil: 0})
    await forget(tx, deletion.uniqueID)
  }
  return due.map(({heldUntil, ...deletedObject}) => deletedObject)
}
