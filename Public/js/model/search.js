// Search terms, and names of tags, without case (merge.md, Tags; protocol.md, Resources). They are computed from texts
// and never synced (clients.md, rule 7). `Tests/Vectors` has the same cases for every implementation.
import {utf8} from "./hash.js"

// Characters that foldCase leaves as they are: ı, which upper case would turn into I, and letters that have two cases only
// since Unicode 16.
const CASELESS = "\\u0131\\u1c89\\ua7cb\\ua7cc\\ua7ce\\ua7d2\\ua7d4\\ua7da\\ua7dc\\u{10d50}-\\u{10d65}\\u{16ea0}-\\u{16eb8}"
const CASED = new RegExp(`[^${CASELESS}]+`, "gu")

/**
 * Case folding of Unicode 15.1, each scalar by itself, whatever version the browser has (Tests/Vectors/case-folding.json).
 *
 * @type {(text: string) => string}
 */
export const foldCase = text => text.replace(CASED, part => part
  // By way of upper case, so that ß, ſ and the like become what their upper case folds to.
  .toLowerCase().toUpperCase().toLowerCase()
  .replaceAll("ς", "σ")
  // Cherokee folds to upper case.
  .replace(/[\u13f8-\u13fd\uab70-\uabbf]/g, letter => letter.toUpperCase()))

/**
 * The name of a tag without case and surrounding white space. Tags whose folded names are equal are one (merge.md, Tags).
 *
 * @type {(name: string) => string}
 */
export const foldName = name =>
  foldCase(name.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, "").normalize()).normalize()

const MAX_TERM_BYTES = 64
const MAX_QUERY_SCALARS = 1000
const MAX_QUERY_TERMS = 32

/** Accents that readers of the script do without: Latin and Greek, Cyrillic, Hebrew, Arabic and Syriac. */
const ACCENTS = new RegExp("(?=\\p{Mn})[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
  + "\u0483-\u0489\u2de0-\u2dff\ua66f-\ua67d\u0591-\u05c7\ufb1e"
  + "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0898-\u08ff\u0711\u0730-\u074a]", "gu")
/** Scripts without spaces between words: Thai to Tai Viet, kana, Han, Tangut, Nushu. */
const UNSPACED = "\u0e00-\u0eff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf"
  + "\uaa80-\uaadf\u3005-\u312f\u31a0-\u31bf\u31f0-\u31ff\\u{1aff0}-\\u{1b16f}\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
  + "\\u{16fe0}-\\u{18dff}\\u{1b170}-\\u{1b2ff}\\u{20000}-\\u{3ffff}"
const RUNS = new RegExp(`[${UNSPACED}][${UNSPACED}\\p{M}]*|[^${UNSPACED}]+`, "gu")
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, "u")
/** Letters that Unicode does not decompose. */
const STROKES = {ø: "o", ł: "l", đ: "d", ħ: "h", ŧ: "t", ı: "i", æ: "ae", œ: "oe"}

/** A text without case, compatible forms and accents. */
const normalized = text => foldCase(text.normalize("NFKD")
  // か and が are different letters: their mark stays.
  .replace(/(.?)[\u3099\u309a]/gu, (both, kana) => both.normalize().length === kana.length ? both.normalize() : kana)
  // Before case folding, which turns the iota subscript into a letter.
  .replace(ACCENTS, ""))
  .replace(/[øłđħŧıæœ]/g, letter => STROKES[letter])
  // The tatweel, and characters that are not visible.
  .replace(/\u0640|(?!\u200b)[\p{DI}\p{Me}\p{Cf}]/gu, "")

/** The beginning of a word, of at most 64 bytes. */
const truncated = word => {
  let size = 0
  return [...word.slice(0, MAX_TERM_BYTES)].filter(scalar => (size += utf8(scalar).length) <= MAX_TERM_BYTES).join("")
}

/** The terms of each run of characters of one kind. Runs of unspaced scripts become pairs, and the last character alone. */
const runsOf = text => {
  const isASCII = !/[^\0-\x7f]/.test(text)
  if (isASCII) return (text.toLowerCase().match(/[a-z\d]+/g) ?? []).map(word => [word.slice(0, MAX_TERM_BYTES)])
  const words = normalized(text).match(/[\p{L}\p{N}\p{Mn}\p{Mc}]+/gu) ?? []
  return words.flatMap(word => word.match(RUNS) ?? []).map(run => {
    if (HAS_UNSPACED.test(run)) return [...run].map((scalar, i, all) => scalar + (all[i + 1] ?? ""))
    return [run.length * 3 > MAX_TERM_BYTES ? truncated(run) : run]
  })
}

/**
 * The search terms of a text, in order. A word is one term.
 *
 * @type {(text: string) => string[]}
 */
export const termsOf = text => runsOf(text).flat()

// Browsers search for the first character of a needle. With a space, which is everywhere, that would be slow: the colon
// after the first character of each term marks its beginning instead.
const joined = terms => terms.map(term => `${term[0]}:${term.slice(1)}`).join(" ")

/**
 * What to keep of a text to search in it: its terms, with a colon after the first character of each.
 *
 * @type {(text: string) => string}
 */
export const haystackOf = text => joined(termsOf(text))

/**
 * A search for words and "phrases". Every word, and the last word of a phrase, also finds longer words that begin with it.
 *
 * @type {(text: string) => Query}
 */
export const queryOf = text => {
  if ([...text].length > MAX_QUERY_SCALARS) return {needles: [], problem: "too-long"}
  // Every other piece is between quotation marks.
  const pieces = text.split(/["“”„‟＂]/).flatMap((piece, i) => i % 2 ? piece : piece.split(/\p{White_Space}+/u))
  const phrases = pieces.map(piece => {
    const runs = runsOf(piece)
    const last = runs[runs.length - 1]
    // The last character alone is a term only at the end of a run, and the text may continue there.
    if (last?.length > 1) last.pop()
    return runs.flat()
  }).filter(terms => terms.length)
  if (phrases.flat().length > MAX_QUERY_TERMS) return {needles: [], problem: "too-many-terms"}
  return {needles: phrases.map(joined), problem: null}
}

/**
 * Whether a text is found. A query without words finds everything, a refused one nothing.
 *
 * @type {(query: Query, haystack: string) => boolean}
 */
export const matches = ({needles, problem}, haystack) => !problem && needles.every(needle => haystack.includes(needle))
