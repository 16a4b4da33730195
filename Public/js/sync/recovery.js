// What mends what went wrong: restored servers, refused clocks, objects that were deleted elsewhere (clients.md, rules 4 and 9).
import {partsOf} from "../model/clock.js"
import {derivedID} from "../model/uuid.js"
import {clockIn, replaceEntity} from "../store/records.js"
import {edit, rescueIn} from "../store/writing.js"
import {MOST_OBJECTS, firstPart} from "./push.js"

/** @typedef {import("../store/transaction.js").Transaction} Transaction */
/** @typedef {import("../store/copy.js").Copy} Copy */
/** @typedef {import("../model/entity.js").Entity} Entity */
/** @typedef {import("../model/entity.js").DeletedObject} DeletedObject */
/**
 * What a restored server lacks of one object: `attributes` that it has older (absent: all), whether it lacks what is set
 * once, and `theirs`, what it has.
 * @typedef {{uniqueID: string, type: string, attributes?: string[], fixed: boolean, theirs?: Entity}} Relay
 */

/** The `type` of a DeletedObject that is to be given back. */
const DELETED = "deleted object"

/**
 * Begins to read it all again (protocol.md, Restored servers). The copy stays and is folded into; at first everything is
 * to be given back, and what turns out to be on the server no longer is. So a reload in the middle loses nothing.
 * @param {Transaction} tx  objects, deleted, relays, meta
 */
export async function startOver(tx) {
  const [objects, deleted, sync] = await Promise.all([tx.getAll("objects"), tx.getAll("deleted"), tx.get("meta", "sync")])
  tx.clear("relays")
  for (const {uniqueID, type} of objects) tx.put("relays", {uniqueID, type, fixed: true}, uniqueID)
  for (const {uniqueID} of deleted) tx.put("relays", {uniqueID, type: DELETED, fixed: true}, uniqueID)
  tx.put("meta", {...sync, token: null, serverDigest: null, startedOver: true, reading: true}, "sync")
}

/**
 * What the server has of an object, beside what was here before: what is greater here is to be given back.
 * @param {Transaction} tx @param {Held | undefined} before @param {Entity} theirs
 */
export async function compare(tx, before, theirs) {
  if (!before) return
  const {uniqueID, type, registers} = before
  const attributes = Object.keys(registers).filter(name => registers[name][1] > (theirs.registers[name]?.[1] ?? ""))
  let fixed = false
  for (const [name, value] of Object.entries(before.fixed)) {
    const other = theirs.fixed[name]
    if (other === undefined || (name === "creationDate" && value < other)) fixed = true
    // Nothing changes what the server has of an attachment, so this browser takes it.
    else if (type === "attachment" && value !== other) await replaceEntity(tx, {...before, fixed: {...before.fixed, ...theirs.fixed}})
  }
  if (fixed || attributes.length) tx.put("relays", {uniqueID, type, attributes, fixed, theirs}, uniqueID)
  else tx.delete("relays", uniqueID)
}

/** @param {Transaction} tx @param {DeletedObject} theirs  folded in already */
export async function compareDeleted(tx, {uniqueID, mergedInto}) {
  const standing = await tx.get("deleted", uniqueID)
  if (standing.mergedInto === mergedInto) tx.delete("relays", uniqueID)
  else tx.put("relays", {uniqueID, type: DELETED, fixed: true}, uniqueID)
}

/**
 * The next push of what the server lacks: with the clocks it always had, whoever made it.
 * @param {Transaction} tx  objects, deleted, relays @returns {Promise<import("./push.js").Push | null>}
 */
export async function nextRelays(tx) {
  const relays = /** @type {Relay[]} */ (await tx.getAll("relays"))
  const rank = (/** @type {Relay} */ {type}) => type === DELETED ? 0 : type === "tag" ? 1 : 2
  relays.sort((one, other) => rank(one) - rank(other))
  /** @type {import("./push.js").Push} */
  const push = {edits: [], made: [], deletions: [], relayed: true}
  let count = 0
  for (const {uniqueID, type, attributes, fixed} of relays) {
    if (++count > MOST_OBJECTS) break
    if (type === DELETED) {
      const {hash, ...deletion} = await tx.get("deleted", uniqueID)
      push.deletions.push(deletion)
      continue
    }
    const entity = /** @type {Held | undefined} */ (await tx.get("objects", uniqueID))
    if (!entity) { // deleted meanwhile
      tx.delete("relays", uniqueID)
      count -= 1
      continue
    }
    if (fixed) push.made.push({uniqueID, type: entity.type, fixed: entity.fixed})
    for (const attribute of attributes ?? Object.keys(entity.registers)) {
      const [value, clock] = entity.registers[attribute]
      push.edits.push({uniqueID, attribute, type: entity.type, value, clock})
    }
  }
  return count ? firstPart(push) : null
}

