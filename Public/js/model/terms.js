// Search (protocol.md, Resources; Tests/Vectors/search-terms.json): how text becomes terms, and what a query finds.
// Letters, digits and signs that spell make terms; compatible forms, cases and accents make no difference; scripts
// written without spaces become overlapping pairs of characters, and the last one alone.
import {foldCase} from "./names.js"

/** @typedef {{needles: string[], problem: "too-long" | "too-many-terms" | null}} Query a needle for each phrase */

/** The most bytes of UTF-8 that a term has, the most scalars and the most terms of a query. */
const LONGEST = 64, MOST_SCALARS = 1000, MOST_TERMS = 32

const SEPARATORS = /[\0-/:-@[-`{-\x7f]+/
const BEYOND_ASCII = /[^\0-\x7f]/
const QUOTES = /["“”„‟＂]/
/** Kana stay composed: か and が are different letters. */
const KANA = /[ぁ-ゖゝゞァ-ヺー-ヾ]/
/** Marks that readers of the script do without: of any script, Cyrillic, Hebrew, Arabic, Syriac. */
const ACCENTS = new RegExp("(?=\\p{Mn})[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
  + "\u0483-\u0489\u2de0-\u2dff\ua66f-\ua67d\u0591-\u05c7\ufb1e"
  + "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0898-\u08ff\u0711\u0730-\u074a]", "gu")
/** Scripts without spaces: Thai, Lao, Myanmar, Khmer, Tai; kana, Bopomofo, Han, Tangut, Nushu. */
const PAIRED = new RegExp("[\u0e00-\u0eff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf"
  + "\uaa80-\uaadf\u3005-\u312f\u31a0-\u31bf\u31f0-\u31ff\\u{1aff0}-\\u{1b16f}\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
  + "\\u{16fe0}-\\u{18dff}\\u{1b170}-\\u{1b2ff}\\u{20000}-\\u{3ffff}]", "u")
// Letters that Unicode does not decompose, but that people type without the stroke.
/** @type {Object<string, string>} */
const STROKES = {ø: "o", ł: "l", đ: "d", ħ: "h", ŧ: "t", ı: "i", æ: "ae", œ: "oe"}

const SEPARATOR = 0, IGNORED = 1, WORD = 2, PAIR = 3, SIGN = 4, VOICING = 5

/** @type {(scalar: string) => number} */
const kindOf = scalar => {
  if (scalar === "\u200b") return SEPARATOR
  if (scalar === "\u0640" || /[\p{DI}\p{Me}\p{Cf}]/u.test(scalar)) return IGNORED
  if (scalar === "\u3099" || scalar === "\u309a") return VOICING
  if (!/[\p{L}\p{N}\p{Mn}\p{Mc}]/u.test(scalar)) return SEPARATOR
  return PAIRED.test(scalar) ? PAIR : /\p{M}/u.test(scalar) ? SIGN : WORD
}

/** @typedef {{kind: number, text: string}[]} Made what search makes of one scalar */
/** @type {Map<string, Made>} */
const known = new Map()

/** @type {(scalar: string) => Made} */
const make = scalar => {
  let made = known.get(scalar)
  if (made) return made
  // Accents go before folding, which makes a letter of the iota subscript.
  const parts = foldCase((KANA.test(scalar) ? scalar : scalar.normalize("NFKD")).replace(ACCENTS, ""))
  made = [...parts].flatMap(part => [...STROKES[part] ?? part]).map(text => ({kind: kindOf(text), text}))
    .filter(({kind}) => kind !== IGNORED)
  known.set(scalar, made)
  return made
}

// A term as far as it may be long, in whole scalars.
/** @type {(scalars: string[]) => string} */
const cut = scalars => {
  let term = "", bytes = 0
  for (const scalar of scalars) {
    const code = scalar.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    if (bytes > LONGEST) break
    term += scalar
  }
  return term
}

// Adds the terms of what is between separators of ASCII. Whether the last is a tail: the end of a run of pairs.
/** @type {(text: string, terms: string[]) => boolean} */
const scanRun = (text, terms) => {
  /** @type {string[]} */
  let run = []
  let isPairs = false, hasSigns = false, isTail = false
  const flush = () => {
    if (!run.length) return
    // Marks in canonical order, so that equivalent texts have the same terms.
    if (hasSigns) run = [...run.join("").replace(/[^぀-ヿ]+/g, part => part.normalize("NFD"))]
    isTail = isPairs && run.length > 1
    if (isPairs) run.forEach((scalar, i) => terms.push(scalar + (run[i + 1] ?? "")))
    else terms.push(cut(run))
    run = []
    hasSigns = false
  }
  for (const scalar of text) {
    for (const {kind, text} of make(scalar)) {
      if (kind === SEPARATOR) flush()
      else if (kind === VOICING) {
        const voiced = isPairs && run.length ? (run[run.length - 1] + text).normalize() : ""
        if (voiced.length === 1) run[run.length - 1] = voiced
      } else {
        if (kind === SIGN ? !run.length : isPairs !== (kind === PAIR)) {
          flush()
          isPairs = kind === PAIR
        }
        run.push(text)
        hasSigns ||= kind === SIGN || kind === PAIR && /\p{M}/u.test(text)
      }
    }
  }
  flush()
  return isTail
}

/** @type {typeof scanRun} */
const scan = (text, terms) => {
  let isTail = false
  for (const run of text.split(SEPARATORS)) {
    if (!run) continue
    isTail = BEYOND_ASCII.test(run) && scanRun(run, terms)
    if (!BEYOND_ASCII.test(run)) terms.push(run.slice(0, LONGEST).toLowerCase())
  }
  return isTail
}

/**
 * The terms of a text, in order.
 * @type {(text: string) => string[]}
 */
export const termsOf = text => {
  /** @type {string[]} */
  const terms = []
  scan(text, terms)
  return terms
}

/**
 * What to keep of a text to search in it: its terms with a space before each.
 * @type {(text: string) => string}
 */
export const haystackOf = text => ["", ...termsOf(text)].join(" ")

/**
 * A query as typed: words and "phrases". Every word, and the last of a phrase, finds what begins with it.
 * @type {(text: string) => Query}
 */
export const queryOf = text => {
  if ([...text].length > MOST_SCALARS) return {needles: [], problem: "too-long"}
  const pieces = text.split(QUOTES).flatMap((piece, i) => i % 2 ? [piece] : piece.split(/\p{White_Space}+/u))
  let count = 0
  const needles = pieces.flatMap(piece => {
    /** @type {string[]} */
    const terms = []
    // A text in which the run goes on does not have its tail.
    if (scan(piece, terms)) terms.pop()
    count += terms.length
    return terms.length ? [` ${terms.join(" ")}`] : []
  })
  return count > MOST_TERMS ? {needles: [], problem: "too-many-terms"} : {needles, problem: null}
}

/**
 * Whether a needle is in a haystack, at the beginning of a term. Engines look for a string's first character, and
 * spaces are everywhere: so first for the needle without its space, which most often is not there at all.
 * @type {(haystack: string, needle: string) => boolean}
 */
const has = (haystack, needle) => {
  const bare = needle.slice(1)
  let at = 0
  for (let tries = 4; tries > 0; tries--) {
    at = haystack.indexOf(bare, at + 1)
    if (at < 0 || haystack[at - 1] === " ") return at > 0
  }
  return haystack.includes(needle, at)
}

/**
 * Whether a query finds the text of a haystack. One without words finds everything, a refused one nothing.
 * @type {(query: Query, haystack: string) => boolean}
 */
export const matches = ({needles, problem}, haystack) => !problem && needles.every(needle => has(haystack, needle))
