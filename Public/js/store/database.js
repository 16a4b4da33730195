// The database: IndexedDB with promises, a mirror of it in memory (docs/decisions/0028), and the messages with which the tabs
// of one browser keep their mirrors equal.
import {rawMembers} from "../model/entity.js"
import {Packs, createPacks, resultOf} from "./packs.js"

/** The object stores and their keys, except `objects`; null: numbered. Their records are described in types.d.ts. */
const KEYS = {
  deleted: "uniqueID", unsent: ["uniqueID", "attribute"], made: "uniqueID", deletions: "uniqueID", bytes: "uniqueID",
  uploads: "uniqueID", shelf: null, notices: null, relays: null, meta: null,
}
const INDEXES = {unsent: "uniqueID", bytes: "lastUse"}
/** Until version 2, the store `objects` had a record for each object. */
const VERSION = 3
/** The event that tells of a change in a store. */
const EVENTS = {deletions: "held", notices: "notice", shelf: "shelf"}
/** Stores whose keys are not IDs of objects. */
const NOT_OF_OBJECTS = ["shelf", "notices", "meta"]
/** Stores that are read at once when the database opens. */
const SMALL = ["unsent", "made", "deletions", "deleted", ...NOT_OF_OBJECTS]
/** Stores that are mirrored in memory; of `bytes` only the keys. */
const MIRRORED = [...SMALL, "objects", "bytes"]
/** How many notes are read before all others. */
export const FIRST_NOTES = 50
/** How many packs of objects are read at a time after that. */
const BATCH = 20
const MAX_RETRIES = 4
/** The slugs of StoreErrors, by the names of DOMExceptions; "unavailable" for all others. */
const SLUGS = {QuotaExceededError: "full", VersionError: "newer-version"}
export const ALL_STORES = ["objects", ...Object.keys(KEYS)]

/** What a person can be told: index.html has words for each slug. */
export class StoreError extends Error {
  name = "StoreError"

  constructor(slug, cause) {
    super(slug, {cause})
    this.slug = slug
  }
}

/** Puts the objects of an earlier version into packs, in the transaction that upgrades the database. */
const packObjects = (database, store) => {
  const request = store.getAll()
  request.onsuccess = () => {
    database.deleteObjectStore("objects")
    createPacks(database, request.result.map(({place, ...object}) => object))
  }
}

/** Opens the database. `lose` is called when the browser closes it. */
const connect = async (name, lose) => {
  if (!globalThis.indexedDB) throw new StoreError("unavailable")
  const request = indexedDB.open(name, VERSION)
  /** @type {IDBTransaction | null} */
  let upgrade = null
  request.onupgradeneeded = ({oldVersion}) => {
    upgrade = request.transaction
    if (oldVersion) return packObjects(request.result, upgrade?.objectStore("objects"))
    createPacks(request.result)
    for (const store in KEYS) {
      const made = request.result.createObjectStore(store, {keyPath: KEYS[store], autoIncrement: !KEYS[store]})
      if (INDEXES[store]) made.createIndex(INDEXES[store], INDEXES[store])
    }
  }
  // If an upgrade fails, for example because the disk is full, only the error of its transaction names the reason.
  const connection = await resultOf(request).catch(error => { throw upgrade?.error ?? error })
  // When the person clears the site's data, and when a newer version of the app is opened in another tab.
  connection.onclose = lose
  connection.onversionchange = () => {
    connection.close()
    lose()
  }
  return connection
}

/** @implements {Transaction} */
class Transacting {
  journal = []
  atEnd = []
  clock = null
  digest = ""
  #inner
  #packs

  constructor(inner) {
    this.#inner = inner
  }

  async run(body) {
    const inner = this.#inner
    const done = new Promise((resolve, reject) => {
      inner.oncomplete = resolve
      inner.onabort = () => reject(inner.error)
    })
    try {
      const result = await body(this)
      for (const task of this.atEnd) await task()
      await this.#packs?.flush()
      await done
      return result
    } catch (thrown) {
      try {
        inner.abort()
      } catch {} // It has ended already.
      // The error of the transaction explains more than the one that followed from it.
      throw await done.then(() => thrown, error => error ?? thrown)
    }
  }

