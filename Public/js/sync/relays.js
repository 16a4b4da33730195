// Giving back what a restored server lacks (protocol.md, Restored servers). The store `relays` lists it: at
// first everything that is here; reading from the start then removes what the server turns out to have.
import {replaceEntity} from "../store/records.js"
import {firstOf} from "./push.js"

/** The `type` of a relay that is a DeletedObject. */
const DELETED = "deleted object"

/**
 * Begins to read from the start. Needs `relays`, `objects`, `deleted`, `meta`.
 *
 * @param {Transaction} tx
 */
export const startOver = async tx => {
  const [relays, objects, deleted] = await Promise.all(["relays", "objects", "deleted"].map(store => tx.getAll(store)))
  const textsBefore = new Map(relays.map(({uniqueID, texts}) => [uniqueID, texts]))
  tx.clear("relays")
  for (const {uniqueID, type = DELETED, registers} of [...objects, ...deleted]) {
    // The text as it stands now: reading may replace it here before it is given back.
    const text = registers?.text
    const earlier = (textsBefore.get(uniqueID) ?? []).filter(one => one[1] !== text?.[1])
    tx.put("relays", {uniqueID, type, fixed: true, texts: [...earlier, ...text ? [text] : []]}, uniqueID)
  }
  const sync = await tx.get("meta", "sync")
  tx.put("meta", {...sync, token: null, serverDigest: null, startedOver: true, reading: true}, "sync")
}

/**
 * Notes what the server lacks of an object that it has. Needs `relays`.
 *
 * @param {Transaction} tx
 * @param {StoredObject} ours
 * @param {Entity} theirs
 */
export const compare = async (tx, {uniqueID, type, fixed, registers}, theirs) => {
  const clockOf = name => theirs.registers[name]?.[1] ?? ""
  const texts = (await tx.get("relays", uniqueID))?.texts?.filter(([, clock]) => clock !== clockOf("text")) ?? []
  const isLacking = name => name === "text" ? texts.length : registers[name][1] > clockOf(name)
  const attributes = Object.keys(registers).filter(isLacking)
  const isFixedLacking = ([name, value]) =>
    !(name in theirs.fixed) || (name === "creationDate" && value < theirs.fixed[name])
  const relay = {uniqueID, type, attributes, fixed: Object.entries(fixed).some(isFixedLacking), theirs, texts}
  if (relay.fixed || attributes.length) tx.put("relays", relay, uniqueID)
  else tx.delete("relays", uniqueID)
}

/**
 * The next push of what the server lacks. Needs `relays`, `objects`, `deleted`.
 *
 * @param {Transaction} tx
 * @param {number} mostObjects
 * @returns {Promise<Push>}
 */
export const nextRelays = async (tx, mostObjects) => {
  const parts = []
  const deletions = []
  await Promise.all((await tx.getAll("relays")).map(async ({uniqueID, type, attributes, fixed, texts = []}) => {
    const {hash, ...standing} = await tx.get(type === DELETED ? "deleted" : "objects", uniqueID)
    if (type === DELETED) return deletions.push(standing)
    const {registers} = standing
    const made = fixed ? {uniqueID, type, fixed: standing.fixed} : undefined
    const edits = (attributes ?? Object.keys(registers)).map(attribute => {
      const [value, clock] = attribute === "text" && texts[0] || registers[attribute]
      return {uniqueID, attribute, type, value, clock, base: clock, after: []}
    })
    parts.push({uniqueID, type, made, edits})
  }))
  return firstOf(parts, deletions, mostObjects, true)
}

/**
 * Notes that an object was given back. If it has another text to give back, that is the next: a push has one text of each
 * note. Needs `relays`.
 *
 * @param {Transaction} tx
 * @param {string} id
 */
export const markGiven = async (tx, id) => {
  const {texts = [], ...relay} = await tx.get("relays", id) ?? {}
  if (texts.length < 2) tx.delete("relays", id)
  else tx.put("relays", {...relay, fixed: false, attributes: ["text"], texts: texts.slice(1)}, id)
}

/**
 * Removes from this copy what the server refused to take back, so that both are equal again. Needs `relays`, `objects`, `meta`.
 *
 * @param {Transaction} tx
 * @param {string} id
 * @param {string} [attribute] without it, what is set once
 */
export const giveUp = async (tx, id, attribute = "") => {
  const {theirs} = await tx.get("relays", id)
  const {registers: {...registers}, ...object} = await tx.get("objects", id)
  if (!attribute) object.fixed = theirs?.fixed ?? {}
  else if (theirs?.registers[attribute]) registers[attribute] = theirs.registers[attribute]
  else delete registers[attribute]
  await replaceEntity(tx, {...object, registers})
}
