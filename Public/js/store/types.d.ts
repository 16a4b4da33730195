// The shapes of the local copy: what IndexedDB keeps, and what a reader of the copy gets. All are global in the scripts
// of this folder and of those that use it; no browser loads this file.

// Objects as the server and this device know them (merge.md).

/** The value of an attribute and the clock of the edit that set it. */
type Register = [value: any, clock: string]

/** What is known of one object. */
interface Entity {
  uniqueID: string
  /** "note", "tag", "attachment", or the objectType that an app made up; "" while it is unknown. */
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
  /** The note that has the words of this one which its deletion had not seen. */
  rescuedInto?: string
  deletionDate?: string
}

// Records of the database, by the name of their object store.

/** `objects`: what the server acknowledged or sent. */
interface Held extends Entity {
  hash: string
  /** The index of this name reads tags first, then pinned notes, notes, archived ones, each newest first. */
  place?: number
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
  /** For a text: the clocks of earlier texts that were sent but not answered, oldest first. Missing in records of earlier versions. */
  after?: string[]
  /** The last of them, when they are as many as a push may name: it is sent again instead of a new one. */
  last?: Edit
  /** It was written on another note, so the server may lack its base here. */
  isMoved?: boolean
  /** It was over the account's quota: it is not sent before its time. */
  held?: boolean
}

/** `made`: a new object that the server has not acknowledged. */
interface Made {
  uniqueID: string
  type: string
  fixed: Record<string, any>
  /** An attachment whose bytes go up first. */
  needsBytes?: boolean
  /** It was over the account's quota: neither it nor its edits are sent before their time. */
  held?: boolean
}

/** `deletions`: the object is hidden; the deletion is sent when `heldUntil` (ms since 1970) is past. 0: it is being sent. */
interface Deletion {
  uniqueID: string
  objectType: string
  heldUntil: number
  /** Of a note: the text that the person saw, and their own words on the way (merge.md, Deleting a text that was not seen). */
  textSeen?: string
  textAfter?: string[]
}

/** `notices`: what a person should hear of. */
interface Notice {
  /**
   * "merged": words of this browser that do not stand. "rescued": a note was deleted elsewhere, and words of this browser are
   * in `into`. "unseen": this browser deleted a note, and words that it had not seen are in `into`.
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
  /** The server knows this session no more: whoever signs in again has to be the same account. */
  signedOut?: boolean
}

// What a reader of the copy gets.

/** A note with what is unsent; its members are resolved (merge.md, Membership). */
interface Note {
  uniqueID: string
  creationDate: string
  text: string
  title: string
  excerpt: string
  archived: boolean
  sortDate: string
  pinned: boolean
  tags: string[]
  attachments: string[]
  attributes: Record<string, any>
  /** The version of the text; null if nobody wrote any. */
  textClock: string | null
  isUnsent: boolean
}

interface Tag {
  uniqueID: string
  name: string
  /** Notes that have it and are not archived. */
  count: number
}

/** What is told of a file that is put on a note. */
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

/** What `createNote` is given; all of it has a default. */
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

// How the copy works. Opening reads what is small, tags, the newest 50 notes and their attachments first; all else then comes 500
// objects at a time. While all is read again, what a person sees stays. Haystacks of the search are built 8 ms at a time while
// nothing else happens. What is written is on the disk before it counts as saved. A connection that was lost is opened again,
// and what it was to do is tried four times more, after 0.2, 0.4, 0.8 and 1.6 s; likewise when there is no room, after half of
// the bytes that the server has too were given up, the oldest here.

/** The object stores of the database that a tab keeps in memory, by their keys. */
interface Memory {
  objects: Map<string, Held>
  deleted: Map<string, DeletedObject>
  /** By ID and attribute. */
  unsent: Map<string, Map<string, Edit>>
  made: Map<string, Made>
  deletions: Map<string, Deletion>
  /** Whose bytes are here. */
  bytes: Map<string, true>
  shelf: Map<number, any>
  notices: Map<number | string, any>
  meta: Map<string, any>
}

/** What a transaction wrote: no `record` is a deletion, the key null all of the store. */
interface JournalLine {
  store: string
  key: any
  record?: any
}

/**
 * One IndexedDB transaction with promises. Await nothing in it but its own requests: one that has none ends. A record that
 * was put is not changed afterwards: memory keeps that very object. `put`, `delete` and `clear` need not be awaited: if one
 * fails, the transaction does.
 */
