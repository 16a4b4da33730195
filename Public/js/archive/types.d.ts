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
  /** The names of files whose bytes could not be had. */
  missing: string[]
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
  /** The page has words for each reason. */
  refused: {path: string, reason: string}[]
}

// A zip (APPNOTE 6.3.10) is never read whole. What is packed here is stored as it is, pictures being most of it; what is
// unpacked may be deflated. IDs are those of an export. A text's comes from where it lies, in no folder from its name and
// words; its node is half of that ID, its clock says when it was changed, with a counter from the words. So nothing comes
// twice, here or on another device. What is here and newer, or unsent, stays; of a note that is there, only the text is taken.
// Names of files go to those that have had them for longest. Folders become tags. An import deletes nothing, but follows tags that were merged.

interface Archive {
  /** What a zip's list says, less the folders. */
  listZip: (blob: Blob) => Promise<ZipEntry[]>
  /** An ArchiveError if they are not the bytes that were packed. */
  readEntry: (blob: Blob, entry: ZipEntry) => Promise<Blob>
  /** One zip of all that is here, laid out as the server's. */
  exportAll: (copy: Copy, how?: ExportOptions) => Promise<Exported>
  /** Takes in files: exports, zips of texts, texts, folders of them (`webkitRelativePath`). */
  importFiles: (copy: Copy, files: File[], progress?: OnProgress) => Promise<ImportReport>
}
