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

    /// The base of a text that was saved, and whether the editor did not show what the mirror wrote last. It is the text that differs
    /// least from the saved one, of the current text and those former texts since which everything that changed is missing from the
    /// saved text.
    /// - Parameters:
    ///   - former: the texts that the mirror replaced, oldest first.
    ///   - current: the text that the mirror wrote last.
    static func base(
        of saved: String, former: [FormerText], current: String, at now: Double
    ) -> (text: String, isStale: Bool) {
        let recent = former.filter { now - $0.replaced < lifetime }
        if recent.contains(where: { $0.wasSavedStale && $0.text.utf8.elementsEqual(saved.utf8) }) {
            return (current, false)
        }
        let (words, now) = (count(saved), count(current))
        var best = (text: current, distance: distance(words, now), isStale: false)
        for text in recent.reversed() {
            let before = count(text.text)
            guard lacks(words, from: before, to: now) else { continue }
            let distance = distance(words, before)
            if distance < best.distance { best = (text.text, distance, true) }
        }
        return (best.text, best.isStale)
    }

    static func adding(_ text: FormerText, to former: [FormerText]) -> [FormerText] {
        let recent = former.filter { text.replaced - $0.replaced < lifetime }
        return Array((recent + [text]).suffix(limit))
    }

    /// Whether a text contains nothing of the change from one text to another: none of the words that were added, and all of those
    /// that were removed if none was added.
    private static func lacks(_ words: Words, from before: Words, to after: Words) -> Bool {
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

    /// The number of words that are in only one of two texts.
    private static func distance(_ one: Words, _ other: Words) -> Int {
        one.reduce(0) { $0 + max(0, $1.value - (other[$1.key] ?? 0)) }
            + other.reduce(0) { $0 + max(0, $1.value - (one[$1.key] ?? 0)) }
    }

    /// How often each word is in a text.
    private typealias Words = [Substring: Int]

    private static func count(_ text: String) -> Words {
        var counts: Words = [:]
        for word in text.split(whereSeparator: \.isWhitespace) { counts[word, default: 0] += 1 }
        return counts
    }
}
