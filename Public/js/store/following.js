// The tab's memory follows the database: it loads it, takes in what this tab commits, and reads again what others did.
import {Database, StoreError} from "./database.js"
import {BY_ID, WHOLE} from "./memory.js"
import {NoteList} from "./note-list.js"
import {TAGS_END} from "./records.js"
import {Transaction} from "./transaction.js"

/** @typedef {import("./transaction.js").Line} Line */
/** @typedef {"here" | "tab" | "sync"} Source who changed something: this tab's person, another tab's, the server */
/** @typedef {{kind: "changed", ids: string[] | null, stores: string[], events: string[], source: Source}} Message */

const FIRST = 50 // notes that are there when `open` is done
const BATCH = 500 // objects read at once after that: some 10 ms
const MANY = 1000 // changed objects that other tabs read one by one; of more they read everything
const IDLE = 1000 // ms that haystacks wait for an idle moment at most
/**
 * Stores whose change is an event of its own.
 * @type {Object<string, string>}
 */
const EVENTS = {deletions: "held", notices: "notice", shelf: "shelf"}

/** @param {string} store @param {any[]} records @returns {Line[]} */
const linesOf = (store, records) => records.map(record => ({
  store, record, key: store === "unsent" ? [record.uniqueID, record.attribute] : record.uniqueID,
}))

/**
 * A whole store as lines that replace what is in memory.
 * @param {Transaction} tx @param {string} store @returns {Promise<Line[]>}
 */
async function wholeOf(tx, store) {
  const [keys, records] = await Promise.all([tx.getAllKeys(store), tx.getAll(store)])
  return [{store, key: /** @type {any} */ (null), record: undefined}, ...keys.map((key, at) => ({store, key, record: records[at]}))]
}

/**
 * What a person sees first: all that is small, tags, the newest notes with their attachments.
 * @param {Transaction} tx
 */
async function firstPage(tx) {
  const [small, whole, here, tags, notes] = await Promise.all([
    Promise.all(["unsent", "made", "deletions", "deleted"].map(async store => linesOf(store, await tx.getAll(store)))),
    Promise.all(WHOLE.map(store => wholeOf(tx, store))),
    tx.getAllKeys("bytes"),
    tx.getAllBy("objects", "place", IDBKeyRange.upperBound(TAGS_END)),
    tx.getAllBy("objects", "place", IDBKeyRange.lowerBound(TAGS_END), FIRST),
  ])
  const members = notes.flatMap(note => Object.keys(note.registers).filter(name => name.startsWith("attachments.")))
  const attachments = await Promise.all(members.map(name => tx.get("objects", name.slice(12))))
  const bytes = here.map(key => ({store: "bytes", key, record: {}}))
  return [...small.flat(), ...whole.flat(), ...bytes, ...linesOf("objects", [...tags, ...notes, ...attachments.filter(Boolean)])]
}

/**
 * Everything in the database, the first page first.
 * @param {Database} database @returns {AsyncGenerator<Line[]>}
 */
async function* pagesOf(database) {
  const stores = [...BY_ID, ...WHOLE, "unsent", "bytes"]
  yield await firstPage(new Transaction(await database.begin(stores, "readonly")))
  for (let range = null, isMore = true; isMore;) {
    const tx = new Transaction(await database.begin(["objects"], "readonly"))
    const batch = await tx.getAll("objects", range, BATCH)
    yield linesOf("objects", batch)
    isMore = batch.length === BATCH
    if (isMore) range = IDBKeyRange.lowerBound(batch[BATCH - 1].uniqueID, true)
  }
}

export class Following extends EventTarget {
  /** What is in memory, in the order of the list. */
  list = new NoteList()
  /**
   * What is being read anew, until it takes the place of `list`.
   * @type {NoteList | null}
   */
  #coming = null
  #database
  #channel
  #isWarming = false
  /** Whether everything is in memory. Until then only the newest notes are. */
  isLoaded = false
  /**
   * Resolves when everything is in memory.
   * @type {Promise<void>}
   */
  loaded = Promise.resolve()

