import Foundation

/// An excerpt of a text, with the places where a search query matches.
public struct Snippet: Sendable, Hashable {
    /// A match in ``Snippet/text``. Location and length are in UTF-16 code units, as in JavaScript, NSRange and Java.
    public struct Match: Sendable, Hashable {
        public let location: Int
        public let length: Int

        public init(location: Int, length: Int) {
            self.location = location
            self.length = length
        }
    }

    /// An unmodified part of the text. It begins and ends between words if possible, and between characters (graphemes) otherwise.
    /// If a single character is larger than the maximum size, the part ends within this character.
    public let text: String
    /// The matches in ``text``, in order. Each consists of whole characters. Matches that would overlap or touch are joined.
    public let ranges: [Match]

    public init(text: String, ranges: [Match]) {
        self.text = text
        self.ranges = ranges
    }
}

extension SearchQuery {
    /// An excerpt of about `length` characters of `text`, around the first match. Its size is at most 32 bytes per character on
    /// average, even if characters have many combining marks. If the query is empty, the excerpt is the beginning of `text`.
    /// Nil if `text` contains no phrase of the query.
    public func snippet(of text: String, length: Int = 160) -> Snippet? {
        let found = matchedRanges(in: text, reach: Self.bytes(length))
        if found.isEmpty && !phrases.isEmpty { return nil }
        let start = found.first?.lowerBound ?? text.firstIndex { !$0.isWhitespace } ?? text.endIndex
        let excerpt = Self.excerpt(of: text, from: start, length: length)
        var ranges: [Snippet.Match] = []
        for range in found where range.overlaps(excerpt) {
            let part = range.clamped(to: excerpt)
            ranges.append(
                Snippet.Match(
                    location: text.utf16.distance(from: excerpt.lowerBound, to: part.lowerBound),
                    length: text.utf16.distance(from: part.lowerBound, to: part.upperBound)))
        }
        return Snippet(text: String(text[excerpt]), ranges: ranges)
    }

    /// The maximum size of an excerpt with this number of characters, in bytes.
    private static func bytes(_ length: Int) -> Int { 32 * length }

    /// The ranges of `text` that match phrases, in order. They are extended to whole characters, and ranges that touch are
    /// joined. The search stops `reach` bytes after the first match, because a long text may have a match at every word.
    private func matchedRanges(in text: String, reach: Int) -> [Range<String.Index>] {
        var found: [(term: String, source: Range<Int>)] = []
        TermScanner.scan(text) { term, source, _ in found.append((String(decoding: term, as: UTF8.self), source)) }
        var ranges: [Range<Int>] = []
        for start in found.indices {
            if let first = ranges.first, found[start].source.lowerBound > first.lowerBound + reach { break }
            for phrase in phrases where Self.matches(phrase, at: start, count: found.count, { found[$0].term }) {
                let (term, source) = found[start + phrase.count - 1]
                let end = Self.end(of: phrase[phrase.count - 1], in: text, found: term, source)
                ranges.append(found[start].source.lowerBound..<max(end, found[start].source.lowerBound))
            }
        }
        return Self.merged(ranges.map { text.charactersAround($0) })
    }

    /// The byte offset at which the match of `term` ends.
    /// - Parameters:
    ///   - found: the term of the text that `term` matches. It is equal to `term`, or it is longer and begins with `term`.
    ///   - source: the bytes of the text from which `found` was made. If `found` is longer than `term`, the match ends after the
    ///     scalars that yield `term`.
    private static func end(of term: Term, in text: String, found: String, _ source: Range<Int>) -> Int {
        var left = term.text.utf8.count
        if left == found.utf8.count { return source.upperBound }
        var text = text
        return text.withUTF8 { bytes in
            var position = source.lowerBound
            while position < source.upperBound, left > 0 {
                let (scalar, length) = TermScanner.decode(bytes, at: position)
                TermScalar.of(scalar) { made in
                    switch made.kind {
                    case .ignored: break
                    // "½" is normalized to 1, slash, 2. The terms "1" and "2" both come from this scalar. If `term` does not end
                    // before the slash, it begins after the slash, so its bytes are counted from there.
                    case .separator where left > 0: left = term.text.utf8.count
                    default: left -= UTF8.width(made.scalar)
                    }
                }
                position += length
            }
            return position
        }
    }

