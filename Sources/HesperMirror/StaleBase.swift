import Foundation

/// A text that a file had before the mirror wrote another one, within the last day. An editor may still show it, and save the file
/// without having seen what the mirror wrote.
struct FormerText: Codable, Equatable, Sendable {
    var text: String
    /// The time at which the mirror replaced the text, in seconds since 1970.
    var replaced: Double
    /// Whether the text was saved by an editor that did not show the latest contents. If it is saved again, it is used as it is, because
    /// the person wants it.
    var wasSavedStale = false

    /// The time for which an editor may show a text, in seconds.
    static let lifetime = 86_400.0
    private static let limit = 8

    /// The base of a text that was saved, and whether the editor did not show what the mirror wrote last.
    /// - Parameters:
    ///   - former: the texts that the mirror replaced, oldest first.
    ///   - current: the text that the mirror wrote last.
    static func base(
        of saved: String, former: [FormerText], current: String, at now: Double
    ) -> (text: String, isStale: Bool) {
        var base = current
        var isStale = false
        for text in former.reversed() {
            guard now - text.replaced < lifetime, !(text.wasSavedStale && text.text.utf8.elementsEqual(saved.utf8)),
                lacks(saved, from: text.text, to: base)
            else { break }
            (base, isStale) = (text.text, true)
        }
        return (base, isStale)
    }

    static func adding(_ text: FormerText, to former: [FormerText]) -> [FormerText] {
        let recent = former.filter { text.replaced - $0.replaced < lifetime }
        return Array((recent + [text]).suffix(limit))
    }

    /// Whether a text contains nothing of the change from one text to another: none of the words that were added, and all of those
    /// that were removed if none was added.
    private static func lacks(_ text: String, from former: String, to changed: String) -> Bool {
        let (words, before, after) = (count(text), count(former), count(changed))
        var hasAdded = false
        for (word, number) in after where number > before[word] ?? 0 {
            hasAdded = true
            if words[word] ?? 0 > before[word] ?? 0 { return false }
        }
        if hasAdded { return true }
        var hasRemoved = false
        for (word, number) in before where number > after[word] ?? 0 {
            hasRemoved = true
            if words[word] ?? 0 < number { return false }
        }
        // A change that only moved words cannot be detected.
        return hasRemoved
    }

    private static func count(_ text: String) -> [Substring: Int] {
        var counts: [Substring: Int] = [:]
        for word in text.split(whereSeparator: \.isWhitespace) { counts[word, default: 0] += 1 }
        return counts
    }
}
