import Foundation
import HesperModel
import Testing

/// protocol.md, Resources: words and "phrases"; prefixes; case and accents are ignored; CJK text is indexed by pairs.
struct SearchTests {
    struct Case: Decodable, CustomTestStringConvertible {
        struct QueryTerm: Decodable {
            let text: String
            let isPrefix: Bool
        }
        struct Shown: Decodable {
            struct Match: Decodable {
                let location: Int
                let length: Int
            }
            let text: String
            let ranges: [Match]
        }
        let name: String
        let text: String?
        let terms: [String]?
        let query: String?
        let phrases: [[QueryTerm]]?
        let error: String?
        let matches: Bool?
        let snippet: Shown?
        var testDescription: String { name }
    }

    static let vectors = Result { try Vectors.load("search-terms.json", as: [Case].self) }
    static func cases(_ isIncluded: (Case) -> Bool) throws -> [Case] { try vectors.get().filter(isIncluded) }

    @Test func `Every vector is run by one of the tests below`() throws {
        let all = try Self.vectors.get()
        #expect(all.count == Set(all.map(\.name)).count)
        for vector in all {
            let kinds = [vector.terms != nil, vector.phrases != nil, vector.error != nil, vector.matches != nil]
            #expect(kinds.filter { $0 }.count == 1, "\(vector.name)")
        }
    }

    @Test(arguments: try cases { $0.terms != nil })
    func `A text has the expected terms`(vector: Case) throws {
        let text = try #require(vector.text)
        let terms = try #require(vector.terms)
        #expect(Terms.terms(in: text).map(\.hex) == terms.map(\.hex))
        #expect(Terms.joined(in: text).hex == terms.joined(separator: " ").hex)
    }

    @Test(arguments: try cases { $0.phrases != nil })
    func `A query has the expected phrases`(vector: Case) throws {
        let expected = try #require(vector.phrases).map { $0.map { Term($0.text, isPrefix: $0.isPrefix) } }
        #expect(try SearchQuery(#require(vector.query)).phrases == expected)
    }

    @Test(arguments: try cases { $0.error != nil })
    func `A query over a limit is rejected with the limit`(vector: Case) throws {
        let failure: SearchQuery.Failure = try #require(vector.error) == "too-long" ? .tooLong : .tooManyTerms
        #expect(throws: failure) { try SearchQuery(#require(vector.query)) }
        let limit = failure == .tooLong ? SearchQuery.maximumLength : SearchQuery.maximumTerms
        #expect("\(failure)".contains("\(limit)"))
    }

    @Test(arguments: try cases { $0.matches != nil })
    func `A query matches the text and the snippet shows the matches`(vector: Case) throws {
        let text = try #require(vector.text)
        let query = try SearchQuery(#require(vector.query))
        #expect(query.matches(text) == vector.matches)
        guard vector.matches == true else { return }
        let expected = try #require(vector.snippet)
        let snippet = try #require(query.snippet(of: text))
        #expect(snippet.text.hex == expected.text.hex)
        #expect(snippet.ranges == expected.ranges.map { Snippet.Match(location: $0.location, length: $0.length) })
    }

    @Test func `Joined terms contain only terms and single spaces`() {
        var random = SeededGenerator(for: "Terms laws")
        for _ in 0..<3_000 {
            let text = SampleText.make(&random)
            let terms = Terms.terms(in: text)
            #expect(Terms.joined(in: text).hex == terms.joined(separator: " ").hex)
            for term in terms {
                #expect((1...Terms.maximumLength).contains(term.utf8.count), "\(text.hex)")
                let isPlain = term.utf8.allSatisfy {
                    $0 >= 0x80 || (0x61...0x7A).contains($0) || (0x30...0x39).contains($0)
                }
                #expect(isPlain, "\(term) in \(text.hex)")
            }
        }
    }

    @Test func `Equivalent texts have the same terms, in any case`() {
        var random = SeededGenerator(for: "Terms of equivalent texts")
        for _ in 0..<3_000 {
            let text = SampleText.make(&random)
            let terms = Terms.terms(in: text).map(\.hex)
            #expect(Terms.terms(in: text.decomposedStringWithCanonicalMapping).map(\.hex) == terms, "\(text.hex)")
            #expect(Terms.terms(in: text.precomposedStringWithCanonicalMapping).map(\.hex) == terms, "\(text.hex)")
        }
        for text in ["große Straße", "ΟΔΟΣ οδος", "Łódź", "Ёлка"] {
            #expect(Terms.terms(in: text.uppercased()) == Terms.terms(in: text.lowercased()))
        }
    }

    @Test func `The fast path for ASCII yields the same terms as the general path`() {
        var random = SeededGenerator(for: "Terms of ASCII")
        for _ in 0..<2_000 {
            let scalars = (0..<40).map { _ in Character(Unicode.Scalar(UInt8.random(in: 0..<0x80, using: &random))) }
            let text = String(scalars)
            // A word joiner after every character forces the general path and is ignored in terms.
            let slow = scalars.map { "\($0)\u{2060}" }.joined()
            #expect(Terms.terms(in: slow) == Terms.terms(in: text), "\(text.hex)")
        }
    }

    @Test func `Any part of a text that begins a word or a pair matches the text`() throws {
        var random = SeededGenerator(for: "Search laws")
        for _ in 0..<3_000 {
            let text = SampleText.make(&random)
            let words = text.split(separator: " ").map(String.init)
            guard let word = words.randomElement(using: &random) else { continue }
            let prefix = String(word.prefix(Int.random(in: 1...word.count, using: &random)))
            guard !prefix.contains("\"") else { continue }
            let query = try SearchQuery(prefix)
            #expect(query.matches(text), "\(prefix.hex) in \(text.hex)")
            let first = Int.random(in: 0..<words.count, using: &random)
            let last = min(words.count, first + Int.random(in: 1...3, using: &random))
            let phrase = words[first..<last].joined(separator: " ")
            if !phrase.contains("\""), let query = try? SearchQuery("\"\(phrase)\"") {
                #expect(query.matches(text), "\(phrase.hex) in \(text.hex)")
            }
        }
    }
}
