// The IndexedDB database, and what goes wrong in words.
import {Transaction} from "./transaction.js"

/**
 * The object stores and their keys.
 * @type {Object<string, IDBObjectStoreParameters>}
 */
const STORES = {
  objects: {keyPath: "uniqueID"}, deleted: {keyPath: "uniqueID"}, unsent: {keyPath: ["uniqueID", "attribute"]},
  made: {keyPath: "uniqueID"}, deletions: {keyPath: "uniqueID"}, bytes: {keyPath: "uniqueID"},
  uploads: {keyPath: "uniqueID"}, shelf: {autoIncrement: true}, notices: {autoIncrement: true},
  relays: {autoIncrement: true}, meta: {},
}
export const ALL_STORES = Object.keys(STORES)
const VERSION = 1
const TRIES = 4 // more to open it, after 0.1, 0.2, 0.4 and 0.8 s
const PATIENCE = 15_000 // ms that opening may take: some browsers never answer

/** @type {Object<string, string>} */
const SENTENCES = {
  unavailable: "This browser keeps nothing here. Leave private browsing or allow the page to store data, and reload.",
  "newer-version": "A newer version of Hesper was used here. Reload the page to get it.",
  blocked: "An older version of Hesper is open in another tab. Close the other tabs and reload.",
  outdated: "A newer version of Hesper is open in another tab. Reload this one.",
  full: "This browser has no room left. Free some space on the disk and do it again.",
  broken: "The browser could not read or write what it stores. Reload the page; what was saved is kept.",
  "signed-out": "Nobody is signed in here. Sign in and do it again.",
  gone: "That was deleted meanwhile.",
  missing: "That is not here yet. Wait until everything is fetched and do it again.",
  "too-large": "The server takes nothing as large as that. Make it smaller or split it.",
  unreadable: "The file could not be read. Choose it again.",
  invalid: "That cannot be kept. Change it and try again.",
}

/** What the local store cannot do; `message` is for people and says the next step. */
export class StoreError extends Error {
  name = "StoreError"

  /** @param {string} slug @param {unknown} [cause] */
  constructor(slug, cause) {
    super(SENTENCES[slug])
    this.slug = slug
    this.cause = cause
  }

  /**
   * What the browser threw.
   * @type {(error: any, otherwise?: string) => StoreError}
   */
  static of(error, otherwise = "broken") {
    if (error instanceof StoreError) return error
    /** @type {Object<string, string>} */
    const slugs = {QuotaExceededError: "full", VersionError: "newer-version"}
    return new StoreError(slugs[error?.name] ?? otherwise, error)
  }
}

/** @type {(name: string) => Promise<IDBDatabase>} */
const connect = name => new Promise((resolve, reject) => {
  let problem = "unavailable"
  const request = indexedDB.open(name, VERSION)
  const timer = setTimeout(() => {
    request.onsuccess = () => request.result.close()
    reject(new StoreError(problem))
  }, PATIENCE)
  // Other tabs close as soon as they hear of it, unless they hang.
  request.onblocked = () => { problem = "blocked" }
  request.onupgradeneeded = () => {
    for (const store in STORES) request.result.createObjectStore(store, STORES[store])
    request.transaction?.objectStore("objects").createIndex("place", "place") // records.js
    request.transaction?.objectStore("unsent").createIndex("uniqueID", "uniqueID")
    request.transaction?.objectStore("bytes").createIndex("lastUse", "lastUse")
  }
  request.onerror = () => reject(StoreError.of(request.error, "unavailable"))
  request.onsuccess = () => {
    clearTimeout(timer)
    resolve(request.result)
  }
})

/** A connection that comes back when the browser closes it. */
export class Database {
  /** @type {Promise<IDBDatabase> | null} */
  #connection = null
  #isOutdated = false

  /**
   * @param {string} name
   * @param {(isOutdated: boolean) => void} lost the browser closed it and may have emptied it, or for a newer version
   */
  constructor(name, lost) {
    this.name = name
    this.lost = lost
  }

  /** @returns {Promise<IDBDatabase>} */
  async #open(tries = 0) {
    const connection = await connect(this.name).catch(async error => {
      // While it is being emptied it closes as soon as it is open.
      if (error.cause?.name !== "AbortError" || tries === TRIES) throw StoreError.of(error, "unavailable")
      await new Promise(resolve => setTimeout(resolve, 100 << tries))
      return this.#open(tries + 1)
    })
    connection.onclose = () => this.#lose()
    connection.onversionchange = ({newVersion}) => {
      connection.close()
      this.#isOutdated = newVersion !== null
      this.#lose()
    }
    return connection
  }

  #lose() {
    this.#connection = null
    this.lost(this.#isOutdated)
  }

  /** @type {(stores: string[], mode: IDBTransactionMode, isAgain?: boolean) => Promise<Transaction>} */
  async begin(stores, mode, isAgain = false) {
    if (this.#isOutdated) throw new StoreError("outdated")
    const opening = this.#connection ??= this.#open()
    try {
      const connection = await opening
      // What is unsent is nowhere else: it is on the disk before it counts as saved.
      const durability = mode === "readwrite" ? "strict" : "default"
      return new Transaction(connection.transaction(stores, mode, {durability}))
    } catch (error) {
      if (this.#connection === opening) this.#connection = null
      // Closed or lost without a word.
      if (!isAgain && error instanceof DOMException) return this.begin(stores, mode, true)
      throw StoreError.of(error)
    }
  }

  /** For good. */
  close() {
    this.#isOutdated = true
    this.#connection?.then(connection => connection.close(), () => {})
  }
}
