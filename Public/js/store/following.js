// A tab's memory follows the database: it loads it, takes in what the tab commits, and reads what other tabs did.
import {Database, StoreError} from "./database.js"
import {WHOLE} from "./memory.js"
import {NoteList} from "./note-list.js"
import {TAGS} from "./records.js"


const FIRST = 50 // notes that are there when `open` resolves
const BATCH = 500 // objects read at once after that: some 10 ms
const MANY = 1000 // changed objects that are read one by one; of more everything is
const TRIES = 4 // once more at once, and then after 0.5, 1 and 1.5 s, when room was made
const SMALL = ["unsent", "made", "deletions", "deleted"]
/** @type {Object<string, string>} */
const EVENTS = {deletions: "held", notices: "notice", shelf: "shelf"}
const META = ["session", "settings"]

/** @type {(store: string, records: any[]) => JournalLine[]} */
const linesOf = (store, records) => records.map(record => (
  {store, record, key: store === "unsent" ? [record.uniqueID, record.attribute] : record.uniqueID}))

/**
 * A whole store in place of what is in memory.
 * @type {(tx: Transaction, store: string) => Promise<JournalLine[]>}
 */
const wholeOf = async (tx, store) => {
  const [keys, records] = await Promise.all([tx.getAllKeys(store), tx.getAll(store)])
  return [{store, key: null, record: undefined}, ...keys.map((key, at) => ({store, key, record: records[at]}))]
}

/**
 * All that is small, tags, and the newest notes with their attachments.
 * @type {(tx: Transaction) => Promise<JournalLine[]>}
 */
const firstPage = async tx => {
  const [small, whole, bytes, tags, notes] = await Promise.all([
    Promise.all(SMALL.map(async store => linesOf(store, await tx.getAll(store)))),
    Promise.all(WHOLE.map(store => wholeOf(tx, store))),
    tx.getAllKeys("bytes"),
    tx.getAllBy("objects", "place", IDBKeyRange.upperBound(TAGS)),
    tx.getAllBy("objects", "place", IDBKeyRange.lowerBound(TAGS, true), FIRST),
  ])
  const members = notes.flatMap(note => Object.keys(note.registers).filter(name => name.startsWith("attachments.")))
  const attachments = await Promise.all(members.map(name => tx.get("objects", name.slice(12))))
  const objects = linesOf("objects", [...tags, ...notes, ...attachments.filter(Boolean)])
  return [...small.flat(), ...whole.flat(), ...bytes.map(key => ({store: "bytes", key, record: true})), ...objects]
}

/**
 * Everything, what a person sees first first.
 * @type {(database: Database) => AsyncGenerator<JournalLine[]>}
 */
async function* pagesOf(database) {
  yield await firstPage(await database.begin([...SMALL, ...WHOLE, "objects", "bytes"], "readonly"))
  for (let last = ""; ;) {
    const tx = await database.begin(["objects"], "readonly")
    const batch = await tx.getAll("objects", IDBKeyRange.lowerBound(last, true), BATCH)
    yield linesOf("objects", batch)
    if (batch.length < BATCH) return
    last = batch[BATCH - 1].uniqueID
  }
}

export class Following extends EventTarget {
  /** What is in memory. */
  list = new NoteList()
  /**
   * What takes its place when it is read.
   * @type {NoteList | null}
   */
  #coming = null
  #database
  #channel
  #isWarming = false
  /** Whether everything is in memory, not the newest notes alone; `loaded` resolves then. */
  isLoaded = false
  loaded = Promise.resolve()

