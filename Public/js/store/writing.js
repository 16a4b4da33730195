// Edits: each ticks the clock, sets a register, and is unsent until the server has it (clients.md, rules 1 and 2).
import {formatDate, parseDate, partsOf} from "../model/clock.js"
import {rebase} from "../model/difference.js"
import {valueOf} from "../model/entity.js"
import {derivedID, newID, utf8} from "../model/hash.js"
import {foldName} from "../model/terms.js"
import {StoreError} from "./database.js"
import {Following} from "./following.js"
import {clockIn} from "./records.js"


export const HOLD = 10_000 // ms that a deletion is held back
/** Of the server, until it says its own (protocol.md, Limits). */
const LIMITS = {
  textBytes: 1 << 20, tagNameBytes: 256, attributeValueBytes: 8192, members: 1000, attachmentBytes: 100 << 20,
  filenameBytes: 1024, previewBytes: 8192,
}
const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/

/** @type {(text: string, limit: number) => void} */
export const checkSize = (text, limit) => {
  if (text.length * 3 > limit && utf8(text).length > limit) throw new StoreError("too-large")
}

/**
 * Sets a register; its clock. Stores: meta, unsent.
 * @type {(tx: Transaction, type: string, id: string, attribute: string, value: any) => Promise<string>}
 */
export const edit = async (tx, type, uniqueID, attribute, value) => {
  const clock = (await clockIn(tx)).tick(Date.now())
  tx.put("unsent", {uniqueID, attribute, type, value, clock})
  return clock
}

const NOTE_STORES = ["meta", "objects", "deleted", "made", "unsent"]

/**
 * Whether it was made: an ID that is known, dead or alive, makes nothing.
 * @type {(tx: Transaction, id: string, note: NewNote) => Promise<boolean>}
 */
const makeNote = async (tx, id, note) => {
  const {creationDate, text, sortDate, archived, tags = [], attachments = [], attributes = {}} = note
  const known = await Promise.all(["objects", "deleted", "made"].map(store => tx.get(store, id)))
  if (known.some(Boolean)) return false
  const clock = await clockIn(tx)
  tx.put("made", {uniqueID: id, type: "note", fixed: {creationDate: creationDate ?? formatDate(clock.now(Date.now()))}})
  const edits = [
    ["text", text], ["sortDate", sortDate], ["archived", archived], ...tags.map(tag => [`tags.${tag}`, true]),
    ...attachments.map(one => [`attachments.${one}`, true]),
    ...Object.entries(attributes).map(([name, value]) => [`attributes.${name}`, value]),
  ]
  for (const [name, value] of edits) if (value || name.includes(".")) await edit(tx, "note", id, name, value)
  return true
}

export const RESCUE_STORES = [...NOTE_STORES, "notices"]

/**
 * Puts words of a deleted note into a new one. Its ID comes from both, so that two devices that rescue the same words
 * make one note (clients.md, rule 4). Stores: RESCUE_STORES.
 * @param {Transaction} tx
 * @param {{uniqueID: string, creationDate?: string, tags: string[], attachments: string[]}} note
 * @param {string} text @returns {Promise<string>}
 */
export const rescueIn = async (tx, {uniqueID, creationDate, tags, attachments}, text) => {
  const into = derivedID(uniqueID, text)
  const isMade = await makeNote(tx, into, {creationDate, text, tags, attachments})
  if (isMade) tx.put("notices", {kind: "rescued", uniqueID, into, mine: text, moment: Date.now()})
  return into
}

export class Writing extends Following {
  /**
   * The server's, by name.
   * @returns {typeof LIMITS}
   */
  get limits() {
    return {...LIMITS, ...this.list.memory.meta.get("limits")}
  }

  /**
   * Writes for the person at this tab.
   * @template T
   * @param {string[]} stores
   * @param {(tx: Transaction) => T | Promise<T>} body
   * @returns {Promise<T>}
   */
  change(stores, body) {
    return this.transaction(stores, "readwrite", body, "here")
  }

