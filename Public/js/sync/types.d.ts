// The shapes of syncing: what goes to the server and comes back, how it stands. All are global; no browser loads it.

// How it works.
//
// The tab that holds the Web Lock "hesper" leads: it syncs, opens the stream of events, transfers bytes, and posts its state to
// the other tabs. Without a secure context there is no lock: then every tab leads, and none opens a stream. A hidden tab
// releases the lock to a visible one. Changes made within 150 ms are sent together. Retries wait 1 s to 60 s, doubling, at
// random between half and whole; polls, while no stream is open, 5 s to 60 s. A stream that was open for 30 s and breaks is
// opened again at once. Transfers have waits of their own, as they may fail though sync does not.
//
// A round (protocol.md, Sync cycle) sends what is unsent and takes a page, in one transaction with its token. A page has 500
// objects: taking them in delays no frame for long. A push is smaller than the server's limits (protocol.md, Limits). If the
// server was restored (`token-expired`), or the digests differ though nothing is unsent (at most once an hour), everything is
// read again, and what the server lacks or has older is given back: `relays`. Bases of texts go along when it may lack them.
// Changes that it refuses are put on the shelf (clients.md, rule 9); what it lacked and refuses is removed from the copy, too.
// What is over the account's quota is held (rule 14): it stays unsent, also if it was to be given back.
//
// The clock of a text that is sent is kept with the unsent text (`after`), in the transaction that builds the push, so that every
// tab and every later session names it until a push that names it is answered. What is given back of a text is what stood here
// when the reading began: by the time of the push, the copy may have another.
//
// An attachment that a person opens is downloaded at once. Beside that three transfers run at a time: first those of the open
// note, then uploads, then downloads of the newest notes. Files over 4 MiB are uploaded in parts of that size, and downloaded
// only when a person opens them, except pictures of up to 24 MiB, within half of the browser's storage. A refused transfer is
// tried again after ten minutes, or with "Sync now"; an upload that can never succeed is put on the shelf with the edits that
// name it. Without room, bytes are shown all the same, and downloaded again the next time.

/** One line of the log of requests. */
interface LogEntry {
  /** Milliseconds since 1970. */
  moment: number
  method: string
  /** Without its query, which may contain a token: the log may be shown to others. */
  path: string
  /** 0: no answer came. */
  status: number
  requestID: string
  milliseconds: number
  /** Of the answer's body. */
  bytes: number
  /** The slug of what was wrong. */
  problem?: string
}

interface ProblemFields {
  slug?: string
  /** Empty where the page has words of its own for the slug. */
  title?: string
  detail?: string
  status?: number
  requestID?: string | null
  /** Milliseconds. */
  retryAfter?: number
}

/** A request, beside its method and path. */
interface Asking {
  json?: any
  body?: BodyInit
  headers?: Record<string, string>
  signal?: AbortSignal
  /** What the answer holds: text is JSON. */
  as?: "text" | "blob"
}

interface Answer {
  headers: Headers
  value: any
}

/** One of the stream of events (protocol.md, Events). */
interface ServerEvent {
  name: string | undefined
  data: any
  /** How long to wait before coming back, in ms; 0 if the server did not say. */
  retry: number
}

/** What is to be sent of one object: itself, if it is new there, and edits. */
interface Part {
  uniqueID: string
  type: string
  made?: Made
  edits: Edit[]
}

/** What one call of sync carries up. `relayed`: what a restored server lacks, whoever made it. */
interface Push {
  parts: Part[]
  deletions: DeletedObject[]
  relayed?: boolean
}

/** `meta`, "sync": how far this browser has read. Moments in ms since 1970. */
interface SyncRecord {
  token?: string | null
  /** Of what is here (merge.md, The digest); kept by the store. */
  digest?: string
  /** What the server said at the end of the latest answer; null if it did not. */
  serverDigest?: string | null
  lastSync?: number
  /** The server may lack the bases of texts (merge.md, Text). */
  startedOver?: boolean
  /** All is being read from the start, to see what the server lacks. */
  reading?: boolean
  /** Something was over the account's quota: when that is tried again, and after how long a wait. */
  full?: {until: number, wait: number}
  /** When the digests differed last though nothing was unsent. */
  repaired?: number
}

/** `relays`, by uniqueID: what a restored server lacks of one object. */
interface Relay {
  uniqueID: string
  /** Of the object; "deleted object" for a DeletedObject. */
  type: string
  /** What it lacks or has older; absent: all registers. */
  attributes?: string[]
  /** Whether it lacks what is set once. */
  fixed: boolean
  /** What it has. */
  theirs?: Entity
  /** Texts that it lacks, each to be given back by itself, in order. */
  texts?: Register[]
}

/** Transfers under way, in bytes. */
interface Progress {
  uploads: {count: number, sent: number, total: number}
  downloads: {count: number, got: number, total: number}
}

/** What is wrong, in words. */
interface Trouble {
  slug: string
  title: string
  detail: string
  requestID: string | null
}

/** What the leading tab posts to the others. */
interface Shared extends Progress {
  /** A sync has finished, and nothing has failed since. */
  hasFinished: boolean
  toFetch: {objects: number, bytes: number}
  offlineSince: number | null
  /** When it is tried again after something went wrong. */
  nextTry: number | null
  /** How many other devices have a stream of events open. */
  listeners: number
  /** A stream of events is open. */
  live: boolean
  problem: Trouble | null
  /** What keeps attachments from going up. */
  trouble: Trouble | null
}

type Tell = (fields: Partial<Shared>) => void

