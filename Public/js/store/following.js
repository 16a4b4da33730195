// A tab's memory follows the database: it loads it, takes in what the tab commits, and reads what other tabs did.
import {NoteList, WHOLE} from "./note-list.js"
import {JournaledTransaction, StoreError, TAGS, resultOf} from "./records.js"

const KEYED = {keyPath: "uniqueID"}, COUNTED = {autoIncrement: true}
const STORES = {
  objects: KEYED, deleted: KEYED, unsent: {keyPath: ["uniqueID", "attribute"]}, made: KEYED, deletions: KEYED,
  bytes: KEYED, uploads: KEYED, shelf: COUNTED, notices: COUNTED, relays: COUNTED, meta: {},
}
const INDEXES = {objects: "place", unsent: "uniqueID", bytes: "lastUse"}
export const ALL_STORES = Object.keys(STORES)
const READ_WHOLE = ["unsent", "made", "deletions", "deleted", ...WHOLE]
const EVENTS = {deletions: "held", notices: "notice", shelf: "shelf"}
const FIRST = 50 // notes that are there when `open` resolves
const BATCH = 500 // objects read at once after that: some 10 ms
const TRIES = 4 // more, after 0.2, 0.4, 0.8 and 1.6 s
const PATIENCE = 15_000 // ms that opening may take: some browsers never answer

const whenIdle = globalThis.requestIdleCallback ?? (task => setTimeout(task, 50))
const wait = ms => new Promise(resolve => setTimeout(resolve, ms))

/** A whole store in place of what is in memory. */
const wholeOf = async (tx, store) => {
  const [keys, records] = await Promise.all([tx.getAllKeys(store), tx.getAll(store)])
  return [{store, key: null}, ...keys.map((key, at) => ({store, key, record: records[at]}))]
}

const objectLines = records => records.map(record => ({store: "objects", key: record.uniqueID, record}))

export class Following extends NoteList {
  #name
  /** @type {Promise<IDBDatabase> | null} */
  #opening = null
  #isOutdated = false
  #channel
  #isWarming = false
  isLoaded = false
  loaded = Promise.resolve()

  /** @param {string} name of the database */
  constructor(name) {
    super()
    this.#name = name
    this.#channel = new BroadcastChannel(name)
    this.#channel.onmessage = ({data}) => this.#readAgain(data).catch(this.#fail)
  }

  async #connect() {
    if (!globalThis.indexedDB) throw new StoreError("unavailable")
    const request = indexedDB.open(this.#name, 1)
    request.onupgradeneeded = () => {
      for (const name in STORES) {
        const store = request.result.createObjectStore(name, STORES[name])
        if (INDEXES[name]) store.createIndex(INDEXES[name], INDEXES[name])
      }
    }
    const late = wait(PATIENCE).then(() => { throw new StoreError("unavailable") })
    const connection = await Promise.race([resultOf(request), late])
    // The browser may have emptied it.
    const lose = () => {
      this.#opening = null
      this.#loadAgain().catch(this.#fail)
    }
    connection.onclose = lose
    connection.onversionchange = ({newVersion}) => {
      connection.close()
      this.#isOutdated = newVersion !== null
      lose()
    }
    return connection
  }

  async #begin(stores, mode) {
    if (this.#isOutdated) throw new StoreError("newer-version")
    const opening = this.#opening ??= this.#connect()
    try {
      // What is unsent is nowhere else: it is on the disk before it counts as saved.
      return new JournaledTransaction((await opening).transaction(stores, mode, {durability: "strict"}))
    } catch (error) {
      if (this.#opening === opening) this.#opening = null
      throw error
    }
  }

  async transaction(stores, mode, body, source = "sync", tries = 0) {
    for (;; tries++) {
      let tx
      try {
        tx = await this.#begin(stores, mode)
        const result = await body(tx)
        await tx.commit()
        this.#wrote(tx.journal, source)
        return result
      } catch (thrown) {
        const error = StoreError.of(await tx?.abort(thrown) ?? thrown)
        // The connection was lost without a word, or the database is being emptied and closes as soon as it is open.
        const isLost = error.slug === "unavailable" && error.cause
        const isWorthwhile = tries < TRIES && (isLost || error.slug === "full" && (tries || await this.#makeRoom()))
        if (!isWorthwhile) throw error
        await wait(200 << tries) // What was given up is free a little later.
      }
    }
  }

  /** Gives up half of the bytes that the server has, the longest unused. Whether there were any. */
  #makeRoom() {
    const {made, deleted} = this.memory
    return this.transaction(["bytes"], "readwrite", async tx => {
      // Keys alone: bytes that a page has a hand on are not given up before it lets go.
      const ids = (await tx.getAllKeys("bytes", "lastUse")).filter(id => !made.has(id))
      ids.sort((a, b) => +deleted.has(b) - +deleted.has(a))
      for (const id of ids.slice(0, Math.ceil(ids.length / 2))) tx.delete("bytes", id)
      return ids.length > 0
    }, "here", TRIES).catch(() => false)
  }

  /** Resolves when the newest notes are there. */
  open() {
    return new Promise((resolve, reject) => {
      this.loaded = this.#load(lines => resolve(this.take(lines))).catch(error => {
        reject(error)
        this.#fail(error)
      })
    })
  }