interface Transaction {
  /** What it wrote so far. */
  journal: JournalLine[]
  /** What comes last, before the commit. */
  atEnd: (() => unknown)[]
  /** Of copy.js: the clock, and what is to be added to the digest. */
  clock: Promise<import("../model/entity.js").ClockSource> | null
  digest: string
  get(store: string, key: IDBValidKey): Promise<any>
  getAll(store: string, range?: IDBKeyRange, most?: number): Promise<any[]>
  /** By an index: `uniqueID` of `unsent`, `place` of `objects`. */
  getAllBy(store: string, index: string, range: any, most?: number): Promise<any[]>
  /** In the order of an index: `lastUse` of `bytes`. */
  getAllKeys(store: string, index?: string): Promise<any[]>
  count(store: string, range?: IDBValidKey | IDBKeyRange): Promise<number>
  put(store: string, record: any, key?: IDBValidKey): void
  delete(store: string, key: IDBValidKey): void
  clear(store: string): void
}

/** Whose change it is: this tab's, another tab's, the server's. */
type Origin = "here" | "tab" | "sync"

/** A note that is gone, and what of it a new one takes over. */
type Rescued = Pick<Note, "uniqueID" | "tags" | "attachments"> & {creationDate?: string}

/** What is done inside transactions: copy.js. Each says the stores that it needs. */
interface Records {
  /** This device's clock, read and saved in the transaction, so that no two tabs tick the same. `meta`. */
  clockIn: (tx: Transaction) => Promise<import("../model/entity.js").ClockSource>
  /** Sets a register; its clock. `meta`, `unsent`. */
  edit: (tx: Transaction, type: string, uniqueID: string, attribute: string, value: any) => Promise<string>
  /**
   * Stamps all that is unsent again, in its order, from the greatest clock that the server knows (merge.md, Ahead).
   * `meta`, `unsent`.
   */
  stampAgain: (tx: Transaction) => Promise<void>
  /** Whether it was made: an ID that is known, dead or alive, makes nothing. `meta`, `objects`, `deleted`, `made`, `unsent`. */
  makeNote: (tx: Transaction, uniqueID: string, note: NewNote) => Promise<boolean>
  /**
   * Puts words of a deleted note into a new one; its ID. That comes from both, so that two devices that rescue the same
   * words make one note (clients.md, rule 4). As `makeNote`, and `notices`.
   */
  rescueIn: (tx: Transaction, note: Rescued, text: string) => Promise<string>
  /** Of a dead note: the live one that has its words, by its DeletedObject and those that follow. */
  rescueOf: (get: (id: string) => Promise<DeletedObject | undefined>, id: string, steps?: number) =>
    Promise<string | undefined>
  /**
   * Folds what the server acknowledged or sent into `objects`; not two of one ID at once. `now` undefined: it is dead.
   * `objects`, `deleted`, `meta`, as the digest there is kept with it.
   */
  putEntity: (tx: Transaction, incoming: Entity) => Promise<{before?: Held, now?: Held}>
  /** Puts an object as it is to be, also with less than it had: what the server refused goes. `objects`, `meta`. */
  replaceEntity: (tx: Transaction, now: Held) => Promise<void>
  /**
   * Takes a DeletedObject in; `before` is the object that goes. What is unsent of it stays: rescue words, then `forget`.
   * `objects`, `deleted`, `meta`.
   */
  putDeleted: (tx: Transaction, incoming: DeletedObject) => Promise<{before?: Held}>
  /** Gives up what is unsent of an object. `unsent`, `made`. */
  forget: (tx: Transaction, id: string) => Promise<void>
  /**
   * Deletions that are due at `wallMs`, also those taken before. They cannot be undone any more, and what was unsent of
   * their objects goes. `deletions`, `unsent`, `made`.
   */
  takeDeletions: (tx: Transaction, wallMs: number) => Promise<DeletedObject[]>
}

/**
 * The local copy. Reading is synchronous, from memory: with what is unsent, without what is deleted or about to be. What
 * writes resolves when it is on the disk, and throws a StoreError that says the next step.
 *
 * Events: "change" {ids: Set | null (any), source}; "session", "settings", "held", "notice", "shelf", "sync" when such a
 * record changed; "trouble" (detail: a StoreError): what others wrote could not be read.
 */
