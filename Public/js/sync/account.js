// Accounts, devices, access tokens, webhooks, signing in and out, histories, deleted notes.
import {registersOf, writeState} from "../model/entity.js"
import {derivedID} from "../model/hash.js"
import {stampAgain} from "../store/records.js"
import {Problem} from "./http.js"

/** The notes in this browser are of another account than the credentials. */
const otherAccount = ({account: {email}}) => new Problem({slug: "other-account", detail: email})

/**
 * What is asked of the server beside syncing: the account, its devices, signing in and out, histories. The methods are
 * described in types.d.ts, `SyncEngine`, which extends this class.
 */
export class Remote extends EventTarget {
  /** The last sign-in or sign-up, where there are no locks. @type {Promise<any>} */
  #entering = Promise.resolve()

  /**
   * @param {Copy} copy
   * @param {Http} http
   */
  constructor(copy, http) {
    super()
    this.copy = copy
    this.http = http
  }

  async #get(path, cursor = "") {
    return (await this.http.send("GET", cursor ? `${path}?cursor=${encodeURIComponent(cursor)}` : path)).value
  }

  /** The list `name` of all pages. */
  async #all(path, name) {
    const found = []
    let cursor
    do {
      const page = await this.#get(path, cursor)
      found.push(...page[name])
      cursor = page.nextCursor
    } while (cursor)
    return found
  }

  async server() {
    const server = await this.#get("/v1/server")
    await this.copy.transaction(["meta"], "readwrite", tx => tx.put("meta", server.limits, "limits"))
    return server
  }

  account = () => this.#get("/v1/account")
  devices = () => this.#all("/v1/devices", "devices")
  tokens = async () => (await this.#get("/v1/tokens")).tokens
  createToken = async json => (await this.http.send("POST", "/v1/tokens", {json})).value
  revokeToken = id => this.http.send("DELETE", `/v1/tokens/${id}`)

  webhooks = async () => (await this.#get("/v1/webhooks")).webhooks
  createWebhook = async json => (await this.http.send("POST", "/v1/webhooks", {json})).value
  changeWebhook = async (id, json) => (await this.http.send("PATCH", `/v1/webhooks/${id}`, {json})).value
  deleteWebhook = id => this.http.send("DELETE", `/v1/webhooks/${id}`)
  testWebhook = async id => (await this.http.send("POST", `/v1/webhooks/${id}/test`)).value
  deliveries = async id => (await this.#get(`/v1/webhooks/${id}/deliveries`)).deliveries
  replayDelivery = async (id, delivery) =>
    (await this.http.send("POST", `/v1/webhooks/${id}/replay`, {json: {delivery}})).value
  history = (noteID, cursor) => this.#get(`/v1/notes/${noteID}/edits`, cursor)
  recentlyDeleted = cursor => this.#get("/v1/recently-deleted", cursor)
  signUp = credentials => this.#enter("/v1/accounts", credentials)
  signIn = credentials => this.#enter("/v1/devices", credentials)

  /** Makes this browser a device, of a new account or an existing one. One at a time, so that the session and its cookie agree. */
  #enter(path, credentials) {
    const enter = () => this.#enterAlone(path, credentials)
    if (navigator.locks) return navigator.locks.request("hesper-enter", enter)
    return this.#entering = this.#entering.catch(() => {}).then(enter)
  }

  async #enterAlone(path, credentials) {
    const held = await this.copy.transaction(["meta"], "readonly", tx => tx.get("meta", "session"))
    if (held && held.account.email.toLowerCase() !== credentials.email.trim().toLowerCase()) throw otherAccount(held)
    const {value: {account: {uniqueID, email}, device}} =
      await this.http.send("POST", path, {json: {...credentials, cookie: true}})
    await this.copy.transaction(["meta", "unsent"], "readwrite", async tx => {
      const standing = await tx.get("meta", "session")
      if (standing && standing.account.uniqueID !== uniqueID) throw otherAccount(standing)
      tx.put("meta", {account: {uniqueID, email}, device: {uniqueID: device.uniqueID, name: device.name}}, "session")
      // Another browser may have used the clocks of this copied device.
      if (standing?.isTwin) await stampAgain(tx)
    })
  }

  /** Notes that the session of a device has ended; what is here stays. */
  expire(device) {
    return this.copy.transaction(["meta"], "readwrite", async tx => {
      const session = await tx.get("meta", "session")
      if (session?.device.uniqueID === device) tx.put("meta", {...session, signedOut: true}, "session")
    })
  }

  async signOut({anyway = false} = {}) {
    const {session} = this.copy
    await (session && this.signOutDevice(session.device.uniqueID).catch(error => {
      if (!anyway && ![401, 404].includes(error.status)) throw error
    }))
    await this.copy.erase(session?.device.uniqueID)
  }

  async deleteAccount(json) {
    const {session} = this.copy
    await this.http.send("DELETE", "/v1/account", {json})
    await this.copy.erase(session?.device.uniqueID)
  }

  changePassword = json => this.http.send("PATCH", "/v1/account", {json})
  verifyEmail = () => this.http.send("POST", "/v1/account/email-verification")
  async renameDevice(id, name) {
    await this.http.send("PATCH", `/v1/devices/${id}`, {json: {name}})
    await this.copy.transaction(["meta"], "readwrite", async tx => {
      const session = await tx.get("meta", "session")
      if (session?.device.uniqueID === id) tx.put("meta", {...session, device: {...session.device, name}}, "session")
    })
  }

  signOutDevice = id => this.http.send("DELETE", `/v1/devices/${id}`)
  revoke = (id, json) => this.http.send("POST", `/v1/devices/${id}/revocation`, {json})

  async putBack(deletedID) {
    const edits = await this.#all(`/v1/notes/${deletedID}/edits`, "edits")
    edits.sort((a, b) => a.clock < b.clock ? -1 : 1)
    const {copy, copy: {memory}} = this
    const creationDate = edits[0]?.clock.slice(0, 24)
    const registers = registersOf(edits.filter(one => one.value !== undefined))
    const note = writeState({uniqueID: deletedID, type: "note", fixed: {creationDate}, registers})
    let uniqueID = deletedID
    // A note that was restored may have been deleted again: then the next ID in the sequence.
    do uniqueID = derivedID(uniqueID, "put back")
    while (memory.deleted.has(uniqueID) || memory.deletions.has(uniqueID))
    const isThere = id => copy.entity(id)
    return copy.createNote({
      ...note, uniqueID, tags: note.tags.filter(isThere), attachments: note.attachments.filter(isThere),
    })
  }
}
