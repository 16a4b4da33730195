// The shapes of the pages and parts beside the list and the editor (frame.d.ts). No browser loads this file.

/** What makes a view; `id` is that of the route, or of the note that it is about. */
type Opener = (app: Shell, id: string) => Pane

/** An edit as a note's history lists it; without `value` if the server keeps it no longer. */
interface PastEdit {
  attribute: string
  value?: any
  clock: string
  device: {uniqueID: string, name?: string}
  standing: boolean
}

/** Edits of one device at one moment, newest first; the newest text among them, and what it was before them. */
interface Moment {
  edits: PastEdit[]
  text?: PastEdit
  before?: string
}
