import Foundation

/// A text that a file had before the mirror wrote another text, within the last day. An editor may still show the former text, and
/// save an edited version of it without having read the text that the mirror wrote.
struct FormerText: Codable, Equatable, Sendable {
    var text: String
    /// The time at which the mirror replaced the text, in seconds since 1970.
    var replaced: Double
    /// Whether the text was saved by an editor that did not show the latest contents. If the same text is saved again, it is used
    /// as it is, because the person then wants it.
    var wasSavedStale = false

    /// The time for which an editor may show a text, in seconds.
    static let lifetime = 86_400.0
    private static let limit = 8

    /// Determines the base of a text that an editor saved, and whether the editor did not show the text that the mirror wrote last.
    /// The candidates are the current text, and each former text for which the saved text contains none of the changes that were
    /// made since. The base is the candidate that differs least from the saved text.
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
        let (words, now) = (Words(saved), Words(current))
        var best = (text: current, distance: words.distance(to: now), isStale: false)
        for text in recent.reversed() {
            let before = Words(text.text)
            guard words.lacksChange(from: before, to: now) else { continue }
            let distance = words.distance(to: before)
            if distance < best.distance { best = (text.text, distance, true) }
        }
        return (best.text, best.isStale)
    }

    static func adding(_ text: FormerText, to former: [FormerText]) -> [FormerText] {
        let recent = former.filter { text.replaced - $0.replaced < lifetime }
        return Array((recent + [text]).suffix(limit))
    }
}

/// The number of occurrences of each word, and of each pair of adjacent words, in a text.
private struct Words {
    private struct Pair: Hashable {
        let first: Substring
        let second: Substring
    }

    private var counts: [Substring: Int] = [:]
    private var pairs: [Pair: Int] = [:]

    init(_ text: String) {
        var last: Substring = ""
        for word in text.split(whereSeparator: \.isWhitespace) {
            counts[word, default: 0] += 1
            pairs[Pair(first: last, second: word), default: 0] += 1
            last = word
        }
    }

    /// The number of words that are in only one of two texts.
    func distance(to other: Words) -> Int {
        counts.reduce(0) { $0 + max(0, $1.value - (other.counts[$1.key] ?? 0)) }
            + other.counts.reduce(0) { $0 + max(0, $1.value - (counts[$1.key] ?? 0)) }
    }

    /// Whether the text contains nothing of the change from one text to another. If the change added words, the text has less than
    /// half of these words and none of the added pairs; some words are tolerated, because the text may have a frequent word by
    /// chance. If the change only removed words, the text has all of them.
    func lacksChange(from before: Words, to after: Words) -> Bool {
        let added = after.counts.filter { $0.value > before.counts[$0.key] ?? 0 }.keys
        if !added.isEmpty {
            let present = added.count { counts[$0] ?? 0 > before.counts[$0] ?? 0 }
            return present * 2 < added.count
                && !after.pairs.contains { pair, number in
                    let former = before.pairs[pair] ?? 0
                    return number > former && pairs[pair] ?? 0 > former
                }
        }
        let removed = before.counts.filter { $0.value > after.counts[$0.key] ?? 0 }
        // A change that only moved words cannot be detected.
        return !removed.isEmpty && removed.allSatisfy { counts[$0.key] ?? 0 >= $0.value }
    }
}
