// The object store `objects`. Each record is a pack: an array of objects with their IDs. IndexedDB needs almost the same time for a
// small record as for a large one, so storing a first sync in packs takes a quarter of the time (docs/decisions/0082).
import {editedAt, exists, valueOf} from "../model/entity.js"

/** The maximum number of objects in a pack. When one of them changes, the whole pack is written. */
const MAX_OBJECTS = 25
/** The maximum number of characters in the values of a pack. A larger object has a pack of its own. */
const MAX_CHARACTERS = 32_768
/** The key of tags in the index `places`. The keys of notes are greater. */
const TAGS = -8e15

export const resultOf = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})

/**
 * The key of an object in the index `places`: tags first, then pinned notes, other notes, archived notes, each by the date of the last
 * edit, newest first.
 *
 * @param {Entity} entity
 * @returns {number | undefined} undefined: not in the index
 */
const placeOf = entity => {
  if (!exists(entity)) return undefined
  if (entity.type === "tag") return TAGS
  if (entity.type !== "note") return undefined
  const rank = valueOf(entity, "archived") ? 1e15 : valueOf(entity, "attributes.pinned") === true ? -1e15 : 0
  return rank - (Date.parse(editedAt(entity).slice(0, 24)) || 0)
}

const charactersOf = ({fixed, registers}) => [...Object.values(fixed), ...Object.values(registers).map(([value]) => value)]
  .reduce((sum, value) => sum + (typeof value === "string" ? value : JSON.stringify(value ?? null)).length, 0)

/** Divides objects into packs. */
const divide = objects => {
  /** @type {StoredObject[][]} */
  const packs = []
  /** @type {StoredObject[]} */
  let last = []
  let characters = 0
  for (const object of objects) {
    const own = charactersOf(object)
    if (!last.length || last.length === MAX_OBJECTS || characters + own > MAX_CHARACTERS) {
      packs.push(last = [])
      characters = 0
    }
    last.push(object)
    characters += own
  }
  return packs
}

/** The record of a pack. Without a number, it is the record of a new pack. */
const packRecord = (objects, number) => ({
  ...number !== undefined && {number}, objects, ids: objects.map(object => object.uniqueID),
  places: objects.map(placeOf).filter(place => place !== undefined),
})

/** Creates the object store, in the transaction that creates or upgrades the database. */
export const createPacks = (database, objects = []) => {
  const store = database.createObjectStore("objects", {keyPath: "number", autoIncrement: true})
  store.createIndex("ids", "ids", {unique: true, multiEntry: true})
  store.createIndex("places", "places", {multiEntry: true})
  for (const pack of divide(objects)) store.add(packRecord(pack))
}

/** Reads and changes objects in one transaction. `flush` writes the changes. */
export class Packs {
  #store
  /** The changed objects by ID; null: deleted. */
  #changed = new Map()
  /** The numbers of packs by the IDs of their objects, as promises. */
  #numbers = new Map()
  /** The objects of packs by their numbers, as promises. */
  #contents = new Map()

  /** @param {IDBObjectStore} store */
  constructor(store) {
    this.#store = store
  }

  #once(map, key, read) {
    if (!map.has(key)) map.set(key, read())
    return map.get(key)
  }

  #numberOf = id => this.#once(this.#numbers, id, () => resultOf(this.#store.index("ids").getKey(id)))
  #objectsOf = number => this.#once(this.#contents, number, async () => (await resultOf(this.#store.get(number))).objects)

  async get(id) {
    const number = await this.#numberOf(id)
    const objects = number === undefined ? [] : await this.#objectsOf(number)
    if (this.#changed.has(id)) return this.#changed.get(id) ?? undefined
    return objects.find(object => object.uniqueID === id)
  }

  /** At most `most` packs whose numbers are greater than `after`, in the order of their numbers. */
  read = (after = 0, most) => resultOf(this.#store.getAll(IDBKeyRange.lowerBound(after, true), most))

  async getAll() {
    await this.flush()
    return (await this.read()).flatMap(pack => pack.objects)
  }

  /** All tags, then the first `most` notes, in the order of the index. */
  async first(most) {
    const places = this.#store.index("places")
    const numbers = await Promise.all([
      resultOf(places.getAllKeys(IDBKeyRange.upperBound(TAGS))),
      resultOf(places.getAllKeys(IDBKeyRange.lowerBound(TAGS, true), most)),
    ])
    const packs = await Promise.all([...new Set(numbers.flat())].map(number => resultOf(this.#store.get(number))))
    const placed = packs.flatMap(pack => pack.objects).map(object => ({object, place: placeOf(object) ?? Infinity}))
    const inOrder = placed.filter(({place}) => place < Infinity).sort((a, b) => a.place - b.place)
    const tags = inOrder.filter(({place}) => place <= TAGS).length
    return inOrder.slice(0, tags + most).map(({object}) => object)
  }

  put(object) {
    this.#changed.set(object.uniqueID, object)
  }

  delete(id) {
    this.#changed.set(id, null)
  }

  clear() {
    for (const map of [this.#changed, this.#numbers, this.#contents]) map.clear()
    this.#store.clear()
  }

  /**
   * Stores objects in new packs. If one object of a pack exists already, no object of this pack is stored.
   *
   * @param {StoredObject[]} objects
   * @returns {Promise<StoredObject[]>} the stored objects
   */
  async add(objects) {
    const packs = divide(objects.filter(object => !this.#changed.has(object.uniqueID)))
    const stored = await Promise.all(packs.map(pack => new Promise((resolve, reject) => {
      const request = this.#store.add(packRecord(pack))
      request.onsuccess = () => resolve(pack)
      request.onerror = event => {
        if (request.error?.name !== "ConstraintError") return reject(request.error)
        event.preventDefault() // Otherwise the transaction would be aborted.
        resolve([])
      }
    })))
    for (const object of stored.flat()) this.#numbers.delete(object.uniqueID)
    return stored.flat()
  }

  /** Writes the changed objects. Each pack is written once, and new objects are stored in new packs. */
  async flush() {
    const changed = new Map(this.#changed)
    this.#changed.clear()
    const numbers = new Set(await Promise.all([...changed.keys()].map(this.#numberOf)))
    numbers.delete(undefined)
    const packs = await Promise.all([...numbers].map(async number => ({number, before: await this.#objectsOf(number)})))
    this.#numbers.clear()
    this.#contents.clear()
    const added = []
    for (const {number, before} of packs) {
      const now = before.map(object => changed.has(object.uniqueID) ? changed.get(object.uniqueID) : object)
      for (const object of before) changed.delete(object.uniqueID)
      const [kept, ...others] = divide(now.filter(Boolean))
      if (kept) this.#store.put(packRecord(kept, number))
      else this.#store.delete(number)
      added.push(...others)
    }
    added.push(...divide([...changed.values()].filter(Boolean)))
    for (const pack of added) this.#store.add(packRecord(pack))
  }
}
