// How text becomes terms, what a query finds (Tests/Vectors/search-terms.json), and when two tags have one name. Letters,
// digits and signs that spell make terms; compatible forms, cases and accents make no difference; scripts written
// without spaces become overlapping pairs of characters, and the last one alone.
import {utf8} from "./hash.js"

/** Scalars that stay as they are: a letter that upper case would lose, and what has two cases only since Unicode 16. */
const KEPT = "\\u0131\\u1c89\\ua7cb\\ua7cc\\ua7ce\\ua7d2\\ua7d4\\ua7da\\ua7dc\\u{10d50}-\\u{10d65}\\u{16ea0}-\\u{16eb8}"
/** Whose small letters are the younger ones: it folds to capitals. */
const CHEROKEE = "\\u13a0-\\u13fd\\uab70-\\uabbf"
const PARTS = new RegExp(`[${KEPT}]+|([${CHEROKEE}]+)|([^${KEPT}${CHEROKEE}]+)`, "gu")

/** @type {Model["foldCase"]} */
export const foldCase = text => text.replace(PARTS, (kept, cherokee, rest) =>
  rest ? rest.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ") : cherokee?.toUpperCase() ?? kept)

/** @type {Model["foldName"]} */
export const foldName = name => foldCase(name.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, "").normalize()).normalize()

/** The most bytes of UTF-8 that a term has, the most scalars and the most terms of a query. */
const LONGEST = 64, MOST_SCALARS = 1000, MOST_TERMS = 32

/** Marks that readers of the script do without: of any script, Cyrillic, Hebrew, Arabic, Syriac. */
const ACCENTS = new RegExp("(?=\\p{Mn})[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
  + "\u0483-\u0489\u2de0-\u2dff\ua66f-\ua67d\u0591-\u05c7\ufb1e"
  + "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0898-\u08ff\u0711\u0730-\u074a]", "gu")
/** Thai, Lao, Myanmar, Khmer, Tai; kana, Bopomofo, Han, Tangut, Nushu. */
const UNSPACED = "\u0e00-\u0eff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf"
  + "\uaa80-\uaadf\u3005-\u312f\u31a0-\u31bf\u31f0-\u31ff\\u{1aff0}-\\u{1b16f}\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
  + "\\u{16fe0}-\\u{18dff}\\u{1b170}-\\u{1b2ff}\\u{20000}-\\u{3ffff}"
const RUNS = new RegExp(`[${UNSPACED}][${UNSPACED}\\p{M}]*|[^${UNSPACED}]+`, "gu"), PAIRED = new RegExp(`[${UNSPACED}]`, "u")
// Letters that Unicode does not decompose, but that people type without the stroke.
const STROKES = {ø: "o", ł: "l", đ: "d", ħ: "h", ŧ: "t", ı: "i", æ: "ae", œ: "oe"}

/** Compatible forms, cases and accents are gone. */
const plain = text => foldCase(text.normalize("NFKD")
  // Kana stay composed: か and が are different letters.
  .replace(/(.?)[\u3099\u309a]/gu, (voiced, kana) => voiced.normalize().length === kana.length ? voiced.normalize() : kana)
  // Accents go before folding, which makes a letter of the iota subscript.
  .replace(ACCENTS, "")).replace(/[øłđħŧıæœ]/g, letter => STROKES[letter]).replace(/\u0640|(?!\u200b)[\p{DI}\p{Me}\p{Cf}]/gu, "")

const cut = word => {
  let size = 0
  return [...word.slice(0, LONGEST)].filter(scalar => (size += utf8(scalar).length) <= LONGEST).join("")
}

/** The terms of each run: of a word it is one. */
const runsOf = text => {
  if (!/[^\0-\x7f]/.test(text)) return (text.toLowerCase().match(/[a-z\d]+/g) ?? []).map(word => [word.slice(0, LONGEST)])
  const words = plain(text).match(/[\p{L}\p{N}\p{Mn}\p{Mc}]+/gu) ?? []
  return words.flatMap(word => word.match(RUNS) ?? []).map(run => PAIRED.test(run)
    ? [...run].map((scalar, i, all) => scalar + (all[i + 1] ?? "")) : [run.length * 3 > LONGEST ? cut(run) : run])
}

/** @type {Model["termsOf"]} */
export const termsOf = text => runsOf(text).flat()

/** @type {Model["haystackOf"]} */
export const haystackOf = text => ["", ...termsOf(text)].join(" ")

/** @type {Model["queryOf"]} */
export const queryOf = text => {
  if ([...text].length > MOST_SCALARS) return {needles: [], problem: "too-long"}
  const pieces = text.split(/["“”„‟＂]/).flatMap((piece, i) => i % 2 ? [piece] : piece.split(/\p{White_Space}+/u))
  const phrases = pieces.map(piece => {
    const runs = runsOf(piece), last = runs[runs.length - 1]
    // A text in which the run goes on does not have its last character alone.
    if (last?.length > 1) last.pop()
    return runs.flat()
  }).filter(terms => terms.length)
  if (phrases.flat().length > MOST_TERMS) return {needles: [], problem: "too-many-terms"}
  return {needles: phrases.map(terms => ` ${terms.join(" ")}`), problem: null}
}

// Engines look for a string's first character, and spaces are everywhere: so first for the needle without its space,
// which most often is not there at all.
const has = (haystack, needle) => {
  const bare = needle.slice(1)
  for (let tries = 4, at = 0; tries > 0; tries--) {
    at = haystack.indexOf(bare, at + 1)
    if (at < 0 || haystack[at - 1] === " ") return at > 0
  }
  return haystack.includes(needle)
}

/** @type {Model["matches"]} */
export const matches = ({needles, problem}, haystack) => !problem && needles.every(needle => has(haystack, needle))
