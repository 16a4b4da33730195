// The shapes of archives. All are global in the scripts; no browser loads this file.

/** A file in a zip, as its central directory has it. */
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
  /** Its size in the zip, in bytes. */
  packed: number
  /** The place of its local header in the zip. */
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
  /** The names of files whose bytes could not be had. */
  missing: string[]
}

/** The result of an import. */
interface ImportReport {
  /** How many are new. */
  notes: number
  tags: number
  attachments: number
  objects: number
  /** Notes that were here before: changed by the import, not changed, deleted and not restored. */
  changed: number
  unchanged: number
  deleted: number
  /** Files that are not text. */
  skipped: number
  /** The page has words for each reason. */
  refused: {path: string, reason: string}[]
}
