// Edits: each ticks the clock, changes a register, and is unsent until the server has it (clients.md, rules 1 and 2).
import {formatDate, parseDate, partsOf} from "../model/clock.js"
import {valueOf} from "../model/entity.js"
import {rebase} from "../model/difference.js"
import {utf8} from "../model/hash.js"
import {foldName} from "../model/names.js"
import {derivedID, newID} from "../model/uuid.js"
import {StoreError} from "./database.js"
import {Following} from "./following.js"
import {clockIn} from "./records.js"

/** @typedef {import("./transaction.js").Transaction} Transaction */
/** @typedef {import("./memory.js").Unsent} Unsent */
/**
 * What a new note may have; an ID that is known already, dead or alive, makes nothing new.
 * @typedef {{text?: string, tags?: string[], attachments?: string[], attributes?: Object<string, any>, uniqueID?: string,
 *   creationDate?: string, sortDate?: string, archived?: boolean}} NewNote
 */

/** How long a deletion is held back, in ms. */
export const HOLD = 10_000
/** The server's limits until the server says them itself (protocol.md, Limits). */
const LIMITS = {
  textBytes: 1 << 20, tagNameBytes: 256, attributeValueBytes: 8192, members: 1000, attachmentBytes: 100 << 20,
  filenameBytes: 1024, previewBytes: 8192,
}
const EDITS = ["meta", "unsent"]
const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/

/** @param {string} text @param {number} limit in bytes of UTF-8 */
const fits = (text, limit) => text.length * 3 <= limit || (text.length <= limit && utf8(text).length <= limit)

/**
 * Sets a register. Stores: meta, unsent.
 * @param {Transaction} tx
 * @param {string} type
 * @param {string} uniqueID
 * @param {string} attribute
 * @param {any} value
 * @returns {Promise<string>} its clock
 */
export async function edit(tx, type, uniqueID, attribute, value) {
  const clock = (await clockIn(tx)).tick(Date.now())
  tx.put("unsent", {uniqueID, attribute, type, value, clock})
  return clock
}

/**
 * Makes a note. Stores: meta, objects, deleted, made, unsent.
 * @param {Transaction} tx
 * @param {NewNote} note
 * @returns {Promise<string>} its ID
 */
async function makeNote(tx, {uniqueID = newID(), ...note}) {
  const known = await Promise.all(["objects", "deleted", "made"].map(store => tx.get(store, uniqueID)))
  if (known.some(Boolean)) return uniqueID
  const clock = await clockIn(tx)
  const creationDate = note.creationDate ?? formatDate(clock.now(Date.now()))
  tx.put("made", {uniqueID, type: "note", fixed: {creationDate}})
  if (note.text) await edit(tx, "note", uniqueID, "text", note.text)
  if (note.sortDate) await edit(tx, "note", uniqueID, "sortDate", note.sortDate)
  if (note.archived) await edit(tx, "note", uniqueID, "archived", true)
  for (const tag of note.tags ?? []) await edit(tx, "note", uniqueID, `tags.${tag}`, true)
  for (const id of note.attachments ?? []) await edit(tx, "note", uniqueID, `attachments.${id}`, true)
  for (const [name, value] of Object.entries(note.attributes ?? {})) {
    await edit(tx, "note", uniqueID, `attributes.${name}`, value)
  }
  return uniqueID
}

/** The stores that `rescueIn` needs. */
export const RESCUE_STORES = ["meta", "objects", "deleted", "made", "unsent", "notices"]

/**
 * Puts words of a deleted note into a new one, whose ID comes from both, so that two devices that rescue the same words
 * make one note (clients.md, rule 4).
 * @param {Transaction} tx
 * @param {{uniqueID: string, creationDate?: string, tags: string[], attachments: string[]}} note as it was, members resolved
 * @param {string} text
 * @returns {Promise<string>} the new note's ID
 */
export async function rescueIn(tx, {uniqueID, creationDate, tags, attachments}, text) {
  const into = derivedID(uniqueID, text)
  const made = tx.journal.length
  await makeNote(tx, {uniqueID: into, creationDate, text, tags, attachments})
  if (tx.journal.length > made) tx.put("notices", {kind: "rescued", uniqueID, into, mine: text, moment: Date.now()})
  return into
}

export class Writing extends Following {
  /**
   * The server's limits, by their names.
   * @returns {typeof LIMITS}
   */
  get limits() {
    return {...LIMITS, ...this.list.memory.meta.get("limits")}
  }

