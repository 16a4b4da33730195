// The local copy: the records of its database, what readers of the copy get, and its interface. All types are global in the
// scripts of this folder and of those that use it; no browser loads this file.

// Objects as the server and this device know them (merge.md).

/** The value of an attribute and the clock of the edit that set it. */
type Register = [value: any, clock: string]

/** What is known of one object. */
interface Entity {
  uniqueID: string
  /** "note", "tag", "attachment", or the objectType of another app's object; "" while it is unknown. */
  type: string
  /** What is set once: `creationDate`; of an attachment what `Properties` has, `byteCount` and `sha256`. */
  fixed: Record<string, any>
  /** By attribute: "text", "archived", "tags.<uniqueID>", "attributes.pinned" … (merge.md, Edits). */
  registers: Record<string, Register>
  /** In the object store `objects`: its part of the digest in hex, "" while it does not exist. */
  hash?: string
}

interface DeletedObject {
  uniqueID: string
  objectType: string
  mergedInto?: string
  /** The note that has words of this one which were written before its deletion was known. */
  rescuedInto?: string
  deletionDate?: string
}

// Records of the database, by the name of their object store.

/** `objects`: what the server acknowledged or sent. In the database, a record contains several objects (packs.js). */
interface StoredObject extends Entity {
  hash: string
}

/** A record of the object store `objects`. */
interface Pack {
  number: number
  objects: StoredObject[]
  /** Their IDs. */
  ids: string[]
  /** The index of this name reads tags first, then pinned notes, notes, archived ones, each by the last edit, newest first. */
  places: number[]
}

/** `unsent`: an edit that the server has not acknowledged. */
interface Edit {
  uniqueID: string
  attribute: string
  /** Of its object. */
  type: string
  value: any
  clock: string
  /** Of a text: the version that it was made from, and its words. */
  base?: string | null
  baseValue?: string
  /** Of a text: the clocks of earlier texts that were sent but not answered, oldest first. Missing in records of earlier versions. */
  after?: string[]
  /** The last of them, when a push may not name more: it is sent again before a new one is. */
  last?: Edit
  /** It was written on another note, so the server may lack its base here. */
  isMoved?: boolean
  /** It was over the account's quota, and is sent again later. */
  held?: boolean
}

/** `made`: a new object that the server has not acknowledged. */
interface Made {
  uniqueID: string
  type: string
  fixed: Record<string, any>
  /** An attachment whose bytes must be uploaded first. */
  needsBytes?: boolean
  /** It was over the account's quota: it and its edits are sent again later. */
  held?: boolean
}

/** `deletions`: the object is hidden; the deletion is sent when `heldUntil` (ms since 1970) is past. 0: it is being sent. */
interface Deletion {
  uniqueID: string
  objectType: string
  heldUntil: number
  /**
   * Of a note: the text that the person saw, and their own texts that the server may not have yet (merge.md, Deleting a
   * text that was not seen).
   */
  textSeen?: string
  textAfter?: string[]
}

/** `notices`: what a person is told, until they dismiss it. */
interface Notice {
  /**
   * "merged": a merge replaced words of this browser. "rescued": a note was deleted on another device, and words of this browser
   * are in `into`. "unseen": this browser deleted a note, and words that it had not received are in `into`.
   */
  kind: "merged" | "rescued" | "unseen"
  /** Of the note. */
  uniqueID: string
  into?: string
  superseded?: Superseded[]
  /** Of the text that `superseded` is about. */
  clock?: string
  moment: number
}

/** `meta`, "session". */
interface Session {
  account: {uniqueID: string, email: string}
  device: {uniqueID: string, name: string}
  /** The session has ended: the next sign-in must be to the same account. */
  signedOut?: boolean
}

// What a reader of the copy gets.

/** A note, including unsent edits; its members are resolved (merge.md, Membership). */
interface Note {
  uniqueID: string
  creationDate: string
  text: string
  title: string
  excerpt: string
  /** When its text was edited last, or the note was created; not later than now (clients.md, The modified date). */
  edited: string
  archived: boolean
  sortDate: string
  pinned: boolean
  tags: string[]
  attachments: string[]
  attributes: Record<string, any>
  /** The version of the text; null if it was never set. */
  textClock: string | null
  isUnsent: boolean
}

interface Tag {
  /** Of a node of the tree that is not a tag itself, its key. */
  uniqueID: string
  name: string
  /** Notes that have it and are not archived. */
  count: number
}

/** A line of the tree of tags: "work/mail" is below "work", which need not be a tag itself. */
interface TagNode {
  /** Its ID in addresses: that of the tag, or one derived from the name if there is no such tag. */
  key: string
  /** The tag's ID, or "". */
  tag: string
  /** The whole name: "work/mail". */
  name: string
  /** Its last part: "mail". */
  label: string
  /** 1 at the top. */
  level: number
  /** The folded name. */
  path: string
  hasChildren: boolean
  /** The tags of this name and of those below it. */
  ids: Set<string>
  /** Notes that have one of these tags and are not archived. */
  count: number
}