  #from(store, index) {
    const from = this.#inner.objectStore(store)
    return index ? from.index(index) : from
  }

  get packs() {
    return this.#packs ??= new Packs(this.#from("objects"))
  }

  get = (store, key) => store === "objects" ? this.packs.get(key) : resultOf(this.#from(store).get(key))
  getAll = store => store === "objects" ? this.packs.getAll() : resultOf(this.#from(store).getAll())
  getAllBy = (store, index, range) => resultOf(this.#from(store, index).getAll(range))
  getAllKeys = (store, index) => resultOf(this.#from(store, index).getAllKeys())
  count = (store, range) => resultOf(this.#from(store).count(range))

  put(store, record, key) {
    const line = {store, key, record}
    this.journal.push(line)
    if (store === "objects") {
      line.key = record.uniqueID
      return this.packs.put(record)
    }
    const request = this.#from(store).put(record, key)
    request.onsuccess = () => { line.key = request.result }
  }

  async addObjects(objects) {
    const stored = await this.packs.add(objects)
    this.journal.push(...objectLines(stored))
    return stored
  }

  delete(store, key) {
    if (store === "objects") this.packs.delete(key)
    else this.#from(store).delete(key)
    this.journal.push({store, key})
  }

  clear(store) {
    if (store === "objects") this.packs.clear()
    else this.#from(store).clear()
    this.journal.push({store, key: null})
  }
}

const linesOf = (store, keys, records) => keys.map((key, at) => ({store, key, record: records[at]}))
const objectLines = records => linesOf("objects", records.map(record => record.uniqueID), records)

/** The database and its mirror in memory. `Copy` adds what the records mean. */
export class Database extends EventTarget {
  /** @type {any} */
  memory = Object.fromEntries(MIRRORED.map(store => [store, new Map()]))
  loaded = Promise.resolve()
  #name
  #channel
  #opening

  /**
   * Brings the mirror up to date.
   *
   * @param {JournalLine[]} lines
   * @returns {any} the IDs of objects that changed; null: any
   */
  take(lines) {
    const ids = new Set()
    for (let {store, key, record} of lines) {
      const map = this.memory[store]
      const [id, attribute] = [key].flat()
      if (!NOT_OF_OBJECTS.includes(store)) for (const one of key === null ? map.keys() : [id]) ids.add(one)
      if (attribute) {
        // `unsent` is a map of maps.
        const edits = new Map(map.get(id))
        record ? edits.set(attribute, record) : edits.delete(attribute)
        record = edits.size && edits
      }
      if (key === null) map.clear()
      else if (record) map.set(id, store === "bytes" || record)
      else map.delete(id)
    }
    return ids
  }

  /** See `LocalCopy`. After a lost connection or a full disk it is tried again. */
  async transaction(stores, mode, body, source = "sync", tries = 0) {
    const opening = this.#opening ??= connect(this.#name, this.#lose)
    opening.catch(() => { if (this.#opening === opening) this.#opening = undefined })
    try {
      const tx = new Transacting((await opening).transaction(stores, mode, {durability: "strict"}))
      const result = await tx.run(body)
      // The clock is read in each transaction: no mirror needs it.
      const lines = tx.journal.filter(({store, key}) => MIRRORED.includes(store) && key !== "clock")
      if (lines.length) {
        this.#channel.postMessage({lines: lines.map(({store, key}) => ({store, key})), source})
        this.#follow(lines, source)
      }
      return result
    } catch (/** @type {any} */ thrown) {
      const slug = SLUGS[thrown.name] ?? "unavailable"
      const error = thrown instanceof DOMException ? new StoreError(slug, thrown) : thrown
      const isLost = error.slug === "unavailable"
      if (isLost && this.#opening === opening) this.#opening = undefined
      const canRetry = isLost || error.slug === "full" && (tries || await this.#makeRoom())
      if (tries === MAX_RETRIES || !canRetry) throw error
      await new Promise(resolve => setTimeout(resolve, 200 << tries))
      return this.transaction(stores, mode, body, source, tries + 1)
    }
  }

  /** Gives up half of the bytes that the server has too, the oldest. How many that were. */
  #makeRoom() {
    return this.transaction(["bytes"], "readwrite", async tx => {
      const ids = (await tx.getAllKeys("bytes", "lastUse")).filter(id => !this.memory.made.has(id))
      for (const id of ids.slice(0, Math.ceil(ids.length / 2))) tx.delete("bytes", id)
      return ids.length
    }, "here", MAX_RETRIES).catch(() => 0)
  }

  /** Resolves when the newest notes are in memory; `loaded` when everything is. */
  open(name) {
    this.#name = name
    this.#channel = new BroadcastChannel(name)
    this.#channel.onmessage = ({data}) => this.#readAgain(data).catch(this.#fail)
    return new Promise((resolve, reject) => {
      this.loaded = this.#load(lines => resolve(this.take(lines))).then(() => this.#tell(null), error => {
        reject(error)
        this.#fail(error)
      })
    })
  }

  /** After the connection was lost, the database may be empty: everything is read again, and taken in at once. */
  #lose = async () => {
    this.#opening = undefined
    const pages = [MIRRORED.map(store => ({store, key: null}))]
    await this.#load(lines => pages.push(lines)).then(() => this.#follow(pages.flat()), this.#fail)
  }

  /** Reads everything, beginning with the notes that were edited last, here or on other devices, and their tags and attachments. */
  #load(show) {
    return this.transaction(MIRRORED, "readonly", async tx => {
      const [bytes, objects, ...small] = await Promise.all([
        tx.getAllKeys("bytes"),
        tx.packs.first(FIRST_NOTES),
        ...SMALL.map(async store => linesOf(store, ...await Promise.all([tx.getAllKeys(store), tx.getAll(store)]))),
      ])
      const texts = small[SMALL.indexOf("unsent")].filter(({record}) => record.attribute === "text")
      const last = texts.sort((a, b) => a.record.clock > b.record.clock ? -1 : 1).slice(0, FIRST_NOTES)
      objects.push(...(await Promise.all(last.map(({key: [id]}) => tx.get("objects", id)))).filter(Boolean))
      const members = objects.flatMap(object => rawMembers(object, "attachments"))
      const attachments = await Promise.all(members.map(({id}) => tx.get("objects", id)))
      show([...small.flat(), ...linesOf("bytes", bytes, bytes), ...objectLines([...objects, ...attachments.filter(Boolean)])])
      for (let packs, last; !packs || packs.length === BATCH; last = packs.at(-1)?.number) {
        packs = await tx.packs.read(last, BATCH)
        show(objectLines(packs.flatMap(pack => pack.objects)))
      }
    })
  }

  /** Reads what another tab wrote. Messages may overtake each other, transactions do not: so messages hold no records. */
  async #readAgain({lines, source}) {
    const stores = lines.map(({store}) => store)
    const now = await this.transaction(stores, "readonly", tx => Promise.all(lines.map(async ({store, key}) =>
      ({store, key, record: key !== null && await (store === "bytes" ? tx.count(store, key) : tx.get(store, key))}))))
    this.#follow(now, source === "sync" ? source : "tab")
  }

  /** Takes in what was written, and tells of it. */
  #follow(lines, source = "tab") {
    const events = lines.map(({store, key}) => store === "meta" ? key ?? "session" : EVENTS[store])
    this.#tell(this.take(lines), source, events)
  }

  #tell(ids, source = "tab", events = []) {
    if (ids?.size !== 0) this.dispatchEvent(new CustomEvent("change", {detail: {ids, source}}))
    for (const name of new Set(events)) if (name) this.dispatchEvent(new Event(name))
  }

  #fail = error => this.dispatchEvent(new CustomEvent("trouble", {detail: error}))
}
