/// A term of a search query.
public struct Term: Sendable, Hashable {
    /// The text of the term, in the form that ``Terms/terms(in:)`` returns.
    public let text: String
    /// Whether the term also matches longer terms that begin with it.
    public let isPrefix: Bool

    public init(_ text: String, isPrefix: Bool = false) {
        self.text = text
        self.isPrefix = isPrefix
    }

    /// Whether this term of a query matches `term`, a term of a text. Bytes are compared.
    func matches(_ term: String) -> Bool {
        isPrefix ? term.utf8.starts(with: text.utf8) : term.utf8.elementsEqual(text.utf8)
    }
}

/// A search query: words and "phrases" (protocol.md, Resources).
///
/// A text matches if it contains every phrase of the query. It contains a phrase if it contains the terms of the phrase in
/// direct succession. A word of a query is a phrase of one term, or of several terms if the word is split ("don't", 東京都). The
/// last term of each phrase is a prefix. Typographic quotation marks, which phones insert, are accepted. A phrase without a
/// closing quotation mark extends to the end of the query. A query without terms matches everything.
public struct SearchQuery: Sendable, Hashable {
    /// The maximum length of a query, in Unicode scalars.
    public static let maximumLength = 1_000
    /// The maximum number of terms in a query, over all phrases.
    public static let maximumTerms = 32

    /// The reason why a query is invalid.
    public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        case tooLong
        case tooManyTerms

        public var description: String {
            switch self {
            case .tooLong: "A query must have at most \(SearchQuery.maximumLength) characters."
            case .tooManyTerms:
                "A query must have at most \(SearchQuery.maximumTerms) terms: "
                    + "words, or pairs of characters in scripts without spaces."
            }
        }
    }

    /// The terms of each phrase. No phrase is empty. Only the last term of a phrase can be a prefix.
    public let phrases: [[Term]]
    /// Whether the query has no terms.
    public var isEmpty: Bool { phrases.isEmpty }

    /// Parses a query as typed by a user.
    public init(_ text: String) throws(Failure) {
        guard text.unicodeScalars.count <= Self.maximumLength else { throw .tooLong }
        phrases = Self.parts(of: text).map(Self.phrase).filter { !$0.isEmpty }
        guard phrases.reduce(0, { $0 + $1.count }) <= Self.maximumTerms else { throw .tooManyTerms }
    }

    /// Whether `text` contains every phrase.
    public func matches(_ text: String) -> Bool {
        matches(terms: Terms.terms(in: text))
    }

    /// Whether the terms of a text contain every phrase. The search index of every store must find exactly the texts for which
    /// this function returns true.
    public func matches(terms: [String]) -> Bool {
        phrases.allSatisfy { phrase in
            terms.indices.contains { Self.matches(phrase, at: $0, count: terms.count) { terms[$0] } }
        }
    }

    /// Whether the terms of a text match `phrase` from index `start` on.
    /// - Parameters:
    ///   - count: the number of terms of the text.
    ///   - term: returns the term of the text at an index.
    static func matches(_ phrase: [Term], at start: Int, count: Int, _ term: (Int) -> String) -> Bool {
        start + phrase.count <= count && phrase.indices.allSatisfy { phrase[$0].matches(term(start + $0)) }
    }

    /// Splits a query into parts. Each part is the text between two quotation marks or, outside of quotation marks, between white
    /// space.
    private static func parts(of text: String) -> [String] {
        var parts = [String.UnicodeScalarView()]
        var isQuoted = false
        for scalar in text.unicodeScalars {
            let isQuote = "\"\u{201C}\u{201D}\u{201E}\u{201F}\u{FF02}".unicodeScalars.contains(scalar)
            if isQuote { isQuoted.toggle() }
            if isQuote || !isQuoted && scalar.properties.isWhitespace {
                parts.append(String.UnicodeScalarView())
            } else {
                parts[parts.count - 1].append(scalar)
            }
        }
        return parts.map { String($0) }
    }

    /// The terms of a phrase. If the phrase ends in a script without spaces, the term that consists of the last character alone is
    /// omitted. A text contains that term only at the end of a run of characters, but the phrase must also be found within a run.
    private static func phrase(_ text: String) -> [Term] {
        var terms: [String] = []
        var endsInTail = false
        TermScanner.scan(text) { term, _, isTail in
            terms.append(String(decoding: term, as: UTF8.self))
            endsInTail = isTail
        }
        if endsInTail { terms.removeLast() }
        return terms.indices.map { Term(terms[$0], isPrefix: $0 == terms.count - 1) }
    }
}