/** The orders of the list of notes: by the last edit, by creation, both newest first, by title, by `sortDate`. */
type ListOrder = "edited" | "created" | "title" | "hand"

/** What is known of a file that is added to a note. */
interface Properties {
  mimeType?: string
  filename?: string
  width?: number
  height?: number
  /** Base64 of a small JPEG. */
  preview?: string
}

interface Attachment extends Properties {
  uniqueID: string
  mimeType: string
  byteCount?: number
  sha256?: string
  /** Whether its bytes are in this browser. */
  isHere: boolean
  isUnsent: boolean
}

/** What `createNote` takes; everything has a default. */
interface NewNote {
  uniqueID?: string
  creationDate?: string
  text?: string
  tags?: string[]
  attachments?: string[]
  attributes?: Record<string, any>
  sortDate?: string
  archived?: boolean
}

// How the copy works. Opening it reads the small stores, tags, the 50 notes that were edited last and their attachments first, then
// everything else, 20 packs at a time. While everything is read again, what is in memory stays. Haystacks of the search are built
// for 8 ms at a time while the browser is idle. A write resolves when it is on the disk. A lost connection is opened again, and the
// transaction is tried again up to four times, after 0.2, 0.4, 0.8 and 1.6 s; the same when the disk is full, after half of the
// bytes that the server has too were deleted, the least recently used first.

/** The object stores that a tab mirrors in memory, by their keys. */
interface Memory {
  objects: Map<string, StoredObject>
  deleted: Map<string, DeletedObject>
  /** By ID and attribute. */
  unsent: Map<string, Map<string, Edit>>
  made: Map<string, Made>
  deletions: Map<string, Deletion>
  /** The attachments whose bytes are in this browser. */
  bytes: Map<string, true>
  shelf: Map<number, any>
  notices: Map<number | string, any>
  meta: Map<string, any>
}

/** A write of a transaction: without `record` a deletion, with the key null of the whole store. */
interface JournalLine {
  store: string
  key: any
  record?: any
}

/**
 * One IndexedDB transaction with promises. Await only its own requests: without a request it ends. Do not change a record that was
 * put: memory holds the same object. `put`, `delete` and `clear` need not be awaited: if one fails, the transaction fails.
 */
interface Transaction {
  /** What it wrote so far. */
  journal: JournalLine[]
  /** What is done before the commit. */
  atEnd: (() => unknown)[]
  /** Of records.js: the clock, and what is to be added to the digest. */
  clock: Promise<import("../model/clock.js").ClockSource> | null
  digest: string
  get(store: string, key: IDBValidKey): Promise<any>
  getAll(store: string): Promise<any[]>
  /** By an index: `uniqueID` of `unsent`. */
  getAllBy(store: string, index: string, range: any): Promise<any[]>
  /** In the order of an index: `lastUse` of `bytes`. */
  getAllKeys(store: string, index?: string): Promise<any[]>
  count(store: string, range?: IDBValidKey | IDBKeyRange): Promise<number>
  put(store: string, record: any, key?: IDBValidKey): void
  /** Stores new objects. Returns the stored ones: an object that exists already is not stored, nor are others of its pack. */
  addObjects(objects: StoredObject[]): Promise<StoredObject[]>
  delete(store: string, key: IDBValidKey): void
  clear(store: string): void
}

/** Where a change comes from: this tab, another tab, the server. */
type Origin = "here" | "tab" | "sync"

/** A deleted note, and what of it a new note gets. */
type Rescued = Pick<Note, "uniqueID" | "tags" | "attachments"> & {creationDate?: string}

/**
 * The local copy. Reading is synchronous, from memory, and includes unsent edits; objects that are deleted, or whose deletion is
 * to be sent, are not there. Methods that write resolve when the data is on the disk, and throw a StoreError.
 *
 * Events: "change" {ids: Set | null (any), source}; "session", "settings", "held", "notice", "shelf", "sync" when such a
 * record changed; "trouble" (detail: a StoreError): what another tab wrote could not be read.
 */
interface LocalCopy extends EventTarget {
  /** The records as they are on the disk. */
  memory: Memory
  /** Resolves when everything is in memory, not only the newest notes. */
  loaded: Promise<void>
  session: Session | null
  /** The server's limits (protocol.md, Limits), once they are known. */
  limits: {textBytes?: number, tagNameBytes?: number, attachmentBytes?: number}
  /** Preferences in this browser. */
  settings: {
    get(name: string, otherwise?: any): any
    set(name: string, value: any): Promise<void>
  }

