// The shapes of archives. All are global in the scripts; no browser loads this file.

/** A file in a zip, as its list has it. */
interface ZipEntry {
  /** What the archive says: a name, never a place to write to. */
  path: string
  /** In bytes. */
  size: number
  /** In ms since 1970. */
  date: number
  flags: number
  method: number
  /** CRC-32. */
  crc: number
  /** How many bytes it has in the zip. */
  packed: number
  /** Where its head is in the zip. */
  offset: number
}

type OnProgress = (done: number, of: number) => void

interface ExportOptions {
  /** The bytes of an attachment; may fetch what is not here. */
  bytesOf?: (id: string) => Promise<Blob | undefined>
  progress?: OnProgress
  /** In ms since 1970. */
  now?: number
}

interface Exported {
  blob: Blob
  /** For the file. */
  name: string
  /** How many are in it. */
  notes: number
  attachments: number
  /** What could not be had, a sentence each. */
  missing: string[]
}

/** What an import takes in. A register whose clock is "" is stamped then. */
interface ImportItem {
  entity: Entity
  /** The bytes of an attachment. */
  blob?: Blob
}

/** What became of an import. */
interface ImportReport {
  /** How many are new. */
  notes: number
  tags: number
  attachments: number
  objects: number
  /** Notes that were here: changed by it, not changed, deleted before and left so. */
  changed: number
  unchanged: number
  deleted: number
  /** Files that are no texts. */
  passedOver: number
  refused: {path: string, reason: string}[]
}