  /** @param {string} name of the database */
  constructor(name) {
    super()
    this.#database = new Database(name, {
      lost: () => this.#loadAgain(),
      outdated: () => this.dispatchEvent(new Event("outdated")),
    })
    this.#channel = new BroadcastChannel(name)
    this.#channel.onmessage = ({data}) => {
      if (data.kind !== "changed") return
      if (data.ids) this.#readAgain(data).catch(error => this.#trouble(error))
      else this.#loadAgain()
    }
  }

  /** Opens the database. Resolves when the newest notes are there. */
  async open() {
    const pages = pagesOf(this.#database)
    this.list.take((await pages.next()).value)
    this.loaded = this.#load(this.list, pages).catch(error => this.#trouble(error))
  }

  /** @param {NoteList} list @param {AsyncGenerator<Line[]>} pages */
  async #load(list, pages) {
    for await (const lines of pages) list.take(lines)
    this.list = list
    this.#coming = null
    this.isLoaded = true
    this.#tell(null, ["session", "settings", ...Object.values(EVENTS)], "tab")
    this.#warm()
  }

  /** Reads everything anew: it was replaced, or so much changed in another tab. */
  #loadAgain() {
    this.loaded = this.loaded.then(() => {
      this.#coming = new NoteList()
      return this.#load(this.#coming, pagesOf(this.#database))
    }).catch(error => this.#trouble(error))
  }

  /** @param {unknown} error */
  #trouble(error) {
    this.#coming = null
    this.dispatchEvent(new CustomEvent("trouble", {detail: StoreError.of(error)}))
  }

  /**
   * One transaction. `body` may run twice (no room left: bytes that can be fetched again go, then once more), so it
   * changes nothing outside. When it is on the disk, memory, events and the other tabs know what was written.
   * @template T
   * @param {string[]} stores
   * @param {IDBTransactionMode} mode
   * @param {(tx: Transaction) => T | Promise<T>} body awaits nothing but requests of `tx`
   * @param {Source} [source]
   * @returns {Promise<T>}
   */
  async transaction(stores, mode, body, source = "sync") {
    for (let isAgain = false; ; isAgain = true) {
      const tx = new Transaction(await this.#database.begin(stores, mode))
      try {
        const result = await body(tx)
        await tx.commit()
        this.#took(tx.journal, source)
        return result
      } catch (thrown) {
        tx.abort()
        // A request that fails ends the transaction, and only that says why.
        const error = (await tx.done.catch(error => error)) ?? thrown
        const known = error instanceof DOMException ? StoreError.of(error) : error
        if (known.slug !== "full" || isAgain || !(await this.makeRoom())) throw known
      }
    }
  }

  /**
   * Gives up what can be fetched again. Whether there was anything.
   * @returns {Promise<boolean>}
   */
  async makeRoom() {
    return false
  }

  /** @param {Line[]} lines @param {Source} source */
  #took(lines, source) {
    const seen = lines.filter(({store, key}) => store !== "uploads" && store !== "relays" && key !== "clock")
    if (!seen.length) return
    const isCleared = seen.some(line => line.key === null && !WHOLE.includes(line.store))
    const stores = [...new Set(seen.map(line => line.store))]
    const names = seen.map(({store, key}) => store === "meta" ? String(key) : EVENTS[store])
    const events = [...new Set(names.filter(Boolean))]
    const touched = new Set(seen.filter(({store}) => !WHOLE.includes(store)).map(({key}) => String(Array.isArray(key) ? key[0] : key)))
    const ids = isCleared || touched.size > MANY ? null : [...touched]
    this.#channel.postMessage({kind: "changed", ids, stores, events, source: source === "sync" ? "sync" : "tab"})
    this.#take(seen, events, source)
  }

  /** @param {Line[]} lines @param {string[]} events @param {Source} source */
  #take(lines, events, source) {
    this.#coming?.take(lines)
    this.#tell(this.list.take(lines), events, source)
    this.#warm()
  }

  /** @param {Set<string> | null} ids @param {string[]} events @param {Source} source */
  #tell(ids, events, source) {
    if (!ids || ids.size) this.dispatchEvent(new CustomEvent("change", {detail: {ids, source}}))
    for (const name of events) this.dispatchEvent(new CustomEvent(name, {detail: {source}}))
  }

  /**
   * Reads what another tab wrote. Its messages may overtake each other, the database's transactions do not.
   * @param {Message} message
   */
  async #readAgain({ids, stores, events, source}) {
    if (!ids) return
    const tx = new Transaction(await this.#database.begin(stores, "readonly"))
    const lines = await Promise.all(stores.map(async store => {
      if (WHOLE.includes(store)) return wholeOf(tx, store)
      return Promise.all(ids.map(async id => ({store, key: id, record: await this.#read(tx, store, id)})))
    }))
    this.#take(lines.flat(), events, source)
  }

  /** @param {Transaction} tx @param {string} store @param {string} id @returns {Promise<any>} */
  #read(tx, store, id) {
    if (store === "unsent") return tx.getAllBy("unsent", "uniqueID", id)
    return store === "bytes" ? tx.count("bytes", IDBKeyRange.only(id)) : tx.get(store, id)
  }

  /** Builds haystacks while nothing else happens. */
  #warm() {
    if (this.#isWarming || !this.isLoaded) return
    this.#isWarming = true
    const step = () => {
      this.#isWarming = false
      if (this.list.warm()) this.#warm()
    }
    if ("requestIdleCallback" in globalThis) requestIdleCallback(step, {timeout: IDLE})
    else setTimeout(step, 50)
  }

  /** Closes the connection; nothing can be read or written after. */
  close() {
    this.#channel.close()
    this.#database.close()
  }
}