interface LocalCopy extends EventTarget {
  /** As it is on the disk. */
  memory: Memory
  /** Resolves when everything is in memory, not the newest notes alone. */
  loaded: Promise<void>
  session: Session | null
  /** The server's (protocol.md, Limits), as soon as it has said them. */
  limits: {textBytes?: number, tagNameBytes?: number, attachmentBytes?: number}
  /** How a person likes it in this browser. */
  settings: {
    get(name: string, otherwise?: any): any
    set(name: string, value: any): Promise<void>
  }

  note(id: string): Note | undefined
  /** IDs, pinned first, then newest; `archived` null: both. */
  notes(filter?: {query?: string, tag?: string | null, archived?: boolean | null}): string[]
  tag(id: string): Tag | undefined
  /** By their folded names. */
  tags(): Tag[]
  /** The tag of this name in any case; of several, which the server will make one, that which survives. */
  tagNamed(name: string): string | undefined
  attachment(id: string): Attachment | undefined
  /** An attachment's bytes, if they are here. */
  bytes(id: string): Promise<Blob | undefined>
  /** An object in registers. */
  entity(id: string): Entity | undefined
  /** Also one that is deleted. */
  known(id: string): Entity | undefined
  entities(): Generator<Entity>
  /** The live tag or attachment that an ID stands for. */
  resolve(id: string): string | null
  /** Resolved, also of a note that is deleted. */
  members(id: string, kind: "tags" | "attachments"): string[]
  /** Of how many objects something is unsent. */
  unsentCount(): number
  /** Those of them with a change that is over the account's quota. */
  heldCount(): number
  /** When the next held deletion is due, in ms since 1970; Infinity: there is none. */
  nextDeletion(): number
  /** What the server refused, each with its `key`. */
  shelf(): any[]
  /** What a person should hear of, each with its `key`. */
  notices(): any[]

  /** A new note; an ID that is known, dead or alive, makes nothing. Its ID. */
  createNote(note?: NewNote): Promise<string>
  /** In one transaction. */
  createNotes(notes: NewNote[]): Promise<string[]>
  /**
   * Sets a note's text; the clock of what stands. `base` is the version that the editor has typed over. What another tab
   * typed meanwhile stays beside it, or where both changed the same words, in a notice. "gone": rescue it.
   */
  write(id: string, text: string, base: {clock: string | null, value: string, isMoved?: boolean}): Promise<string | null>
  /** Of a deleted note: the live one that has its words. */
  rescueOf(id: string): Promise<string | undefined>
  /** Puts words of a note that was deleted elsewhere into a new one; its ID. */
  rescue(note: Rescued, text: string): Promise<string>
  setArchived(ids: string[], archived: boolean): Promise<void>
  setSortDate(id: string, date: string): Promise<void>
  setAttribute(id: string, name: string, value: string | number | boolean | null): Promise<void>
  setMember(note: string, kind: "tags" | "attachments", member: string, isIn: boolean): Promise<void>
  addTag(note: string, tag: string): Promise<void>
  removeTag(note: string, tag: string): Promise<void>
  /** The server deletes what no note has held for long (clients.md, rule 8). */
  detach(note: string, attachment: string): Promise<void>
  reattach(note: string, attachment: string): Promise<void>
  /** Puts a file on a note; its ID. The same bytes are on a note once, and what was taken out comes back. */
  attach(note: string, blob: Blob, properties?: Properties & {uniqueID?: string}): Promise<string>
  /** The tag of this name, in any case, or a new one. */
  createTag(name: string): Promise<string>
  /** Of two tags with one name the server makes one (merge.md, Tags). */
  renameTag(id: string, name: string): Promise<void>
  /** Hidden at once, sent after 10 s. */
  remove(id: string): Promise<void>
  /** False: too late, it is being sent. */
  undoRemove(id: string): Promise<boolean>
  dismiss(key: number | string): Promise<void>
  takeOffShelf(key: number): Promise<void>
  /** Everything, for all tabs: "session" tells them. */
  erase(): Promise<void>

  /**
   * When it is on the disk, memory, events and the other tabs know what it wrote. `body` awaits nothing but requests of
   * `tx`, and may run again, so it changes nothing else.
   */
  transaction<T>(stores: string[], mode: IDBTransactionMode, body: (tx: Transaction) => T | Promise<T>, source?: Origin):
    Promise<T>
}

type Copy = LocalCopy
