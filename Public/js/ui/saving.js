// How typed words get into the copy: when, over which version, and what becomes of words that came meanwhile
// (clients.md, rules 2 and 3).

import { rebase } from "../model/text.js"

const pause = 400 // ms without a key after which a moment of typing is over
const longest = 2_000 // ms of typing without a pause after which it is saved all the same
const KEPT = "typed " // and the ID of a note: what the names of kept words begin with

/**
 * Puts into the copy what was typed last in pages that ended before it was saved.
 * @param {Copy} copy
 */
export const takeKept = async copy => {
  await copy.loaded
  for (const name of Object.keys(localStorage).filter(name => name.startsWith(KEPT))) {
    const id = name.slice(KEPT.length)
    const { account, value, base, tags } = JSON.parse(localStorage[name])
    if (account === copy.session?.account.uniqueID && copy.note(id)?.text !== value) {
      if (copy.note(id)) await copy.write(id, value, base)
      else if (base.clock) await copy.rescue({ uniqueID: id, tags, attachments: [] }, value)
      else await copy.createNote({ uniqueID: id, text: value, tags })
    }
    delete localStorage[name]
  }
}

export class Saving {
  #timer = 0
  #began = 0
  /** @type {Promise<void> | null} */
  #running = null
  isComposing = false

  /**
   * @param {Copy} copy @param {string} id of a note that is there, or is made with the first words
   * @param {Typing} editor
   */
  constructor(copy, id, editor) {
    this.copy = copy
    this.id = id
    this.editor = editor
    const note = copy.note(id)
    /**
     * The version that the words now were typed over.
     * @type {{clock: string | null, value: string}}
     */
    this.base = { clock: note?.textClock ?? null, value: note?.text ?? "" }
  }

  /** After each key. */
  typed() {
    this.#began ||= Date.now()
    clearTimeout(this.#timer)
    const wait = Math.max(0, Math.min(pause, this.#began + longest - Date.now()))
    this.#timer = window.setTimeout(() => this.isComposing ? this.typed() : this.commit(), wait)
  }

  /**
   * Saves what was typed. One write at a time, so that each has the one before as its base.
   * @returns {Promise<void>}
   */
  async commit() {
    clearTimeout(this.#timer)
    this.#began = 0
    if (this.#running) return this.#running.then(() => this.commit())
    if (this.editor.read() === this.base.value) return
    this.#running = this.#write().catch(this.editor.failed).finally(() => { this.#running = null })
    await this.#running
    this.editor.settled()
  }

  /** The page ends, perhaps before a transaction does. What is put into localStorage is kept all the same. */
  keep() {
    const { copy, id, base, editor: { tags } } = this
    const value = this.editor.read()
    if (value === base.value || !copy.session) return
    localStorage[KEPT + id] = JSON.stringify({ account: copy.session.account.uniqueID, value, base, tags })
    this.commit()
  }

  /** For what belongs to a note but is not text: makes the note if it is not there yet. */
  async ensure() {
    await this.commit()
    if (!this.copy.note(this.id)) await this.#write()
  }

  async #write() {
    const { copy, id, base, editor } = this
    const value = editor.read()
    const isThere = base.clock || copy.note(id)
    if (!isThere) await copy.createNote({ uniqueID: id, text: value, tags: editor.tags })
    const clock = isThere ? await copy.write(id, value, base) : copy.note(id)?.textClock ?? null
    this.base = { clock, value }
    delete localStorage[KEPT + id]
  }

  /**
   * The note changed in the copy. What the editor is to show instead of its words, or null if they stand: words that
   * are not saved yet are left alone, unless another tab's fit beside them.
   * @param {string} source @returns {string | null}
   */
  meet(source) {
    const note = this.copy.note(this.id)
    const { clock, value } = this.base
    if (!note || this.#running || this.isComposing || note.textClock === clock && note.text === value) return null
    const mine = this.editor.read()
    const both = mine === value ? note.text : source === "tab" ? rebase(value, mine, note.text) : null
    if (both !== null) this.base = { clock: note.textClock, value: note.text }
    return both
  }
}
