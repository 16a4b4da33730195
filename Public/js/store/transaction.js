// One IndexedDB transaction with promises, and the journal of what it wrote.


/** @type {<T>(request: IDBRequest<T>) => Promise<T>} */
const resultOf = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})

/**
 * Await nothing in a transaction but its own requests: one that has none ends. A record that was put is not changed
 * afterwards: memory keeps that very object.
 */
export class Transaction {
  /** @type {JournalLine[]} */
  journal = []
  /**
   * What comes last, before the commit.
   * @type {(() => unknown)[]}
   */
  atEnd = []
  /**
   * Of records.js: the clock, and what is to be added to the digest.
   * @type {import("../model/clock.js").ClockSource | null}
   */
  clock = null
  digest = ""
  #inner

  /** @param {IDBTransaction} inner */
  constructor(inner) {
    this.#inner = inner
    /** @type {Promise<void>} */
    this.done = new Promise((resolve, reject) => {
      inner.oncomplete = () => resolve()
      inner.onabort = () => reject(inner.error)
    })
    this.done.catch(() => {}) // Whoever commits hears of it.
  }

  /** @type {(store: string, key: IDBValidKey) => Promise<any>} */
  get(store, key) {
    return resultOf(this.#inner.objectStore(store).get(key))
  }

  /** @param {string} store @param {IDBKeyRange} [range] @param {number} [most] @returns {Promise<any[]>} */
  getAll(store, range, most) {
    return resultOf(this.#inner.objectStore(store).getAll(range, most))
  }

  /** @param {string} store @param {string} [index] `lastUse` of `bytes`: in its order @returns {Promise<any[]>} */
  getAllKeys(store, index) {
    const from = this.#inner.objectStore(store)
    return resultOf((index ? from.index(index) : from).getAllKeys())
  }

  /**
   * By an index: `uniqueID` of `unsent`, `place` of `objects`.
   * @param {string} store @param {string} index @param {any} range @param {number} [most] @returns {Promise<any[]>}
   */
  getAllBy(store, index, range, most) {
    return resultOf(this.#inner.objectStore(store).index(index).getAll(range, most))
  }

  /** @param {string} store @param {IDBKeyRange} [range] @returns {Promise<number>} */
  count(store, range) {
    return resultOf(this.#inner.objectStore(store).count(range))
  }

  /**
   * Need not be awaited: if it fails, the transaction does.
   * @param {string} store @param {any} record @param {IDBValidKey} [key]
   */
  put(store, record, key) {
    /** @type {JournalLine} */
    const line = {store, key, record}
    const request = this.#inner.objectStore(store).put(record, key)
    request.onsuccess = () => { line.key = request.result }
    this.journal.push(line)
  }

  /** @type {(store: string, key: IDBValidKey) => void} */
  delete(store, key) {
    this.#inner.objectStore(store).delete(key)
    this.journal.push({store, key, record: undefined})
  }

  /** @type {(store: string) => void} */
  clear(store) {
    this.#inner.objectStore(store).clear()
    this.journal.push({store, key: null, record: undefined})
  }

  /** Resolves when it is on the disk. */
  async commit() {
    for (const task of this.atEnd) await task()
    return this.done
  }

  /**
   * The error that ended it, or `thrown`, for which it is ended.
   * @type {(thrown: any) => Promise<any>}
   */
  async abort(thrown) {
    try {
      this.#inner.abort()
    } catch {} // It is over.
    return this.done.catch(error => error ?? thrown).then(error => error ?? thrown)
  }
}