    private static func merged(_ ranges: [Range<String.Index>]) -> [Range<String.Index>] {
        var merged: [Range<String.Index>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    /// The range of an excerpt with at most `length` characters. A quarter of them are before `start`, and three quarters after it.
    /// If the text has fewer characters on one side, the excerpt contains more characters of the other side.
    private static func excerpt(of text: String, from start: String.Index, length: Int) -> Range<String.Index> {
        let bytes = Self.bytes(length)
        var before = text.walk(from: start, by: -1, atMost: length / 4, bytes: bytes / 4)
        let after = text.walk(from: start, by: 1, atMost: length - before.count, bytes: bytes - bytes / 4)
        if after.count == 0 { return start..<text.cut(start, bytes: bytes) }
        if after.end == text.endIndex {
            before = text.walk(from: start, by: -1, atMost: length - after.count, bytes: bytes / 4)
        }
        var lower = before.end
        var upper = after.end
        if lower > text.startIndex, !text[text.index(before: lower)].isWhitespace,
            let space = text[lower..<start].firstIndex(where: \.isWhitespace)
        {
            lower = space
        }
        // The end is moved back to a space, so that no word is cut. At least `length / 4` characters after `start` are kept. If
        // there is no space after these characters, a word is cut.
        if upper < text.endIndex, !text[upper].isWhitespace {
            let least = text.walk(from: start, by: 1, atMost: length / 4, bytes: bytes).end
            upper = text[least..<max(least, upper)].lastIndex(where: \.isWhitespace) ?? upper
        }
        while lower < start, text[lower].isWhitespace { lower = text.index(after: lower) }
        while upper > lower, text[text.index(before: upper)].isWhitespace { upper = text.index(before: upper) }
        return lower..<upper
    }
}

extension String {
    /// The range of whole characters that overlap this range of UTF-8 offsets.
    fileprivate func charactersAround(_ range: Range<Int>) -> Range<Index> {
        let lower = utf8.index(startIndex, offsetBy: range.lowerBound)
        let upper = utf8.index(startIndex, offsetBy: range.upperBound)
        return rounded(lower)..<(rounded(upper) == upper ? upper : index(after: rounded(upper)))
    }

    /// The start of the character that contains `index`. `index` must be the start of a scalar.
    private func rounded(_ index: Index) -> Index {
        index < endIndex ? self.index(before: self.index(after: index)) : index
    }

    /// The end of an excerpt if the character at `start` is larger than the maximum. The character is cut between two scalars.
    fileprivate func cut(_ start: Index, bytes: Int) -> Index {
        let end = utf8.index(start, offsetBy: bytes, limitedBy: endIndex) ?? endIndex
        return end == endIndex ? end : unicodeScalars.index(before: unicodeScalars.index(after: end))
    }

    /// Goes from `start` over at most `count` whole characters and at most `bytes` bytes. Stops at the end or the beginning of the
    /// text. `step` is 1 to go forward and -1 to go backward. Returns the index reached and the number of characters passed.
    fileprivate func walk(
        from start: Index, by step: Int, atMost count: Int, bytes: Int
    ) -> (end: Index, count: Int) {
        let last = step > 0 ? endIndex : startIndex
        var end = start
        var walked = 0
        while walked < count, end != last {
            let next = step > 0 ? index(after: end) : index(before: end)
            if abs(utf8.distance(from: start, to: next)) > bytes { break }
            end = next
            walked += 1
        }
        return (end, walked)
    }
}
