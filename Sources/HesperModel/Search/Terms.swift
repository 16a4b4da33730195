/// Splits text into search terms (protocol.md, Resources). All stores index these terms, so that they return the same results.
///
/// - Letters, digits and significant signs form terms. All other characters separate terms.
/// - Compatible forms are equal (NFKD: "ﬁ" is "fi", "Ａ" is "a", "①" is "1"). Upper and lower case are equal (full case
///   folding).
/// - Accents, Hebrew points, Arabic vowels and tatweel, joiners and soft hyphens are ignored. "ø", "ł", "đ", "ħ", "ŧ", "ı",
///   "æ", "œ" are "o", "l", "d", "h", "t", "i", "ae", "oe". Signs of other scripts, such as the vowels of Devanagari, Bengali,
///   Tamil and Tibetan, are significant.
/// - Han, kana, Bopomofo, Thai, Lao, Khmer, Myanmar and Tai are written without spaces. A run of such characters yields its
///   overlapping pairs of scalars, and its last scalar alone. 東京都 yields 東京, 京都 and 都, so that each of its characters begins a
///   term.
/// - Hangul is written with spaces. A term is a word, decomposed into jamo, so that 하 matches 한국 while it is being typed.
///
/// A term contains no spaces, no ASCII except lower-case letters and digits, and at most 64 bytes. Terms must be compared by
/// their UTF-8 bytes, as indexes do. Swift's `hasPrefix` would not find क at the beginning of कि.
public enum Terms {
    /// The maximum length of a term, in UTF-8 bytes. A longer term is cut between two scalars, in texts and in queries.
    public static let maximumLength = 64

    /// The terms of `text`, in order.
    public static func terms(in text: String) -> [String] {
        var terms: [String] = []
        TermScanner.scan(text) { term, _, _ in terms.append(String(decoding: term, as: UTF8.self)) }
        return terms
    }

    /// The terms of `text`, in order, separated by spaces, for an index that splits at spaces.
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