  /** @param {string} text @param {number} limit */
  #check(text, limit) {
    if (!fits(text, limit)) throw new StoreError("too-large")
  }

  /** @param {NewNote} note */
  #checkNote({text = "", creationDate, sortDate, tags = [], attachments = [], attributes = {}}) {
    this.#check(text, this.limits.textBytes)
    for (const date of [creationDate, sortDate]) if (date !== undefined) this.#checkDate(date)
    if (Math.max(tags.length, attachments.length) > this.limits.members) throw new StoreError("too-large")
    for (const [name, value] of Object.entries(attributes)) this.#checkAttribute(name, value)
  }

  /** @param {string} date */
  #checkDate(date) {
    if (parseDate(date) === null) throw new StoreError("invalid")
  }

  /** @param {string} name @param {any} value */
  #checkAttribute(name, value) {
    const isPlain = value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value)
    if (!NAME.test(name) || !isPlain) throw new StoreError("invalid")
    this.#check(JSON.stringify(value), this.limits.attributeValueBytes)
  }

  /**
   * A live object.
   * @param {string} id @param {string} type @returns {import("../model/entity.js").Entity}
   */
  #live(id, type) {
    const entity = this.list.memory.entity(id)
    if (entity?.type === type) return entity
    throw new StoreError(this.list.memory.deleted.has(id) || entity ? "gone" : "missing")
  }

  /**
   * Sets registers of objects of one type, each only where it changes something.
   * @param {string} type @param {[id: string, attribute: string, value: any][]} edits
   */
  async #set(type, edits) {
    const changing = edits.filter(([id, attribute, value]) => valueOf(this.#live(id, type), attribute) !== value)
    if (!changing.length) return
    await this.transaction(EDITS, "readwrite", async tx => {
      for (const [id, attribute, value] of changing) await edit(tx, type, id, attribute, value)
    }, "here")
  }

  /**
   * Makes a note.
   * @param {NewNote} [note] @returns {Promise<string>} its ID
   */
  async createNote(note = {}) {
    return (await this.createNotes([note]))[0]
  }

  /**
   * Makes notes in one transaction: an import hands in some hundred at a time.
   * @param {NewNote[]} notes @returns {Promise<string[]>} their IDs
   */
  async createNotes(notes) {
    for (const note of notes) this.#checkNote(note)
    return this.transaction(["meta", "objects", "deleted", "made", "unsent"], "readwrite", async tx => {
      const ids = []
      for (const note of notes) ids.push(await makeNote(tx, note))
      return ids
    }, "here")
  }

  /**
   * Sets a note's text. `base` is the version that the editor started from or saw last; another tab's words that it did
   * not see are kept beside these, or, where both changed the same, in a notice.
   * @param {string} id
   * @param {string} text
   * @param {{clock: string | null, value: string}} base
   * @returns {Promise<string | null>} the clock of what stands here now
   */
  async write(id, text, base) {
    this.#check(text, this.limits.textBytes)
    return this.transaction(["meta", "unsent", "deleted", "notices"], "readwrite", async tx => {
      const [standing, dead] = await Promise.all([tx.get("unsent", [id, "text"]), tx.get("deleted", id)])
      if (dead) throw new StoreError("gone")
      if (text === (standing ?? base).value) return standing ? standing.clock : base.clock
      const clock = await clockIn(tx)
      if (!standing) {
        const made = clock.tick(Date.now())
        const descent = base.clock ? {base: base.clock, baseValue: base.value} : {}
        tx.put("unsent", {uniqueID: id, attribute: "text", type: "note", value: text, clock: made, ...descent})
        return made
      }
      // What the editor did not see was typed in another tab since; the same words under a new clock were only stamped again.
      const isSeen = standing.clock === base.clock || standing.value === base.value
      const both = isSeen ? text : rebase(base.value, text, standing.value)
      if (both === null) {
        tx.put("notices", {kind: "merged", uniqueID: id, mine: standing.value, base: base.value, clock: standing.clock, moment: Date.now()})
      }
      // Its own node again: what may be half acknowledged descends from itself also after a new sign-in.
      const made = clock.tick(Date.now(), partsOf(standing.clock).node)
      tx.put("unsent", {...standing, value: both ?? text, clock: made})
      return made
    }, "here")
  }

  /** @param {string[]} ids @param {boolean} archived */
  setArchived(ids, archived) {
    return this.#set("note", ids.map(id => [id, "archived", archived]))
  }

  /** @param {string} id @param {string} date */
  async setSortDate(id, date) {
    this.#checkDate(date)
    return this.#set("note", [[id, "sortDate", date]])
  }

  /** @param {string} id @param {string} name of the attribute, such as `pinned` @param {string | number | boolean | null} value */
  async setAttribute(id, name, value) {
    this.#checkAttribute(name, value)
    return this.#set("note", [[id, `attributes.${name}`, value]])
  }

  /** @param {string} note @param {"tags" | "attachments"} kind @param {string} member @param {boolean} isIn */
  async setMember(note, kind, member, isIn) {
    const {registers} = this.#live(note, "note")
    const attribute = `${kind}.${member}`
    if (this.list.members(note, kind).includes(member) === isIn) return
    const count = Object.keys(registers).filter(name => name.startsWith(kind + ".")).length
    if (!registers[attribute] && count >= this.limits.members) throw new StoreError("too-large")
    await this.transaction(EDITS, "readwrite", tx => edit(tx, "note", note, attribute, isIn), "here")
  }

  /** @param {string} note @param {string} tag */
  addTag(note, tag) {
    return this.setMember(note, "tags", this.list.resolve(tag) ?? tag, true)
  }

  /** @param {string} note @param {string} tag */
  removeTag(note, tag) {
    return this.setMember(note, "tags", this.list.resolve(tag) ?? tag, false)
  }

  /**
   * Takes an attachment out of a note; the server deletes it when no note has held it for long.
   * @param {string} note @param {string} attachment
   */
  detach(note, attachment) {
    return this.setMember(note, "attachments", attachment, false)
  }

  /** @param {string} note @param {string} attachment */
  reattach(note, attachment) {
    return this.setMember(note, "attachments", attachment, true)
  }

  /** @param {string} name @returns {string} without white space around it */
  #checkTagName(name) {
    const trimmed = name.trim()
    if (!foldName(trimmed)) throw new StoreError("invalid", null, "A tag needs a name.")
    this.#check(trimmed, this.limits.tagNameBytes)
    return trimmed
  }

  /**
   * A tag of this name: the one that has it already, but for case, or a new one.
   * @param {string} name @returns {Promise<string>} its ID
   */
  async createTag(name) {
    const trimmed = this.#checkTagName(name)
    const standing = this.list.tagNamed(trimmed)
    if (standing) return standing
    const uniqueID = newID()
    await this.transaction([...EDITS, "made"], "readwrite", tx => {
      tx.put("made", {uniqueID, type: "tag", fixed: {}})
      return edit(tx, "tag", uniqueID, "name", trimmed)
    }, "here")
    return uniqueID
  }

  /**
   * To a name that is taken too: the server makes the two one (merge.md, Tags).
   * @param {string} id @param {string} name
   */
  async renameTag(id, name) {
    return this.#set("tag", [[id, "name", this.#checkTagName(name)]])
  }

  /**
   * Deletes an object: it is hidden at once, and can be had back until it is sent, 10 s later.
   * @param {string} id
   */
  async remove(id) {
    const {memory} = this.list
    if (memory.deleted.has(id) || memory.deletions.has(id)) return
    const type = memory.known(id)?.type
    if (!type) throw new StoreError("missing")
    await this.transaction(["deletions"], "readwrite", tx => {
      tx.put("deletions", {uniqueID: id, objectType: type, heldUntil: Date.now() + HOLD})
    }, "here")
  }

  /**
   * Takes a deletion back. False: it is too late, the deletion was taken to be sent.
   * @param {string} id @returns {Promise<boolean>}
   */
  undoRemove(id) {
    return this.transaction(["deletions"], "readwrite", async tx => {
      const held = await tx.get("deletions", id)
      if (!held?.heldUntil) return false
      tx.delete("deletions", id)
      return true
    }, "here")
  }

  /**
   * Puts words of a note that was deleted elsewhere into a new one.
   * @param {Parameters<typeof rescueIn>[1]} note @param {string} text
   */
  async rescue(note, text) {
    this.#check(text, this.limits.textBytes)
    return this.transaction(RESCUE_STORES, "readwrite", tx => rescueIn(tx, note, text), "here")
  }
}
