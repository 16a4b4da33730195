// The object store `objects`. Its records are packs of objects, because IndexedDB takes as long for a small record as for a large one:
// in packs, a first sync is stored in a quarter of the time (docs/decisions/0082).
import {editedAt, exists, valueOf} from "../model/entity.js"

/** The maximum number of objects in a pack. An edit of one of them writes the pack again. */
const MOST_OBJECTS = 25
/** The maximum number of characters of the values in a pack of several objects. */
const MOST_CHARACTERS = 32_768
/** In the index `places`, tags come up to here, notes after it. */
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
    if (!last.length || last.length === MOST_OBJECTS || characters + own > MOST_CHARACTERS) {
      packs.push(last = [])
      characters = 0
    }
    last.push(object)
    characters += own
  }
  return packs
}

/** The record of a pack; without a number, that of a new one. */
const recordOf = (objects, number) => ({
  ...number !== undefined && {number}, objects, ids: objects.map(object => object.uniqueID),
  places: objects.map(placeOf).filter(place => place !== undefined),
})

/** Creates the object store, in the transaction that creates or upgrades the database. */
export const createPacks = (database, objects = []) => {
  const store = database.createObjectStore("objects", {keyPath: "number", autoIncrement: true})
  store.createIndex("ids", "ids", {unique: true, multiEntry: true})
  store.createIndex("places", "places", {multiEntry: true})
  for (const pack of divide(objects)) store.add(recordOf(pack))
}

/** The objects of one transaction. Changes are written by `flush`. */
export class Packs {
  #store
  /** The changed objects by ID; null: deleted. */
  #changed = new Map()

  /** @param {IDBObjectStore} store */
  constructor(store) {
    this.#store = store
  }

  #packOf = id => resultOf(this.#store.index("ids").get(id))

  async get(id) {
    if (!this.#changed.has(id)) {
      const pack = await this.#packOf(id)
      if (!this.#changed.has(id)) return pack?.objects.find(object => object.uniqueID === id)
    }
    return this.#changed.get(id) ?? undefined
  }

  /** Packs in the order of their numbers, after the pack `after`. */
  packs = (after = 0, most) => resultOf(this.#store.getAll(IDBKeyRange.lowerBound(after, true), most))

  async getAll() {
    await this.flush()
    return (await this.packs()).flatMap(pack => pack.objects)
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
    this.#changed.clear()
    this.#store.clear()
  }

  /**
   * Stores objects in new packs. If a pack would contain an object that exists, none of its objects are stored.
   *
   * @param {StoredObject[]} objects
   * @returns {Promise<StoredObject[]>} those that were stored
   */
  async add(objects) {
    const packs = divide(objects.filter(object => !this.#changed.has(object.uniqueID)))
    const stored = await Promise.all(packs.map(pack => new Promise((resolve, reject) => {
      const request = this.#store.add(recordOf(pack))
      request.onsuccess = () => resolve(pack)
      request.onerror = event => {
        if (request.error?.name !== "ConstraintError") return reject(request.error)
        event.preventDefault() // Otherwise the transaction would be aborted.
        resolve([])
      }
    })))
    return stored.flat()
  }

  /** Writes the changed objects: each pack once, new objects in new packs. */
  async flush() {
    const changed = new Map(this.#changed)
    this.#changed.clear()
    const found = await Promise.all([...changed.keys()].map(this.#packOf))
    const packs = new Map(found.filter(Boolean).map(pack => [pack.number, pack.objects]))
    const added = []
    for (const [number, before] of packs) {
      const now = before.map(object => changed.has(object.uniqueID) ? changed.get(object.uniqueID) : object)
      for (const object of before) changed.delete(object.uniqueID)
      const [kept, ...others] = divide(now.filter(Boolean))
      if (kept) this.#store.put(recordOf(kept, number))
      else this.#store.delete(number)
      added.push(...others)
    }
    added.push(...divide([...changed.values()].filter(Boolean)))
    for (const pack of added) this.#store.add(recordOf(pack))
  }
}
