import Foundation

/// A text that a file had until the mirror replaced it. An editor that has not read the file again may still show this text, and
/// may save an edited version of it. A former text is used for one day after it was replaced.
struct FormerText: Codable, Equatable, Sendable {
    var text: String
    /// The time at which the mirror replaced the text, in seconds since 1970.
    var replaced: Double
    /// Whether an editor saved this text as an edited version of a former text. In this case, the mirror merged this text with the
    /// current text. If the editor saves exactly this text again, the user wants this text and not the merged text. The text then
    /// counts as an edited version of the current text.
    var wasSavedStale = false

    /// The time for which an editor may still show a text after the mirror replaced it, in seconds.
    static let lifetime = 86_400.0
    private static let limit = 8

    /// Determines which text an editor showed before the user edited and saved it. This is the current text of the file, or a
    /// former text if the editor has not read the file since that text was replaced.
    ///
    /// A former text is considered only if the saved text lacks the change from the former text to the current text. Among the
    /// current text and these former texts, the result is the text that differs least from the saved text. `isStale` is true if the
    /// result is a former text.
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

    /// The number of words by which two texts differ. For each word, the difference between the numbers of occurrences in the two
    /// texts is counted. Pairs of words are not compared.
    func distance(to other: Words) -> Int {
        counts.reduce(0) { $0 + max(0, $1.value - (other.counts[$1.key] ?? 0)) }
            + other.counts.reduce(0) { $0 + max(0, $1.value - (counts[$1.key] ?? 0)) }
    }

    /// Whether this text lacks the change from `before` to `after`. If the change added words, the result is true if this text has
    /// less than half of the added words, and none of the added pairs of adjacent words. Some of the added words are allowed,
    /// because a frequent word may be in this text by chance. If the change only removed words, the result is true if this text has
    /// all of the removed words.
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
        // If the change only moved words, it cannot be detected, and the result is false.
        return !removed.isEmpty && removed.allSatisfy { counts[$0.key] ?? 0 >= $0.value }
    }
}
