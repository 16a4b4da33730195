// What only the server knows: sessions, devices, histories, what was deleted; and new versions of the app.
import {derivedID} from "../model/hash.js"
import {Problem} from "./http.js"
import {stampAgain} from "./receive.js"

const HOUR = 3_600_000, MINUTE = 60_000

const otherAccount = ({account: {email}}) => new Problem({
  slug: "other-account", title: "Somebody else's notes are here",
  detail: `This browser holds the notes of ${email}: sign in as ${email}, or erase them here first.`,
})
const paged = (path, cursor) => cursor ? `${path}?cursor=${encodeURIComponent(cursor)}` : path

/** The calls that a person waits for. Each throws a Problem if it cannot be done. */
export class Remote extends EventTarget {
  /** @param {Copy} copy @param {Http} http */
  constructor(copy, http) {
    super()
    this.copy = copy
    this.http = http
  }

  async #get(path) {
    return (await this.http.send("GET", path)).value
  }

  /** What the server is; its limits are kept for whoever writes. */
  async server() {
    const server = await this.#get("/v1/server")
    await this.copy.transaction(["meta"], "readwrite", tx => tx.put("meta", server.limits, "limits"))
    return server
  }

  account() {
    return this.#get("/v1/account")
  }

  /** Makes an account, and this browser its first device. @param {Credentials} credentials */
  signUp(credentials) {
    return this.#enter("/v1/accounts", credentials)
  }

  /** Makes this browser a device; over notes that are here, of their account. @param {Credentials} credentials */
  signIn(credentials) {
    return this.#enter("/v1/devices", credentials)
  }

  async #enter(path, credentials) {
    const held = this.copy.session
    if (held && held.account.email.toLowerCase() !== credentials.email.trim().toLowerCase()) throw otherAccount(held)
    const {value} = await this.http.send("POST", path, {json: {...credentials, cookie: true}})
    const {account: {uniqueID, email}, device} = value
    await this.copy.transaction(["meta", "unsent"], "readwrite", async tx => {
      const standing = await tx.get("meta", "session")
      if (standing && standing.account.uniqueID !== uniqueID) throw otherAccount(standing)
      tx.put("meta", {account: {uniqueID, email}, device: {uniqueID: device.uniqueID, name: device.name}}, "session")
      // A copied device must not go on under the clocks that the other may have used.
      if (standing?.isTwin) await stampAgain(tx, true)
    })
  }

  /** The server does not know this device any more: everything stays, and waits for a new sign-in. */
  expire(device) {
    return this.copy.transaction(["meta"], "readwrite", async tx => {
      const session = await tx.get("meta", "session")
      // Meanwhile somebody may have signed in again.
      if (session?.device.uniqueID === device) tx.put("meta", {...session, signedOut: true}, "session")
    })
  }

  /** Signs this browser out and erases everything here. `anyway`: also if the server cannot be told. */
  async signOut({anyway = false} = {}) {
    const {session} = this.copy
    await (session && this.signOutDevice(session.device.uniqueID).catch(problem => {
      if (!anyway && ![401, 404].includes(problem.status)) throw problem
    }))
    await this.copy.erase()
  }

  devices() {
    return this.#all("/v1/devices", "devices")
  }

  /** @param {string} id */
  async signOutDevice(id) {
    await this.http.send("DELETE", `/v1/devices/${id}`)
  }

  /**
   * Who changed a note, when and how, newest first, a page at a time.
   * @param {string} noteID @param {string | null} [cursor]
   * @returns {Promise<{edits: HistoryEdit[], nextCursor?: string}>}
   */
  history(noteID, cursor) {
    return this.#get(paged(`/v1/notes/${noteID}/edits`, cursor))
  }

  /** Notes whose words are still there, a page at a time. @param {string | null} [cursor] */
  recentlyDeleted(cursor) {
    return this.#get(paged("/v1/recently-deleted", cursor))
  }

  /** A new note from the history of a deleted one: its ID. Twice makes one note. @param {string} deletedID */
  async putBack(deletedID) {
    /** @type {HistoryEdit[]} */
    const edits = await this.#all(`/v1/notes/${deletedID}/edits`, "edits")
    edits.sort((a, b) => a.clock < b.clock ? -1 : 1)
    const standing = new Map()
    for (const {attribute, value} of edits) {
      if (value === undefined) continue
      standing.delete(attribute) // so that the order is that of the clocks
      standing.set(attribute, value)
    }
    const {copy, copy: {memory}} = this
    const those = kind => [...standing].filter(([name]) => name.startsWith(kind))
      .map(([name, value]) => [name.slice(kind.length), value])
    const members = (kind, isThere) => those(kind).filter(([id, isIn]) => isIn && isThere(id)).map(([id]) => id)
    let uniqueID = deletedID
    // What was put back may have been deleted again.
    do uniqueID = derivedID(uniqueID, "put back")
    while (memory.deleted.has(uniqueID) || memory.deletions.has(uniqueID))
    const creationDate = edits[0]?.clock.slice(0, 24)
    return copy.createNote({
      uniqueID, creationDate, text: standing.get("text"), archived: standing.get("archived"),
      sortDate: standing.get("sortDate") ?? creationDate, tags: members("tags.", id => copy.tag(id)),
      attachments: members("attachments.", id => copy.attachment(id)),
      attributes: Object.fromEntries(those("attributes.")),
    })
  }

  /** All pages of a list. @returns {Promise<any[]>} */
  async #all(path, name) {
    const found = []
    let cursor
    do {
      const page = await this.#get(paged(path, cursor))
      found.push(...page[name])
      cursor = page.nextCursor
    } while (cursor)
    return found
  }
}

/**
 * Registers the service worker, and looks for a new version each hour, or when the function that it returns is called.
 * @param {(apply: () => void) => void} offer a new version is ready @param {() => void} reload
 */
export const keepUpToDate = (offer, reload) => {
  const container = navigator.serviceWorker
  if (!container) return () => {}
  let registration, looked = Date.now(), isApplying = false, isControlled = Boolean(container.controller)
  const offerWaiting = () => {
    const {waiting} = registration
    // The first version of all needs nobody's consent.
    if (waiting && container.controller) offer(() => {
      isApplying = true
      waiting.postMessage("skipWaiting")
    })
  }
  container.addEventListener("controllerchange", () => {
    if (isApplying) reload()
    // Another tab went over: this one still shows the version before.
    else if (isControlled) offer(reload)
    isControlled = true
  })
  const types = /** @type {any} */ (globalThis).trustedTypes
  const policy = types?.createPolicy("hesper", {createScriptURL: path => path})
  container.register(policy?.createScriptURL("/sw.js") ?? "/sw.js", {updateViaCache: "none"}).then(made => {
    registration = made
    offerWaiting()
    made.addEventListener("updatefound", () => made.installing?.addEventListener("statechange", offerWaiting))
  }, () => {}) // Without a worker all works but opening without a network.
  const look = () => {
    if (Date.now() - looked < MINUTE) return
    looked = Date.now()
    registration?.update().catch(() => {})
  }
  setInterval(look, HOUR)
  return look
}
