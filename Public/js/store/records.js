// Transactions and what goes on inside one: the clock, edits, what the server is known to have, and its digest.
import {
  ClockSource, ZERO, exists, fold, foldDeleted, formatDate, hashOf, hashOfDeleted, parseDate, valueOf, xor,
} from "../model/entity.js"
import {derivedID, hex} from "../model/hash.js"

const SENTENCES = {
  unavailable: "The browser could not store or read. Let this page keep data, reload, and do it again.",
  "newer-version": "A newer version of Hesper was opened here. Reload the page to get it.",
  full: "This browser has no room left. Free some space on the disk and do it again.",
  "signed-out": "Nobody is signed in here. Sign in and do it again.",
  gone: "That was deleted meanwhile.",
  missing: "That is not here yet. Wait until everything is fetched and do it again.",
  "too-large": "The server takes nothing as large as that. Make it smaller or split it.",
  invalid: "That cannot be kept. Change it and try again.",
}
const SLUGS = {QuotaExceededError: "full", VersionError: "newer-version"}

/** What the local copy cannot do; `message` is for people and says the next step. */
export class StoreError extends Error {
  name = "StoreError"

  /** @param {string} slug @param {unknown} [cause] */
  constructor(slug, cause) {
    super(SENTENCES[slug], {cause})
    this.slug = slug
  }

  /** What the browser threw, in words. */
  static of(error) {
    return error instanceof DOMException ? new StoreError(SLUGS[error.name] ?? "unavailable", error) : error
  }
}

export const resultOf = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})

/** @implements {Transaction} */
export class JournaledTransaction {
  /** @type {JournalLine[]} */
  journal = []
  atEnd = []
  clock = null
  digest = ""
  #inner

  constructor(inner) {
    this.#inner = inner
    this.done = new Promise((resolve, reject) => {
      inner.oncomplete = resolve
      inner.onabort = () => reject(inner.error)
    })
    this.done.catch(() => {}) // Whoever commits hears of it.
  }