  /** @param {string} name of the database */
  constructor(name) {
    super()
    this.#database = new Database(name, isOutdated => {
      if (isOutdated) this.dispatchEvent(new Event("outdated"))
      else this.#loadAgain()
    })
    this.#channel = new BroadcastChannel(name)
    this.#channel.onmessage = ({data}) => {
      if (data.kind !== "changed") return
      if (data.ids) this.#readAgain(data).catch(this.#fail)
      else this.#loadAgain()
    }
  }

  /** Resolves when the newest notes are there. */
  async open() {
    const pages = pagesOf(this.#database)
    this.list.take((await pages.next()).value)
    this.loaded = this.#load(this.list, pages).catch(this.#fail)
  }

  /** @type {(list: NoteList, pages: AsyncGenerator<JournalLine[]>) => Promise<void>} */
  async #load(list, pages) {
    for await (const lines of pages) list.take(lines)
    this.list = list
    this.#coming = null
    this.isLoaded = true
    this.#tell(null, [...META, ...Object.values(EVENTS)], "tab")
  }

  /** Everything: it was replaced, or so much changed in another tab. */
  #loadAgain() {
    this.loaded = this.loaded.then(() => {
      this.#coming = new NoteList()
      return this.#load(this.#coming, pagesOf(this.#database))
    }).catch(this.#fail)
  }

  /** @param {unknown} error */
  #fail = error => {
    this.#coming = null
    this.dispatchEvent(new CustomEvent("trouble", {detail: StoreError.of(error)}))
  }

  /**
   * One transaction. When it is on the disk, memory, events and the other tabs know what it wrote. `body` may run again
   * (when bytes that can be fetched again made room), so it changes nothing else.
   * @template T
   * @param {string[]} stores @param {IDBTransactionMode} mode
   * @param {(tx: Transaction) => T | Promise<T>} body awaits nothing but requests of `tx`
   * @param {Origin} [source]
   * @returns {Promise<T>}
   */
  async transaction(stores, mode, body, source = "sync") {
    for (let tries = 0; ; tries++) {
      const tx = await this.#database.begin(stores, mode)
      try {
        const result = await body(tx)
        await tx.commit()
        this.#wrote(tx.journal, source)
        return result
      } catch (thrown) {
        const error = await tx.abort(thrown)
        const known = error instanceof DOMException ? StoreError.of(error) : error
        // The browser may have lost the connection.
        if (known.slug === "broken" && !tries) continue
        if (known.slug !== "full" || tries === TRIES || !(tries || await this.makeRoom())) throw known
        // What was given up is free a little later.
        await new Promise(resolve => setTimeout(resolve, tries * 500))
      }
    }
  }

  /**
   * Whether something could go.
   * @returns {Promise<boolean>}
   */
  async makeRoom() {
    return false
  }

  /** @type {(lines: JournalLine[], source: Origin) => void} */
  #wrote(lines, source) {
    const seen = lines.filter(({store, key}) => store in this.list.memory && key !== "clock")
    if (!seen.length) return
    const stores = [...new Set(seen.map(({store}) => store))]
    const events = [...new Set(seen.flatMap(({store, key}) => store === "meta" ? key ?? META : EVENTS[store] ?? []))]
    const touched = new Set(seen.filter(({store}) => !WHOLE.includes(store)).map(({key}) => key && [key].flat()[0]))
    const ids = touched.has(null) || touched.size > MANY ? null : [...touched]
    this.#channel.postMessage({kind: "changed", ids, stores, events, source: source === "sync" ? source : "tab"})
    this.#take(seen, events, source)
  }

  /** @type {(lines: JournalLine[], events: string[], source: Origin) => void} */
  #take(lines, events, source) {
    this.#coming?.take(lines)
    this.#tell(this.list.take(lines), events, source)
  }

  /** @type {(ids: Set<string> | null, events: string[], source: Origin) => void} */
  #tell(ids, events, source) {
    if (ids?.size !== 0) this.dispatchEvent(new CustomEvent("change", {detail: {ids, source}}))
    for (const name of events) this.dispatchEvent(new CustomEvent(name, {detail: {source}}))
    this.#warm()
  }

  /**
   * What another tab wrote. Messages may overtake each other, transactions do not.
   * @type {(message: Changed) => Promise<void>}
   */
  async #readAgain({ids, stores, events, source}) {
    const tx = await this.#database.begin(stores, "readonly")
    /** @type {(store: string, id: string) => Promise<any>} */
    const read = (store, id) => store === "unsent" ? tx.getAllBy(store, "uniqueID", id)
      : store === "bytes" ? tx.count(store, IDBKeyRange.only(id)) : tx.get(store, id)
    const lines = await Promise.all(stores.map(store => WHOLE.includes(store) ? wholeOf(tx, store)
      : Promise.all((ids ?? []).map(async id => ({store, key: id, record: await read(store, id)})))))
    this.#take(lines.flat(), events, source)
  }

  /** Builds haystacks while nothing else happens. */
  #warm() {
    if (this.#isWarming || !this.isLoaded) return
    this.#isWarming = true
    const step = () => {
      this.#isWarming = false
      if (this.list.warm()) this.#warm()
    }
    if ("requestIdleCallback" in globalThis) requestIdleCallback(step, {timeout: 1000})
    else setTimeout(step, 50)
  }

  /** For good. */
  close() {
    this.#channel.close()
    this.#database.close()
  }
}
