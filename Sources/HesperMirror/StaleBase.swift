import Foundation

/// A text that a file had until the mirror replaced it, less than a day ago. An editor that has not read the file again may still
/// show this text, and save an edited version of it.
struct FormerText: Codable, Equatable, Sendable {
    var text: String
    /// The time at which the mirror replaced the text, in seconds since 1970.
    var replaced: Double
    /// Whether an editor saved this text after editing a former text. If the editor saves exactly the same text again, the user
    /// wants this text. The text then counts as an edited version of the current text.
    var wasSavedStale = false

    /// The time for which an editor may still show a text after the mirror replaced it, in seconds.
    static let lifetime = 86_400.0
    private static let limit = 8

    /// Determines which text an editor showed before the user edited and saved it: the current text, or a former text, if the
    /// editor had not read the file again since.
    ///
    /// A former text is considered only if the saved text lacks the changes that were made after it. Of these former texts and the
    /// current text, the result is the one that differs least from the saved text. `isStale` is true if it is a former text.
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

    /// The number of words by which two texts differ: for each word, the difference between its numbers of occurrences is added.
    /// Pairs of words are not compared.
    func distance(to other: Words) -> Int {
        counts.reduce(0) { $0 + max(0, $1.value - (other.counts[$1.key] ?? 0)) }
            + other.counts.reduce(0) { $0 + max(0, $1.value - (counts[$1.key] ?? 0)) }
    }

    /// Whether this text lacks the change from `before` to `after`. If the change added words, this text must have less than half
    /// of the added words, and none of the added pairs of adjacent words. Some of the words are allowed, because the text may have
    /// a frequent word by chance. If the change only removed words, this text must have all of the removed words.
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