  /** @type {(id: string, type: string) => Entity} */
  live(id, type) {
    const entity = this.list.memory.entity(id)
    if (entity?.type === type) return entity
    throw new StoreError(this.list.memory.known(id) || this.list.memory.deleted.has(id) ? "gone" : "missing")
  }

  /** @param {Object<string, any>} attributes */
  #checkAttributes(attributes) {
    for (const [name, value] of Object.entries(attributes)) {
      const isPlain = value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value)
      if (!NAME.test(name) || !isPlain) throw new StoreError("invalid")
      checkSize(JSON.stringify(value), this.limits.attributeValueBytes)
    }
  }

  /** @param {(string | undefined)[]} dates */
  #checkDates(...dates) {
    if (dates.some(date => date !== undefined && parseDate(date) === null)) throw new StoreError("invalid")
  }

  /**
   * A name of a tag without white space around it.
   * @param {string} name
   */
  #checkName(name) {
    const trimmed = name.trim()
    if (!foldName(trimmed)) throw new StoreError("invalid")
    checkSize(trimmed, this.limits.tagNameBytes)
    return trimmed
  }

  /**
   * Sets an attribute of objects, of each that has another value.
   * @type {(type: string, ids: string[], attribute: string, value: any) => Promise<void>}
   */
  async #set(type, ids, attribute, value) {
    const others = ids.filter(id => valueOf(this.live(id, type), attribute) !== value)
    if (!others.length) return
    await this.change(["meta", "unsent"], async tx => {
      for (const id of others) await edit(tx, type, id, attribute, value)
    })
  }

  /**
   * A new note; an ID that is known, dead or alive, makes nothing. Its ID.
   * @param {NewNote} [note] @returns {Promise<string>}
   */
  async createNote(note = {}) {
    return (await this.createNotes([note]))[0]
  }

  /**
   * In one transaction: an import hands in some hundred at a time.
   * @param {NewNote[]} notes @returns {Promise<string[]>}
   */
  async createNotes(notes) {
    for (const {text = "", creationDate, sortDate, tags = [], attachments = [], attributes = {}} of notes) {
      checkSize(text, this.limits.textBytes)
      this.#checkDates(creationDate, sortDate)
      this.#checkAttributes(attributes)
      if (Math.max(tags.length, attachments.length) > this.limits.members) throw new StoreError("too-large")
    }
    const all = notes.map(note => ({...note, uniqueID: note.uniqueID ?? newID()}))
    await this.change(NOTE_STORES, async tx => {
      for (const note of all) await makeNote(tx, note.uniqueID, note)
    })
    return all.map(note => note.uniqueID)
  }

  /**
   * Sets a note's text; the clock of what stands. `base` is the version that the editor has typed over. What another
   * tab typed meanwhile stays beside it, or where both changed the same words, in a notice.
   * @type {(id: string, text: string, base: {clock: string | null, value: string}) => Promise<string | null>}
   */
  async write(id, text, base) {
    checkSize(text, this.limits.textBytes)
    return this.change(["meta", "unsent", "deleted", "notices"], async tx => {
      const [standing, dead] = await Promise.all([tx.get("unsent", [id, "text"]), tx.get("deleted", id)])
      if (dead) throw new StoreError("gone")
      if (text === (standing ?? base).value) return (standing ?? base).clock
      const source = await clockIn(tx)
      if (!standing) {
        const descent = base.clock && {base: base.clock, baseValue: base.value}
        const clock = source.tick(Date.now())
        tx.put("unsent", {uniqueID: id, attribute: "text", type: "note", value: text, clock, ...descent})
        return clock
      }
      const both = standing.value === base.value ? text : rebase(base.value, text, standing.value)
      if (both === null) {
        const {value: mine, clock} = standing
        tx.put("notices", {kind: "merged", uniqueID: id, mine, base: base.value, clock, moment: Date.now()})
      }
      // Its own node again: what may have arrived descends from itself after a new sign-in, too.
      const clock = source.tick(Date.now(), partsOf(standing.clock).node)
      tx.put("unsent", {...standing, value: both ?? text, clock})
      return clock
    })
  }

  /** @param {string[]} ids @param {boolean} archived */
  setArchived(ids, archived) {
    return this.#set("note", ids, "archived", archived)
  }

  /** @param {string} id @param {string} date */
  async setSortDate(id, date) {
    this.#checkDates(date)
    return this.#set("note", [id], "sortDate", date)
  }

  /** @param {string} id @param {string} name such as `pinned` @param {string | number | boolean | null} value */
  async setAttribute(id, name, value) {
    this.#checkAttributes({[name]: value})
    return this.#set("note", [id], `attributes.${name}`, value)
  }

  /** @type {(note: string, kind: "tags" | "attachments", member: string, isIn: boolean) => Promise<void>} */
  async setMember(note, kind, member, isIn) {
    const {registers} = this.live(note, "note"), id = this.list.resolve(member) ?? member
    if (this.list.members(note, kind).includes(id) === isIn) return
    const count = Object.keys(registers).filter(name => name.startsWith(kind)).length
    if (count >= this.limits.members && !registers[`${kind}.${id}`]) throw new StoreError("too-large")
    await this.change(["meta", "unsent"], tx => edit(tx, "note", note, `${kind}.${id}`, isIn))
  }

  /** @param {string} note @param {string} tag */
  addTag(note, tag) {
    return this.setMember(note, "tags", tag, true)
  }

  /** @param {string} note @param {string} tag */
  removeTag(note, tag) {
    return this.setMember(note, "tags", tag, false)
  }

  /**
   * The server deletes what no note has held for long (clients.md, rule 8).
   * @param {string} note @param {string} attachment
   */
  detach(note, attachment) {
    return this.setMember(note, "attachments", attachment, false)
  }

  /** @param {string} note @param {string} attachment */
  reattach(note, attachment) {
    return this.setMember(note, "attachments", attachment, true)
  }

  /**
   * The tag of this name, in any case, or a new one.
   * @param {string} name @returns {Promise<string>}
   */
  async createTag(name) {
    const trimmed = this.#checkName(name), standing = this.list.tagNamed(trimmed), uniqueID = newID()
    if (standing) return standing
    await this.change(["meta", "unsent", "made"], tx => {
      tx.put("made", {uniqueID, type: "tag", fixed: {}})
      return edit(tx, "tag", uniqueID, "name", trimmed)
    })
    return uniqueID
  }

  /**
   * Of two tags with one name the server makes one (merge.md, Tags).
   * @param {string} id @param {string} name
   */
  async renameTag(id, name) {
    return this.#set("tag", [id], "name", this.#checkName(name))
  }

  /**
   * Hidden at once, sent after HOLD.
   * @param {string} id
   */
  async remove(id) {
    const {deleted, deletions} = this.list.memory, type = this.list.memory.known(id)?.type
    if (deleted.has(id) || deletions.has(id)) return
    if (!type) throw new StoreError("missing")
    const deletion = {uniqueID: id, objectType: type, heldUntil: Date.now() + HOLD}
    await this.change(["deletions"], tx => tx.put("deletions", deletion))
  }

  /**
   * False: too late, it is being sent.
   * @param {string} id
   */
  undoRemove(id) {
    return this.change(["deletions"], async tx => {
      const held = (await tx.get("deletions", id))?.heldUntil
      if (held) tx.delete("deletions", id)
      return !!held
    })
  }

  /**
   * Of a note that was deleted elsewhere; the new note's ID.
   * @param {Parameters<typeof rescueIn>[1]} note @param {string} text
   */
  async rescue(note, text) {
    checkSize(text, this.limits.textBytes)
    return this.change(RESCUE_STORES, tx => rescueIn(tx, note, text))
  }
}