  #from(store, index) {
    const from = this.#inner.objectStore(store)
    return index ? from.index(index) : from
  }

  get(store, key) {
    return resultOf(this.#from(store).get(key))
  }

  getAll(store, range, most) {
    return resultOf(this.#from(store).getAll(range, most))
  }

  getAllBy(store, index, range, most) {
    return resultOf(this.#from(store, index).getAll(range, most))
  }

  getAllKeys(store, index) {
    return resultOf(this.#from(store, index).getAllKeys())
  }

  count(store, range) {
    return resultOf(this.#from(store).count(range))
  }

  put(store, record, key) {
    const line = {store, key, record}
    const request = this.#from(store).put(record, key)
    request.onsuccess = () => { line.key = request.result }
    this.journal.push(line)
  }

  delete(store, key) {
    this.#from(store).delete(key)
    this.journal.push({store, key})
  }

  clear(store) {
    this.#from(store).clear()
    this.journal.push({store, key: null})
  }

  /** Resolves when it is on the disk. */
  async commit() {
    for (const task of this.atEnd) await task()
    await this.done
  }

  /** The error that ended it, or `thrown`, for which it is ended. */
  abort(thrown) {
    try {
      this.#inner.abort()
    } catch {} // It is over.
    return this.done.then(() => thrown, error => error ?? thrown)
  }
}

/** In the index `place` tags come up to here, then pinned notes, notes, archived ones, each newest first. */
export const TAGS = -8e15

const placeOf = entity => {
  if (entity.type === "tag") return TAGS
  if (entity.type !== "note") return undefined
  const newest = -(parseDate(valueOf(entity, "sortDate")) ?? 0)
  if (valueOf(entity, "archived")) return newest + 1e15
  return valueOf(entity, "attributes.pinned") === true ? newest - 1e15 : newest
}

/** @type {Records["clockIn"]} */
export const clockIn = tx => tx.clock ??= (async () => {
  const [session, saved] = await Promise.all([tx.get("meta", "session"), tx.get("meta", "clock")])
  if (!session) throw new StoreError("signed-out")
  const clock = new ClockSource(session.device.uniqueID, saved)
  tx.atEnd.push(() => tx.put("meta", clock.saved(), "clock"))
  return clock
})()

/** @type {Records["edit"]} */
export const edit = async (tx, type, uniqueID, attribute, value) => {
  const clock = (await clockIn(tx)).tick(Date.now())
  tx.put("unsent", {uniqueID, attribute, type, value, clock})
  return clock
}

/** @type {Records["makeNote"]} */
export const makeNote = async (tx, uniqueID, note) => {
  const {creationDate, text, sortDate, archived, tags = [], attachments = [], attributes = {}} = note
  const known = await Promise.all(["objects", "deleted", "made"].map(store => tx.get(store, uniqueID)))
  if (known.some(Boolean)) return false
  const now = formatDate((await clockIn(tx)).now(Date.now()))
  tx.put("made", {uniqueID, type: "note", fixed: {creationDate: creationDate ?? now}})
  const values = {text, sortDate, archived}
  for (const id of tags) values[`tags.${id}`] = true
  for (const id of attachments) values[`attachments.${id}`] = true
  for (const name in attributes) values[`attributes.${name}`] = attributes[name]
  for (const name in values) if (values[name] || name.includes(".")) await edit(tx, "note", uniqueID, name, values[name])
  return true
}

/** @type {Records["rescueIn"]} */
export const rescueIn = async (tx, {uniqueID, creationDate, tags, attachments}, text) => {
  const into = derivedID(uniqueID, text)
  const isMade = await makeNote(tx, into, {creationDate, text, tags, attachments})
  if (isMade) tx.put("notices", {kind: "rescued", uniqueID, into, mine: text, moment: Date.now()})
  return into
}

/** Adds hashes to the digest, or takes them out. */
const count = (tx, ...hashes) => {
  if (!tx.digest) {
    tx.atEnd.push(async () => {
      const sync = await tx.get("meta", "sync")
      tx.put("meta", {...sync, digest: xor(sync?.digest ?? ZERO, tx.digest)}, "sync")
    })
  }
  for (const hash of hashes) tx.digest = xor(tx.digest || ZERO, hash || ZERO)
}

const put = (tx, before, now) => {
  const isThere = exists(now)
  now.hash = isThere ? hex(hashOf(now)) : ""
  const place = isThere && placeOf(now)
  if (place) now.place = place
  count(tx, before?.hash, now.hash)
  tx.put("objects", now)
}

/** @type {Records["putEntity"]} */
export const putEntity = async (tx, incoming) => {
  const id = incoming.uniqueID
  const [dead, before] = await Promise.all([tx.get("deleted", id), tx.get("objects", id)])
  if (dead) return {}
  const {type, fixed, registers} = before ?? incoming
  const now = {...before, uniqueID: id, type, fixed: {...fixed}, registers: {...registers}}
  if (!before || fold(now, incoming)) put(tx, before, now)
  return {before, now}
}

/** @type {Records["replaceEntity"]} */
export const replaceEntity = async (tx, now) => put(tx, await tx.get("objects", now.uniqueID), {...now})

/** @type {Records["putDeleted"]} */
export const putDeleted = async (tx, incoming) => {
  const id = incoming.uniqueID
  const [standing, before] = await Promise.all([tx.get("deleted", id), tx.get("objects", id)])
  const folded = standing ? foldDeleted(standing, incoming) : incoming
  const hash = hex(hashOfDeleted(folded))
  count(tx, before?.hash, standing?.hash, hash)
  if (before) tx.delete("objects", id)
  if (standing?.hash !== hash) tx.put("deleted", {...folded, hash})
  return {before}
}

/** @type {Records["forget"]} */
export const forget = async (tx, id) => {
  for (const {attribute} of await tx.getAllBy("unsent", "uniqueID", id)) tx.delete("unsent", [id, attribute])
  if (await tx.get("made", id)) tx.delete("made", id)
}

/** @type {Records["takeDeletions"]} */
export const takeDeletions = async (tx, wallMs) => {
  const due = (await tx.getAll("deletions")).filter(one => one.heldUntil <= wallMs)
  for (const deletion of due) {
    if (!deletion.heldUntil) continue
    tx.put("deletions", {...deletion, heldUntil: 0})
    await forget(tx, deletion.uniqueID)
  }
  return due.map(({uniqueID, objectType}) => ({uniqueID, objectType}))
}