/**
 * What the server refused of what it lacked leaves the copy: there is what the server has.
 * @param {Transaction} tx @param {string} id @param {string} [attribute]  absent: what is set once
 */
export async function giveUpRelay(tx, id, attribute) {
  const [relay, standing] = await Promise.all([tx.get("relays", id), tx.get("objects", id)])
  if (!relay || !standing) return
  const {fixed, registers} = relay.theirs ?? {registers: {}}
  const rest = {...standing.registers}
  if (attribute) delete rest[attribute]
  if (attribute && registers[attribute]) rest[attribute] = registers[attribute]
  await replaceEntity(tx, {...standing, fixed: attribute ? standing.fixed : {...fixed}, registers: rest})
}

/**
 * Stamps all that is unsent anew, in its order, from the greatest clock that the server knows (merge.md, Ahead). A text
 * keeps its node, so that it descends from what of it the server may have.
 * @param {Transaction} tx  meta, unsent @param {boolean} [isNewNode]  with the node of this device instead
 */
export async function stampAgain(tx, isNewNode = false) {
  const clock = await clockIn(tx)
  const edits = /** @type {import("./push.js").Edit[]} */ (await tx.getAll("unsent"))
  clock.setBack()
  for (const one of edits.sort((a, b) => a.clock < b.clock ? -1 : 1)) {
    const node = isNewNode || one.attribute !== "text" ? clock.node : partsOf(one.clock).node
    tx.put("unsent", {...one, clock: clock.tick(Date.now(), node)})
  }
}

/**
 * Words of a note that was deleted elsewhere go into a new one, with its tags and attachments.
 * @param {Transaction} tx @param {Copy} copy @param {string} id @param {string} text
 */
export async function rescue(tx, copy, id, text) {
  const {creationDate, tags, attachments} = copy.note(id) ?? {tags: [], attachments: []}
  await rescueIn(tx, {uniqueID: id, creationDate, tags, attachments}, text)
}

/**
 * A live note here holds an attachment that was deleted: its bytes, if they are here, go up again under another ID.
 * @param {Transaction} tx @param {Copy} copy @param {Held} attachment
 */
export async function uploadAgain(tx, copy, {uniqueID, fixed}) {
  const bytes = await tx.get("bytes", uniqueID)
  if (!bytes) return
  for (const note of copy.entities()) {
    if (note.type !== "note" || !note.registers[`attachments.${uniqueID}`]?.[0]) continue
    const again = derivedID(uniqueID, note.uniqueID)
    const known = await Promise.all(["objects", "deleted", "made"].map(store => tx.get(store, again)))
    if (known.some(Boolean)) continue
    tx.put("made", {uniqueID: again, type: "attachment", fixed, needsBytes: true})
    tx.put("bytes", {...bytes, uniqueID: again})
    await edit(tx, "note", note.uniqueID, `attachments.${again}`, true)
  }
}

/**
 * Attachments that another note held are tried again when one lets go of them.
 * @param {Transaction} tx  shelf, unsent, meta @param {Entity[]} incoming @param {DeletedObject[]} deleted
 */
export async function tryHoldersAgain(tx, incoming, deleted) {
  const [keys, records] = await Promise.all([tx.getAllKeys("shelf"), tx.getAll("shelf")])
  for (const [at, {uniqueID, attribute, problem}] of records.entries()) {
    if (problem?.slug !== "attachment-in-use") continue
    const isFree = deleted.some(one => one.objectType === "note" && one.uniqueID !== uniqueID) ||
      incoming.some(one => one.uniqueID !== uniqueID && one.registers[attribute]?.[0] === false)
    if (!isFree || deleted.some(one => one.uniqueID === uniqueID)) continue
    tx.delete("shelf", keys[at])
    await edit(tx, "note", uniqueID, attribute, true)
  }
}