  note(id: string): Note | undefined
  /**
   * IDs, pinned notes first. `tag` also finds the notes of tags below it, unless `isExact`. `archived` null: both. `arePrepared`: the
   * query is applied only to notes that are prepared.
   */
  notes(filter?: {
    query?: string, tag?: string | null, isExact?: boolean, archived?: boolean | null, order?: ListOrder, arePrepared?: boolean
  }): string[]
  /** The numbers of notes that are not archived, and that are. */
  counts(): {notes: number, archived: number}
  /** How many of these notes are pinned, and how many are archived. */
  flags(ids: string[]): {pinned: number, archived: number}
  /** Prepares notes for searching, for at most `most` ms. Returns whether all notes are prepared. */
  prepareSearch(most: number): boolean
  /** Notes with a title, in the order of the list. */
  titles(): {id: string, title: string}[]
  /** The first note with this title, whatever its case. */
  titled(title: string): string | undefined
  /** The notes whose texts link to this title (model/links.js). */
  linkingTo(title: string): string[]
  /** `id` may also be the key of a node of the tree. */
  tag(id: string): Tag | undefined
  /** The tags as a tree, each node before those below it. */
  tagTree(): TagNode[]
  /** By their folded names. */
  tags(): Tag[]
  /** The tag of this name in any case; of several, which the server will merge, the one that stays. */
  tagNamed(name: string): string | undefined
  attachment(id: string): Attachment | undefined
  /** An attachment's bytes, if they are here. */
  bytes(id: string): Promise<Blob | undefined>
  /** An object in registers. */
  entity(id: string): Entity | undefined
  /** Also one that is deleted. */
  known(id: string): Entity | undefined
  entities(): Generator<Entity>
  /** The live tag or attachment that an ID stands for (merge.md, Membership). */
  resolve(id: string): string | null
  /** Resolved, also of a note that is deleted. */
  members(id: string, kind: "tags" | "attachments"): string[]
  /** The number of objects with unsent edits. */
  unsentCount(): number
  /** The number of those with an edit that is over the account's quota. */
  heldCount(): number
  /** When the next deletion is to be sent, in ms since 1970; Infinity if there is none. */
  nextDeletion(): number
  /** Changes that the server refused, each with its `key` (clients.md, rule 9). */
  shelf(): any[]
  /** Notices that were not dismissed, each with its `key`. */
  notices(): any[]

  /** Makes a note, unless its ID is that of an object that exists or was deleted. Its ID. */
  createNote(note?: NewNote): Promise<string>
  /** In one transaction. */
  createNotes(notes: NewNote[]): Promise<string[]>
  /**
   * Sets a note's text; the new version's clock. `base` is the version that was edited. Changes that another tab made since then
   * are merged; where both changed the same words, the other's are in a notice. StoreError "gone": the note was deleted.
   */
  write(id: string, text: string, base: {clock: string | null, value: string, isMoved?: boolean}): Promise<string | null>
  /** Of a deleted note: the live one that has its words. */
  rescueOf(id: string): Promise<string | undefined>
  /** Puts words of a note that was deleted on another device into a new note; its ID. */
  rescue(note: Rescued, text: string): Promise<string>
  setArchived(ids: string[], archived: boolean): Promise<void>
  setSortDate(id: string, date: string): Promise<void>
  setAttribute(id: string | string[], name: string, value: string | number | boolean | null): Promise<void>
  setMember(note: string, kind: "tags" | "attachments", member: string, isIn: boolean): Promise<void>
  addTag(note: string, tag: string): Promise<void>
  removeTag(note: string, tag: string): Promise<void>
  /** Removes a file from a note. The server deletes it after the grace period (clients.md, rule 8). */
  detach(note: string, attachment: string): Promise<void>
  reattach(note: string, attachment: string): Promise<void>
  /** Adds a file to a note; its ID. A note has the same bytes once; a file that was removed is put back. */
  attach(note: string, blob: Blob, properties?: Properties & {uniqueID?: string}): Promise<string>
  /** The tag of this name, in any case, or a new one. */
  createTag(name: string): Promise<string>
  /** The server merges tags of one name (merge.md, Tags). */
  renameTag(id: string, name: string): Promise<void>
  /** By ID, in one transaction. */
  renameTags(names: [id: string, name: string][]): Promise<void>
  /** Adds tags to notes and removes them, in one transaction. */
  setTags(changes: [note: string, tag: string, isIn: boolean][]): Promise<void>
  /** Deletes objects: they are hidden at once, and the deletions are sent after 10 s. */
  remove(ids: string | string[]): Promise<void>
  /** Returns whether all deletions were undone. A deletion that is being sent cannot be undone. */
  undoRemove(ids: string | string[]): Promise<boolean>
  dismiss(key: number | string): Promise<void>
  takeOffShelf(key: number): Promise<void>
  /** Erases everything; other tabs get "session". */
  erase(deviceID?: string): Promise<void>

  /**
   * Runs a transaction. When it is on the disk, memory and the other tabs are brought up to date. `body` awaits only requests of
   * `tx`, and may run again, so it must not change anything else.
   */
  transaction<T>(stores: string[], mode: IDBTransactionMode, body: (tx: Transaction) => T | Promise<T>, source?: Origin):
    Promise<T>
}

type Copy = LocalCopy
