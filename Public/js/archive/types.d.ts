// The shapes of archives. All are global in the scripts; no browser loads this file.

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
