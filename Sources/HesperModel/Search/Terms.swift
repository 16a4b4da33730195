/// How text becomes what search finds (protocol.md, Resources): every store indexes these terms, so all find the same.
///
/// - Letters, digits and the signs that spell make terms; everything else separates them.
/// - Compatible forms are one (NFKD: "ﬁ" is "fi", "Ａ" is "a", "①" is "1"), and so are upper and lower case (full folding).
/// - Accents, Hebrew points, Arabic vowels and tatweel, joiners and soft hyphens are as if they were not there; "ø", "ł",
///   "đ", "ħ", "ŧ", "ı", "æ", "œ" are "o", "l", "d", "h", "t", "i", "ae", "oe". Signs of other scripts (the vowels of
///   Devanagari, Bengali, Tamil, Tibetan …) spell, and stay.
/// - Han, kana, Bopomofo, Thai, Lao, Khmer, Myanmar and Tai are written without spaces: a run of them becomes its overlapping
///   pairs of scalars, and its last scalar alone. 東京都 is 東京, 京都, 都, so that each of its characters begins a term.
/// - Hangul is written with spaces: a term is a word, of jamo, so that 하 finds 한국 while it is still being typed.
///
/// A term has no spaces, no ASCII but lower-case letters and digits, and at most 64 bytes. Compare terms by UTF-8 bytes:
/// that is what an index does, and Swift's `hasPrefix` would not find क at the beginning of कि.
public enum Terms {
    /// The most UTF-8 bytes a term has. A longer one is cut between two scalars, in texts and queries alike.
    public static let maximumLength = 64

    /// The terms of `text`, in order.
    public static func terms(in text: String) -> [String] {
        var terms: [String] = []
        TermScanner.scan(text) { term, _, _ in terms.append(String(decoding: term, as: UTF8.self)) }
        return terms
    }

    /// The terms of `text`, in order, with a space between: what goes into an index that splits at spaces.
    public static func joined(in text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        TermScanner.scan(text) { term, _, _ in
            if !bytes.isEmpty { bytes.append(0x20) }
            bytes.append(contentsOf: term)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
