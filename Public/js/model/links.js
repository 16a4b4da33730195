// Links between notes: `[[Title]]` in a text leads to the note with this title, whatever its case. In other
// apps, the part after "|" is shown instead of the title, and the part after "#" is a heading. This app keeps both unchanged.
import {foldName} from "./search.js"

const LINK = /\[\[([^[\]\n|#]{1,200})([|#][^[\]\n]{0,200})?\]\]/g

/** A link that is still being typed, at the end of a text. */
const BEGUN = /\[\[([^[\]\n]{0,100})$/

/**
 * The folded titles that a text links to.
 *
 * @type {(text: string) => string[]}
 */
export const linkedTitles = text =>
  text.includes("[[") ? [...text.matchAll(LINK)].map(([, title]) => foldName(title)) : []

/**
 * The title that a link leads to: its part before "|" and "#".
 *
 * @type {(inner: string) => string}
 */
export const targetOf = inner => inner.split(/[|#]/)[0].trim()

/**
 * Replaces the links to one title in a text with links to another.
 *
 * @type {(text: string, from: string, to: string) => string}
 */
export const relink = (text, from, to) => {
  const folded = foldName(from)
  return text.replace(LINK, (link, title, rest = "") => foldName(title) === folded ? `[[${to}${rest}]]` : link)
}

/**
 * Whether a link can lead to a title.
 *
 * @type {(title: string) => boolean}
 */
export const canLink = title => /^[^[\]\n|#]{1,200}$/.test(title)

/**
 * What has been typed of a title, if a text ends within a link; otherwise null.
 *
 * @type {(before: string) => string | null}
 */
export const begunLink = before => before.slice(-102).match(BEGUN)?.[1] ?? null