/** The state of sync (clients.md, rule 6); moments in ms since 1970. */
interface Status extends Omit<Shared, "hasFinished" | "trouble"> {
  phase: "signed-out" | "offline" | "syncing" | "waiting" | "synced" | "expired"
  /** Objects with something unsent. */
  toSend: number
  /** Those of them that are over the account's quota. */
  held: number
  /** The server's digest is that of this copy. */
  identical: boolean
  lastSync: number | null
  /** This tab syncs. */
  leads: boolean
  isSecure: boolean
  /** The browser promised to keep what is here; null while that is not known. */
  isPersistent: boolean | null
}

/**
 * Keeps the copy and the server the same. What returns a promise throws a Problem if it cannot be done.
 *
 * Events: "status"; "typing" {uniqueID, device: {uniqueID, name}}: another device types in a note; "requests".
 */
interface SyncEngine extends EventTarget {
  status: Status
  /** Syncs from now on, or waits until this tab leads. */
  start(): Promise<void>
  /** Syncs at once, even while a retry is waited for. */
  syncNow(): void
  /** The open note: its transfers come first. */
  opened(noteID: string | null): void
  /** Whether this tab is visible. */
  visible(isVisible: boolean): void
  /** Tells other devices that somebody types here. */
  typing(noteID: string): void
  /** The bytes of an attachment, before all others. */
  want(id: string): Promise<Blob>
  /** The last requests of all tabs, oldest first. */
  requests(): LogEntry[]
  /** The server's version, features and limits; the limits are stored. */
  server(): Promise<any>
  account(): Promise<any>
  /** Has an e-mail sent that verifies the account's address. */
  verifyEmail(): Promise<any>
  changePassword(change: {currentPassword?: string, newPassword?: string, signOutOthers?: boolean}): Promise<any>
  /** Erases the account on the server, and then everything here. */
  deleteAccount(proof: {password?: string}): Promise<void>
  /** Makes an account, and this browser its first device. */
  signUp(credentials: Credentials): Promise<void>
  /** Makes this browser a device; over notes that are here, of their account. */
  signIn(credentials: Credentials): Promise<void>
  /** Signs this browser out and erases everything here. `anyway`: also if the server cannot be told. */
  signOut(how?: {anyway?: boolean}): Promise<void>
  devices(): Promise<any[]>
  renameDevice(id: string, name: string): Promise<void>
  signOutDevice(id: string): Promise<any>
  /** Reports a device lost; what it pushed after the moment, if there is one, is reverted. */
  revoke(id: string, since: {moment?: Date}): Promise<any>
  /** The access tokens of the account, without the tokens themselves. */
  tokens(): Promise<any[]>
  /** Creates an access token. Only this response contains the token itself, `token`. */
  createToken(draft: TokenDraft): Promise<any>
  revokeToken(id: string): Promise<any>
  /** The webhooks of the account, without their secrets. */
  webhooks(): Promise<any[]>
  /** Creates a webhook. Only this response contains its `secret`. */
  createWebhook(draft: {url: string, events: string[], tag?: string}): Promise<any>
  /** Pauses or resumes a webhook. */
  changeWebhook(id: string, change: {paused: boolean}): Promise<any>
  deleteWebhook(id: string): Promise<any>
  /** Sends a test event. The result is an entry of the log. */
  testWebhook(id: string): Promise<any>
  /** The log of a webhook, the latest delivery first. */
  deliveries(id: string): Promise<any[]>
  /** Sends a delivery of the log again. The result is its entry in the log. */
  replayDelivery(id: string, delivery: string): Promise<any>
  /** Who changed a note, when and how, newest first, a page at a time. */
  history(noteID: string, cursor?: string): Promise<{edits: HistoryEdit[], nextCursor?: string}>
  /** Notes whose words are still there, a page at a time. */
  recentlyDeleted(cursor?: string): Promise<any>
  /** A new note from the history of a deleted one; its ID. Twice makes one note. */
  putBack(deletedID: string): Promise<string>
}

/** An import of a file on the server (protocol.md, Imports). */
interface ServerImport {
  uniqueID: string
  name?: string
  byteCount: number
  state: "uploading" | "reading" | "ready" | "writing" | "done" | "failed"
  /** How many notes have been read or written, of how many; 0 if it is not known. */
  done: number
  total: number
  preview?: any
  report?: any
  problem?: string
}

interface ServerImports extends EventTarget {
  /** The import of the account; null if there is none, or it was not loaded yet. */
  current: ServerImport | null
  /** How many bytes of its file were uploaded. */
  sent: number
  /** The file must be chosen again: its upload was interrupted, and it is not here. */
  needsFile: boolean
  /** The upload waits for the network. */
  isWaiting: boolean
  /** Reads the import from the server, and continues its upload. */
  load(): Promise<void>
  /** Creates an import and uploads its file. */
  begin(blob: Blob, name?: string): Promise<void>
  /** Continues the upload with the file. */
  continueWith(blob: Blob): void
  /** Has the server write the notes. */
  start(): Promise<void>
  /** Removes the import from the server. What was written stays. */
  cancel(): Promise<void>
}

interface Credentials {
  email: string
  password: string
  deviceName: string
  invitation?: string
}

interface TokenDraft {
  name: string
  scopes: string[]
  /** Of the only notes that the token can use. */
  tag?: string
  expiryDate?: string
  currentPassword: string
}

/** One edit of a note in its history. */
interface HistoryEdit {
  attribute: string
  /** Absent if the server keeps it no more. */
  value?: any
  clock: string
  device: {uniqueID: string, name?: string}
  /** Who sent it, if that is not `device`: a device or an access token. */
  pushedBy?: {uniqueID: string, name?: string}
  pushedAt: string
  standing: boolean
}

interface Session {
  /** Another browser has a copy of this device's data: signing in again makes this one a separate device. */
  isTwin?: boolean
}

type Http = import("./http.js").Http

declare var trustedTypes: any
