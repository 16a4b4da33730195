/// One term of a query.
public struct Term: Sendable, Hashable {
    /// The term, in the form that `Terms.terms(in:)` gives.
    public let text: String
    /// Whether it also finds the terms that begin with it.
    public let isPrefix: Bool

    public init(_ text: String, isPrefix: Bool = false) {
        self.text = text
        self.isPrefix = isPrefix
    }

    /// Whether this finds `term`, compared by bytes.
    func finds(_ term: String) -> Bool {
        isPrefix ? term.utf8.starts(with: text.utf8) : term.utf8.elementsEqual(text.utf8)
    }
}

/// What somebody searches for: words and "phrases" (protocol.md, Resources).
///
/// A text matches if it has every phrase: the phrase's terms, one directly after the other. A word is a phrase of one term, or of
/// several if it splits into several ("don't", 東京都); the last term of each phrase is a prefix. Quotes may be typographic ones, as
/// telephones type them; a quote that is not closed yet reaches to the end. A query without terms matches everything.
public struct SearchQuery: Sendable, Hashable {
    /// The most Unicode scalars a query may have.
    public static let maximumLength = 1_000
    /// The most terms a query may have, all phrases together.
    public static let maximumTerms = 32

    /// Why a query was refused.
    public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        case tooLong
        case tooManyTerms

        public var description: String {
            switch self {
            case .tooLong: "A query has at most \(SearchQuery.maximumLength) characters."
            case .tooManyTerms:
                "A query has at most \(SearchQuery.maximumTerms) terms (words, or pairs of characters where words are not apart)."
            }
        }
    }

    /// The terms of each phrase. No phrase is empty; only the last term of one can be a prefix.
    public let phrases: [[Term]]
    /// Whether it asks for no word at all.
    public var isEmpty: Bool { phrases.isEmpty }

    /// Reads a query as typed.
    public init(_ text: String) throws(Failure) {
        guard text.unicodeScalars.count <= Self.maximumLength else { throw .tooLong }
        phrases = Self.pieces(of: text).map(Self.phrase).filter { !$0.isEmpty }
        guard phrases.reduce(0, { $0 + $1.count }) <= Self.maximumTerms else { throw .tooManyTerms }
    }

    /// Whether `text` has every phrase.
    public func matches(_ text: String) -> Bool {
        matches(terms: Terms.terms(in: text))
    }

    /// Whether the terms of a text have every phrase. This is what an index must agree with.
    public func matches(terms: [String]) -> Bool {
        phrases.allSatisfy { phrase in
            terms.indices.contains { Self.matches(phrase, at: $0, count: terms.count) { terms[$0] } }
        }
    }

    /// Whether the terms from `start` on are those of `phrase`.
    static func matches(_ phrase: [Term], at start: Int, count: Int, _ term: (Int) -> String) -> Bool {
        start + phrase.count <= count && phrase.indices.allSatisfy { phrase[$0].finds(term(start + $0)) }
    }

    /// What is between quotes, and what is between spaces outside of them.
    private static func pieces(of text: String) -> [String] {
        var pieces = [String.UnicodeScalarView()]
        var isQuoted = false
        for scalar in text.unicodeScalars {
            let isQuote = "\"\u{201C}\u{201D}\u{201E}\u{201F}\u{FF02}".unicodeScalars.contains(scalar)
            if isQuote { isQuoted.toggle() }
            if isQuote || !isQuoted && scalar.properties.isWhitespace {
                pieces.append(String.UnicodeScalarView())
            } else {
                pieces[pieces.count - 1].append(scalar)
            }
        }
        return pieces.map { String($0) }
    }

    /// The terms of `text`, less the last character of a run of pairs at the end: a text in which the run goes on does not have it.
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
