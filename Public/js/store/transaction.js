// One IndexedDB transaction with promises, and the journal of what it wrote.

/** @typedef {{store: string, key: IDBValidKey, record: any}} Line what was written; `record` undefined: deleted */

/**
 * The result of one request.
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
const resultOf = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})

/**
 * What the body of `Copy.transaction` works with. Await nothing in it but its own requests: IndexedDB ends a
 * transaction that has none. A record that was put is not changed afterwards: memory keeps that very object.
 */
export class Transaction {
  /** @type {Line[]} */
  journal = []
  /**
   * What is done before the commit, once each (records.js).
   * @type {(() => Promise<void>)[]}
   */
  atEnd = []
  /** XOR of the hashes that came and went (records.js). */
  digest = ""
  /**
   * The clock of this transaction, if it was asked for (records.js).
   * @type {any}
   */
  clock = null
  #inner

  /** @param {IDBTransaction} inner */
  constructor(inner) {
    this.#inner = inner
    /**
     * Settles with the transaction.
     * @type {Promise<void>}
     */
    this.done = new Promise((resolve, reject) => {
      inner.oncomplete = () => resolve()
      inner.onabort = () => reject(inner.error)
    })
    this.done.catch(() => {}) // Whoever waits for it hears of it; until then nobody does.
  }

  /** @param {string} store @param {IDBValidKey} key @returns {Promise<any>} the record, or undefined */
  get(store, key) {
    return resultOf(this.#inner.objectStore(store).get(key))
  }

  /** @param {string} store @param {IDBKeyRange | null} [range] @param {number} [count] @returns {Promise<any[]>} */
  getAll(store, range, count) {
    return resultOf(this.#inner.objectStore(store).getAll(range, count))
  }

  /** @param {string} store @param {IDBKeyRange | null} [range] @param {number} [count] @returns {Promise<IDBValidKey[]>} */
  getAllKeys(store, range, count) {
    return resultOf(this.#inner.objectStore(store).getAllKeys(range, count))
  }

  /**
   * Records by an index: `unsent` has `uniqueID`, `objects` has `place`.
   * @param {string} store @param {string} index @param {IDBValidKey | IDBKeyRange} range @param {number} [count]
   * @returns {Promise<any[]>}
   */
  getAllBy(store, index, range, count) {
    return resultOf(this.#inner.objectStore(store).index(index).getAll(range, count))
  }

  /** @param {string} store @param {IDBKeyRange} [range] @returns {Promise<number>} */
  count(store, range) {
    return resultOf(this.#inner.objectStore(store).count(range))
  }

  /**
   * Puts a record; `key` for `meta`, and to replace one of an autoincrement store. Need not be awaited: if it fails,
   * the transaction does.
   * @param {string} store @param {any} record @param {IDBValidKey} [key]
   */
  put(store, record, key) {
    const line = {store, key: /** @type {any} */ (key), record}
    const request = this.#inner.objectStore(store).put(record, key)
    this.journal.push(line)
    request.onsuccess = () => { line.key = request.result }
  }

  /** @param {string} store @param {IDBValidKey} key */
  delete(store, key) {
    this.#inner.objectStore(store).delete(key)
    this.journal.push({store, key, record: undefined})
  }

  /**
   * Deletes everything in a store.
   * @param {string} store
   */
  clear(store) {
    this.#inner.objectStore(store).clear()
    this.journal.push({store, key: /** @type {any} */ (null), record: undefined})
  }

  abort() {
    try {
      this.#inner.abort()
    } catch {
      // It is over already.
    }
  }

  /**
   * Runs what has to come last, then commits.
   * @returns {Promise<void>}
   */
  async commit() {
    for (const task of this.atEnd) await task()
    try {
      this.#inner.commit?.()
    } catch {
      // It committed by itself, having nothing more to do.
    }
    return this.done
  }
}
