// What only the server knows, asked for when somebody looks: sessions, devices, histories, what was deleted.
import {derivedID} from "../model/uuid.js"
import {Http, Problem} from "./http.js"
import {stampAgain} from "./recovery.js"

/** @typedef {import("../store/copy.js").Copy} Copy */
/** @typedef {{email: string, password: string, deviceName: string, invitation?: string}} Credentials */
/**
 * One edit of a note, as its history lists it; without `value` if the server keeps it no more.
 * @typedef {{attribute: string, value?: any, clock: string, device: {uniqueID: string, name?: string}, pushedAt: string,
 *   standing: boolean}} HistoryEdit
 */

/** @param {{account: {email: string}}} held */
const otherAccount = ({account: {email}}) => new Problem({
  slug: "other-account", title: "Somebody else's notes are here",
  detail: `This browser holds the notes of ${email}: sign in as ${email}, or erase them here first.`
})

/** @param {string} path @param {string | null | undefined} cursor */
const paged = (path, cursor) => cursor ? `${path}?cursor=${encodeURIComponent(cursor)}` : path

/** The calls that a person waits for. Each throws a Problem if it cannot be done. */
export class Remote extends EventTarget {
  /** @param {Copy} copy @param {Http} http */
  constructor(copy, http) {
    super()
    this.copy = copy
    this.http = http
  }

  /** What the server is; its limits are kept for whoever writes. */
  async server() {
    const {value} = await this.http.send("GET", "/v1/server")
    await this.copy.transaction(["meta"], "readwrite", tx => tx.put("meta", value.limits, "limits"))
    return value
  }

  /** The account: e-mail, usage, quota. */
  async account() {
    return (await this.http.send("GET", "/v1/account")).value
  }

  /**
   * Makes an account, and this browser its first device.
   * @param {Credentials} credentials
   */
  signUp(credentials) {
    return this.#enter("/v1/accounts", credentials)
  }

  /**
   * Makes this browser a device of an account. Over notes that are here: of the same account only.
   * @param {Credentials} credentials
   */
  signIn(credentials) {
    return this.#enter("/v1/devices", credentials)
  }

  /** @param {string} path @param {Credentials} credentials */
  async #enter(path, credentials) {
    const held = this.copy.session
    const isSame = held?.account.email.toLowerCase() === credentials.email.trim().toLowerCase()
    if (held && !isSame) throw otherAccount(held)
    const {value: {account, device}} = await this.http.send("POST", path, {json: {...credentials, cookie: true}})
    await this.copy.transaction(["meta", "unsent"], "readwrite", async tx => {
      const standing = await tx.get("meta", "session")
      if (standing && standing.account.uniqueID !== account.uniqueID) throw otherAccount(standing)
      const session = {
        account: {uniqueID: account.uniqueID, email: account.email}, device: {uniqueID: device.uniqueID, name: device.name}
      }
      tx.put("meta", session, "session")
      // Two copies of one device must not go on under the clocks that both may have used.
      if (standing?.isTwin) await stampAgain(tx, true)
    })
  }

  /**
   * The server says that this device is signed out: everything stays until the person signs in again.
   * @param {string} device
   */
  async expire(device) {
    await this.copy.transaction(["meta"], "readwrite", async tx => {
      const session = await tx.get("meta", "session")
      // Meanwhile somebody may have signed in again.
      if (session?.device.uniqueID === device) tx.put("meta", {...session, signedOut: true}, "session")
    })
  }

  /**
   * Signs this browser out and erases everything here. `anyway`: also if the server cannot be told.
   * @param {{anyway?: boolean}} how
   */
  async signOut({anyway = false} = {}) {
    const {session} = this.copy
    try {
      if (session) await this.http.send("DELETE", `/v1/devices/${session.device.uniqueID}`, {as: "none"})
    } catch (error) {
      const isOut = error instanceof Problem && (error.status === 401 || error.status === 404)
      if (!isOut && !anyway) throw error
    }
    await this.copy.erase()
  }

  /**
   * All devices of the account.
   * @returns {Promise<any[]>}
   */
  async devices() {
    return this.#all("/v1/devices", "devices")
  }

  /**
   * Signs another device out.
   * @param {string} id
   */
  async signOutDevice(id) {
    await this.http.send("DELETE", `/v1/devices/${id}`, {as: "none"})
  }

  /**
   * Who changed a note, when and how, newest first, a page at a time.
   * @param {string} noteID @param {string | null} [cursor]
   *  @returns {Promise<{edits: HistoryEdit[], nextCursor?: string}>} */
  async history(noteID, cursor) {
    return (await this.http.send("GET", paged(`/v1/notes/${noteID}/edits`, cursor))).value
  }

  /**
   * Notes whose words are still there, a page at a time.
   * @param {string | null} [cursor]
   *  @returns {Promise<{notes: any[], nextCursor?: string}>} */
  async recentlyDeleted(cursor) {
    return (await this.http.send("GET", paged("/v1/recently-deleted", cursor))).value
  }

  /**
   * Makes a new note from what the history of a deleted one has. Doing it twice makes one note.
   * @param {string} deletedID @returns {Promise<string>}  the new note's ID
   */
  async putBack(deletedID) {
    const edits = /** @type {HistoryEdit[]} */ (await this.#all(`/v1/notes/${deletedID}/edits`, "edits"))
    /** @type {Map<string, HistoryEdit>} */
    const standing = new Map()
    for (const edit of edits) {
      const other = standing.get(edit.attribute)
      if ("value" in edit && !(other && other.clock >= edit.clock)) standing.set(edit.attribute, edit)
    }
    const {copy} = this
    /** @param {string} kind @returns {[string, any][]} */
    const those = kind => [...standing.values()].filter(edit => edit.attribute.startsWith(`${kind}.`))
      .sort((a, b) => a.clock < b.clock ? -1 : 1).map(edit => [edit.attribute.slice(kind.length + 1), edit.value])
    const members = (/** @type {string} */ kind) => those(kind).filter(([, isIn]) => isIn).map(([id]) => id)
    let uniqueID = deletedID
    // What was put back may have been deleted again.
    do uniqueID = derivedID(uniqueID, "put back")
    while (copy.list.memory.deleted.has(uniqueID) || copy.list.memory.deletions.has(uniqueID))
    const dates = edits.map(edit => edit.clock.slice(0, 24)).sort()
    return copy.createNote({
      uniqueID, text: standing.get("text")?.value, archived: standing.get("archived")?.value === true,
      creationDate: dates[0], sortDate: standing.get("sortDate")?.value ?? dates[0],
      tags: members("tags").filter(id => copy.tag(id)), attachments: members("attachments").filter(id => copy.attachment(id)),
      attributes: Object.fromEntries(those("attributes"))
    })
  }

  /**
   * All pages of a list.
   * @param {string} path @param {string} name @returns {Promise<any[]>}
   */
  async #all(path, name) {
    const found = []
    /** @type {string | undefined} */
    let cursor
    do {
      const {value} = /** @type {import("./http.js").Answer} */ (await this.http.send("GET", paged(path, cursor)))
      found.push(...value[name])
      cursor = value.nextCursor
    } while (cursor)
    return found
  }
}
