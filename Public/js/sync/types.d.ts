// The shapes of syncing: what goes to the server and comes back, how it stands. All are global; no browser loads it.

/** One line of the log of requests. */
interface LogEntry {
  /** Milliseconds since 1970. */
  moment: number
  method: string
  /** Without its query: a token is nobody's business who is shown the log. */
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
  title: string
  detail?: string
  status?: number
  requestID?: string | null
  /** Milliseconds. */
  retryAfter?: number
}

/** What is asked of the server beside method and path. */
interface Asking {
  json?: any
  body?: BodyInit
  headers?: Record<string, string>
  signal?: AbortSignal
  /** What the answer holds: JSON if it is not said. */
  as?: "json" | "blob"
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

/** What one call of sync carries up. `relayed`: what a restored server lacks, whoever made it. */
interface Push {
  edits: Edit[]
  made: Made[]
  deletions: DeletedObject[]
  relayed: boolean
}

/** `meta`, "sync": how far this browser has read. Moments in ms. */
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
}

/** Bytes on their way. */
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

/** What the tab that leads tells the others. */
interface Shared extends Progress {
  /** A sync has finished, and nothing has failed since. */
  hasFinished: boolean
  toFetch: {objects: number, bytes: number}
  offlineSince: number | null
  /** When it is tried again after something went wrong. */
  nextTry: number | null
  /** Other devices that listen. */
  listeners: number
  /** A stream of events is open. */
  live: boolean
  problem: Trouble | null
  /** What keeps attachments from going up. */
  trouble: Trouble | null
}

/** How sync stands (clients.md, rule 6); moments in ms since 1970. */
interface Status extends Omit<Shared, "hasFinished" | "trouble"> {
  phase: "signed-out" | "offline" | "syncing" | "waiting" | "synced" | "expired"
  /** Objects with something unsent. */
  toSend: number
  /** The server's digest is that of this copy. */
  identical: boolean
  lastSync: number | null
  /** This tab syncs. */
  leads: boolean
  isSecure: boolean
  /** The browser promised to keep what is here; null while that is not known. */
  isPersistent: boolean | null
}

interface Credentials {
  email: string
  password: string
  deviceName: string
  invitation?: string
}

/** One edit of a note in its history. */
interface HistoryEdit {
  attribute: string
  /** Absent if the server keeps it no more. */
  value?: any
  clock: string
  device: {uniqueID: string, name?: string}
  pushedAt: string
  standing: boolean
}

interface Session {
  /** Two copies of this device exist: only a new sign-in makes this one a device of its own. */
  isTwin?: boolean
}

type Http = import("./http.js").Http
