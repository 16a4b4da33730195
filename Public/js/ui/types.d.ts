// The interface of dom.js, and of pages and parts beside those of frame.d.ts. No browser loads this file.

/** What can be put into an element. `null`, `undefined` and `false` are left out; arrays may contain arrays. */
type Child = Node | string | number | null | undefined | false | any[]

/**
 * How views are built (dom.js). Text becomes text nodes only: there are no HTML strings and no inline styles. A view is
 * `(app, id) => Pane`: it adds its listeners, and removes them in `stop()`. What changes often is changed in place, so that
 * the focus stays.
 */
interface Dom {
  /** Replaces the content of an element. A child that is in it before and after keeps the focus. */
  fill(element: Element, ...children: Child[]): void
  /**
   * Fills an element if `about` is not the same as the last time: the focus stays, and screen readers repeat nothing. Without
   * `content` it is filled with `about`, a text.
   */
  tell(element: Element, about: any, content?: () => any): void
  /**
   * A copy of what a template of index.html holds, `element`, and its parts by their `data-part`. `values`: what parts
   * are filled with, what they do when they are clicked, or their properties; a part whose value is false or null is left out.
   * In the template's texts and attributes "{name}" is a value, also "{account.email}"; "{name|bytes}" has that format
   * (`Formats`), and "{count|note}" is counted: "3 notes". `data-if` names a value without which an element is left out,
   * `data-unless` one with which it is.
   */
  copyOf(id: string, values?: Record<string, any>): Record<string, any>
  /** The element of `copyOf`. */
  viewOf(id: string, values?: Record<string, any>): any
  /** The same, as plain text. */
  wordsOf(id: string, values?: Record<string, any>): string
  /** The first of these templates that exists. */
  firstOf(...ids: string[]): string
  /** Calls `show` now and at each of these events, until the function that is returned is called. */
  follow(show: () => void, ...events: [EventTarget, string][]): () => void
  /** Has screen readers read a template. */
  announce(id: string, values?: Record<string, any>): void
  /**
   * A message at the foot of the page: a template, whose `data-label` is the label of its button. It disappears after ten
   * seconds, but not while it is hovered or has the focus.
   */
  toast(id: string, values?: Record<string, any>, act?: () => void): void
  /** Clicks the button of the newest message that has one. */
  actOnToast(): void
  /**
   * Opens a modal dialog. The `data-title` of its content is the heading, `data-looks` are classes of the dialog. Escape, a click
   * beside it, submit buttons of forms with method "dialog", and a link to another page close it.
   */
  dialog(content: HTMLElement): HTMLDialogElement
  /** Opens a menu, a template, below its button: arrow keys, Home, End, Escape. The button has the focus when an entry acts. */
  menu(owner: HTMLElement, id: string, values: Record<string, any>): void
  /**
   * What is wrong, and what to do: the text of index.html for the slug (and the field or the limit), or else the server's, which is
   * English.
   */
  problemWords(error: any): HTMLElement
  /** The same as plain text. */
  failureWords(error: any): string
  /** Shows an error at an input of a `.field` and focuses it; without a text removes it. */
  setError(input: any, text?: string): void
  /** The same as an alert; `again` is what its button does. */
  problemView(error: any, again?: () => any): HTMLElement
  /** Fills a place with the result of the work, or with what went wrong and a button that tries again. */
  tryIn(place: Element, work: () => Promise<any>): Promise<void>
  /** Copies text to the clipboard, without a secure context too; `done` is the template of the message. */
  copyText(text: string, done?: string): void
  /** Downloads a file. Its type is that of unknown bytes, so that it never opens as a page of this origin. */
  save(blob: Blob, name: string): void
}

/** A language (text/de.js). */
interface Translation {
  /** The direction of its writing. */
  dir: "ltr" | "rtl"
  /** "just now" */
  now: string
  /** What can be counted as "{count|note}": for each plural category of the language (Intl.PluralRules), a text with "{count}". */
  forms: Record<string, Record<string, string>>
  /**
   * The translation of each English text of index.html: of a text node or attribute, with single spaces. "archive: Archive" is
   * the translation in the template "archive" only. The parts of a sentence with elements in it are translated one by one.
   */
  texts: Record<string, string>
}

/** The formats of "{name|format}" in the chosen language. */
interface Formats {
  /** "3 notes" */
  counted(count: number, form: string): string
  /** "1,234" */
  number(count: number): string
  /** "3 November 2026 at 19:05" */
  date(date: Date | string | number): string
  /** As short as possible: "19:05", "yesterday", "Tuesday", "3 Nov", "3 Nov 2025". */
  day(date: Date | string | number): string
  /** "3 minutes ago", "in 3 minutes" */
  ago(date: Date | string | number): string
  /** "3.1 MB" */
  bytes(count: number): string
}

/** Makes a view; `id` is that of the route, or of the note that it shows. */
type Opener = (app: Shell, id?: any) => Pane

/** Fills a section of the account's page. The function that is returned reads its contents from the server. */
type AccountSection = (app: Shell, section: HTMLElement) => () => Promise<void>

/** What a section for things with secrets shows, and how it creates and removes them. The texts are IDs of templates. */
interface SecretKind {
  view: string
  /** Shown if there are none. */
  none: string
  form: string
  /** The name under which the templates explain errors of the form. */
  problem: string
  /** Shows a new one with its secret. */
  createdView: string
  /** Asks before one is removed. */
  question: string
  /** The message after one was removed. */
  removed: string
  nameOf: (one: any) => string
  secretOf: (one: any) => string
  row: (one: any) => Element
  list: () => Promise<any[]>
  create: (data: FormData) => Promise<any>
  remove: (id: string) => Promise<any>
  /** A wrong field that the form's own rules do not find. */
  wrongIn?: (form: any, data: FormData) => any
}

/** Returns a function that reads the list again, and one that asks whether to remove one of them. */
type SecretSection = (app: Shell, section: HTMLElement, kind: SecretKind) =>
  {load: () => Promise<void>, askToRemove: (one: any) => void}

/** Shows the state of sync in a button, of the frame's parts `sync` and `standing`. */
type Indicator = (app: Shell, parts: Record<string, any>) => () => void

/** Shows a banner for each [template, values] that `look` returns, now and after these events; unchanged while they are the same. */
type Region = (look: () => any[], ...events: [EventTarget, string][]) => Pane
