// The IndexedDB database: its object stores, opening it, and what went wrong in words.

/** Names of the object stores, and how each is made. Version 1. */
const STORES = /** @type {Object<string, IDBObjectStoreParameters>} */ ({
  objects: {keyPath: "uniqueID"},
  deleted: {keyPath: "uniqueID"},
  unsent: {keyPath: ["uniqueID", "attribute"]},
  made: {keyPath: "uniqueID"},
  deletions: {keyPath: "uniqueID"},
  bytes: {keyPath: "uniqueID"},
  uploads: {keyPath: "uniqueID"},
  shelf: {autoIncrement: true},
  notices: {autoIncrement: true},
  meta: {},
  relays: {autoIncrement: true},
})
export const ALL_STORES = Object.keys(STORES)
const VERSION = 1
const OPENING = 15_000 // ms until opening counts as failed: some browsers never answer

/** What a slug means to a person, with the next step. */
const SENTENCES = /** @type {Object<string, string>} */ ({
  unavailable: "This browser keeps nothing for Hesper. Leave private browsing, or allow this page to store data, and reload.",
  "newer-version": "A newer version of Hesper was used here. Reload the page to get it.",
  blocked: "Another tab with an older version of Hesper is open. Close the other tabs and reload.",
  outdated: "A newer version of Hesper is open in another tab. Reload this one.",
  full: "There is no room left in this browser's storage. Free some space on the disk, then do the last change again.",
  broken: "The browser could not read or write its storage. Reload the page; what was saved is kept.",
  "signed-out": "Nobody is signed in here. Sign in, then do it again.",
  gone: "That was deleted meanwhile. Your words can go into a new note.",
  missing: "That is not on this device. Wait until everything is here, then do it again.",
  "too-large": "That is larger than the server takes. Make it smaller or split it.",
  invalid: "That value cannot be kept. Change it and try again.",
})

/** A fault of the local store: `slug` says which, `message` is a sentence with the next step. */
export class StoreError extends Error {
  /** @param {string} slug @param {unknown} [cause] @param {string} [message] */
  constructor(slug, cause, message = SENTENCES[slug]) {
    super(message)
    this.name = "StoreError"
    this.slug = slug
    this.cause = cause
  }

  /**
   * What the browser threw, as a StoreError.
   * @param {any} error @param {string} [otherwise] @returns {StoreError}
   */
  static of(error, otherwise = "broken") {
    if (error instanceof StoreError) return error
    const slugs = /** @type {Object<string, string>} */ ({QuotaExceededError: "full", VersionError: "newer-version"})
    return new StoreError(slugs[error?.name] ?? otherwise, error)
  }
}

/** @param {string} name @returns {Promise<IDBDatabase>} */
function openOnce(name) {
  return new Promise((resolve, reject) => {
    let late = false
    /** @param {StoreError} error */
    const fail = error => {
      late = true
      reject(error)
    }
    let slug = "unavailable"
    const timer = setTimeout(() => fail(new StoreError(slug)), OPENING)
    const request = indexedDB.open(name, VERSION)
    request.onblocked = () => { slug = "blocked" } // The others close as soon as they hear of it, unless they hang.
    request.onupgradeneeded = () => {
      for (const [store, options] of Object.entries(STORES)) request.result.createObjectStore(store, options)
      const stores = request.transaction
      // `place` of notes and tags only: tags, then notes in the order of the list (records.js).
      stores?.objectStore("objects").createIndex("place", "place")
      stores?.objectStore("unsent").createIndex("uniqueID", "uniqueID")
    }
    request.onerror = () => {
      clearTimeout(timer)
      fail(StoreError.of(request.error, "unavailable"))
    }
    request.onsuccess = () => {
      clearTimeout(timer)
      if (late) request.result.close()
      else resolve(request.result)
    }
  })
}

/** A connection that comes back when the browser closes it. */
export class Database {
  /** @type {Promise<IDBDatabase> | null} */
  #connection = null
  #isOutdated = false

  /**
   * @param {string} name
   * @param {{lost: () => void, outdated: () => void}} told `lost`: the browser closed it, and may have emptied it
   */
  constructor(name, told) {
    this.name = name
    this.told = told
  }

  /** @returns {Promise<IDBDatabase>} */
  open() {
    if (this.#isOutdated) return Promise.reject(new StoreError("outdated"))
    this.#connection ??= this.#connect().catch(error => {
      this.#connection = null
      throw StoreError.of(error, "unavailable")
    })
    return this.#connection
  }

  async #connect() {
    if (!globalThis.indexedDB) throw new StoreError("unavailable")
    const connection = await openOnce(this.name)
    const forget = () => {
      this.#connection = null
      this.told.lost()
    }
    connection.onclose = forget
    connection.onversionchange = event => {
      connection.close()
      if (event.newVersion === null) return forget() // deleted, not replaced
      this.#isOutdated = true
      this.told.outdated()
    }
    return connection
  }

  /** @param {string[]} stores @param {IDBTransactionMode} mode @returns {Promise<IDBTransaction>} */
  async begin(stores, mode) {
    for (let attempt = 0; ; attempt++) {
      const connection = await this.open()
      try {
        // What is unsent is nowhere else, so it is on the disk before anybody is told that it is saved.
        return connection.transaction(stores, mode, {durability: mode === "readwrite" ? "strict" : "default"})
      } catch (error) {
        if (attempt || /** @type {any} */ (error).name !== "InvalidStateError") throw StoreError.of(error)
        this.#connection = null // closed without a word
      }
    }
  }

  close() {
    this.#connection?.then(connection => connection.close(), () => {})
    this.#connection = null
  }
}