  /** Everything: it was replaced. What a person sees stays until all is read. */
  async #loadAgain() {
    const pages = [Object.keys(this.memory).map(store => ({store, key: null}))]
    await this.#load(lines => pages.push(lines), () => this.take(pages.flat()))
  }

  /** In one transaction: nothing is written meanwhile. First what is small, tags, the newest notes and their attachments. */
  async #load(show, end = () => {}) {
    await this.transaction([...READ_WHOLE, "objects", "bytes"], "readonly", async tx => {
      const [bytes, tags, notes, ...whole] = await Promise.all([
        tx.getAllKeys("bytes"),
        tx.getAllBy("objects", "place", IDBKeyRange.upperBound(TAGS)),
        tx.getAllBy("objects", "place", IDBKeyRange.lowerBound(TAGS, true), FIRST),
        ...READ_WHOLE.map(store => wholeOf(tx, store)),
      ])
      const members = notes.flatMap(note => Object.keys(note.registers).filter(name => name.startsWith("attachments.")))
      const attachments = await Promise.all(members.map(name => tx.get("objects", name.slice(12))))
      const first = objectLines([...tags, ...notes, ...attachments.filter(Boolean)])
      show([...whole.flat(), ...bytes.map(key => ({store: "bytes", key, record: true})), ...first])
      for (let batch, last = ""; !batch || batch.length === BATCH; last = batch.at(-1)?.uniqueID) {
        batch = await tx.getAll("objects", IDBKeyRange.lowerBound(last, true), BATCH)
        show(objectLines(batch))
      }
    })
    end()
    this.isLoaded = true
    this.#tell(null, ["session", "settings", ...Object.values(EVENTS)], "tab")
  }

  #fail = error => this.dispatchEvent(new CustomEvent("trouble", {detail: error}))

  /** @param {JournalLine[]} lines */
  #wrote(lines, source) {
    const seen = lines.filter(({store, key}) => store in this.memory && key !== "clock")
    if (!seen.length) return
    const stores = [...new Set(seen.map(({store}) => store))]
    const events = [...new Set(seen.flatMap(({store, key}) => store === "meta" ? key ?? "session" : EVENTS[store] ?? []))]
    const touched = new Set(seen.filter(({store}) => !WHOLE.includes(store)).map(({key}) => key && [key].flat()[0]))
    const ids = touched.has(null) ? null : [...touched]
    this.#channel.postMessage({ids, stores, events, source: source === "sync" ? source : "tab"})
    this.#tell(this.take(seen), events, source)
  }

  /**
   * What another tab wrote. Messages may overtake each other, transactions do not.
   * @param {Changed} message
   */
  async #readAgain({ids, stores, events, source}) {
    if (!ids) return this.#loadAgain()
    const lines = await this.transaction(stores, "readonly", tx => {
      const read = (store, id) => store === "unsent" ? tx.getAllBy(store, "uniqueID", id)
        : store === "bytes" ? tx.count(store, id) : tx.get(store, id)
      return Promise.all(stores.map(store => WHOLE.includes(store) ? wholeOf(tx, store)
        : Promise.all(ids.map(async id => ({store, key: id, record: await read(store, id)})))))
    })
    this.#tell(this.take(lines.flat()), events, source)
  }

  #tell(ids, events, source) {
    if (ids?.size !== 0) this.dispatchEvent(new CustomEvent("change", {detail: {ids, source}}))
    for (const name of events) this.dispatchEvent(new Event(name))
    this.#warm()
  }

  /** Builds haystacks while nothing else happens. */
  #warm() {
    if (this.#isWarming || !this.isLoaded) return
    this.#isWarming = true
    whenIdle(() => {
      this.#isWarming = false
      if (this.warm()) this.#warm()
    })
  }
}
