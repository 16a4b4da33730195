import Foundation
import HesperModel
import Testing

/// protocol.md, Resources: snippets have ranges rather than markup.
struct SnippetTests {
    private let words = String(repeating: "word ", count: 100)

    private func snippet(_ query: String, of text: String) throws -> Snippet {
        try #require(try SearchQuery(query).snippet(of: text))
    }

    /// The parts of the snippet within its ranges.
    private func marked(_ snippet: Snippet) -> [String] {
        let units = Array(snippet.text.utf16)
        return snippet.ranges.map { String(decoding: units[$0.location..<$0.location + $0.length], as: UTF16.self) }
    }

    @Test func `If a text matches at every word, the whole snippet is marked`() throws {
        let text = String(repeating: "a b c ", count: 20_000)
        let snippet = try snippet("a b c", of: text)
        #expect((120...160).contains(snippet.text.count))
        #expect(marked(snippet).joined(separator: " ") == snippet.text)
    }

    @Test func `A match in the middle is shown between words, about 160 characters`() throws {
        let snippet = try snippet("needle", of: words + "Needles " + words)
        #expect((120...160).contains(snippet.text.count))
        #expect(snippet.text.hasPrefix("word ") && snippet.text.hasSuffix(" word"))
        #expect(marked(snippet) == ["Needle"])
        #expect((20...45).contains(snippet.ranges[0].location))
    }

    @Test func `A match at the beginning is followed by more, one at the end preceded by more`() throws {
        let first = try snippet("needle", of: "needle " + words)
        #expect(first.text.hasPrefix("needle word") && (150...160).contains(first.text.count))
        let last = try snippet("needle", of: words + "needle")
        #expect(last.text.hasSuffix("word needle") && (150...160).contains(last.text.count))
    }

    @Test func `A text that fits is shown completely`() throws {
        #expect(try snippet("needle", of: "A needle in a haystack\n").text == "A needle in a haystack")
    }

    @Test func `Text without spaces is cut between characters`() throws {
        let snippet = try snippet(
            "東京", of: String(repeating: "大", count: 300) + "東京" + String(repeating: "都", count: 300))
        #expect(snippet.text.count == 160)
        #expect(marked(snippet) == ["東京"])
    }

    @Test func `Every match inside the excerpt is marked`() throws {
        let snippet = try snippet("word", of: words)
        #expect(marked(snippet) == Array(repeating: "word", count: 32))
    }

    @Test func `A match longer than the snippet is cut`() throws {
        let snippet = try snippet("\"x y\"", of: "x" + String(repeating: "-", count: 1_000) + "y")
        #expect(snippet.text.count == 160)
        #expect(marked(snippet) == [snippet.text])
    }

    @Test func `An empty query shows the beginning`() throws {
        let snippet = try snippet("", of: "\n\n " + words)
        #expect(snippet.text.hasPrefix("word word") && snippet.text.count <= 160)
        #expect(snippet.ranges.isEmpty)
    }

    @Test func `There is no snippet without a match, and one matching phrase is sufficient`() throws {
        #expect(try SearchQuery("needle").snippet(of: words) == nil)
        #expect(marked(try snippet("needle word", of: "a word")) == ["word"])
    }

    @Test(arguments: ["a\u{301}", "a\u{93C}\u{94D}", "👩\u{200D}"])
    func `A character of a hundred kilobytes does not make the snippet large`(piece: String) throws {
        let pile =
            "a"
            + String(repeating: piece.dropFirst(0).unicodeScalars.dropFirst().map(String.init).joined(), count: 25_000)
        for text in [pile, words + pile, pile + " " + words, "needle " + pile, pile + " needle"] {
            for query in ["a", "needle", "word", ""] {
                guard let snippet = try SearchQuery(query).snippet(of: text) else { continue }
                #expect(snippet.text.utf8.count <= 160 * 32)
            }
        }
    }

    @Test func `A snippet is a part of the text, with separate ranges of whole characters in order`() throws {
        var random = SeededGenerator(for: "Snippet laws")
        var found = 0
        for _ in 0..<3_000 {
            let text = (0..<Int.random(in: 1...4, using: &random)).map { _ in SampleText.make(&random) }.joined(
                separator: "\r\n")
            guard let word = text.split(whereSeparator: \.isWhitespace).randomElement(using: &random),
                let query = try? SearchQuery(String(word.prefix(3))), !query.phrases.isEmpty,
                let snippet = query.snippet(of: text)
            else { continue }
            found += 1
            #expect(snippet.text.count <= 160 && text.utf8.count >= snippet.text.utf8.count)
            #expect(text.contains(snippet.text), "\(text.hex)")
            #expect(!snippet.ranges.isEmpty, "\(word.utf8) in \(text.hex)")
            var end = -1
            for range in snippet.ranges {
                #expect(range.location > end && range.length > 0, "\(text.hex)")
                end = range.location + range.length
                #expect(end <= snippet.text.utf16.count)
                for offset in [range.location, end] {
                    let index = String.Index(utf16Offset: offset, in: snippet.text)
                    #expect(index.samePosition(in: snippet.text) != nil, "\(text.hex)")
                    #expect(String.Index(index, within: snippet.text) != nil, "\(offset) in \(snippet.text.hex)")
                }
            }
            let first = try #require(marked(snippet).first)
            let terms = " " + Terms.joined(in: first)
            let phrases = query.phrases.map { " " + $0.map(\.text).joined(separator: " ") }
            #expect(phrases.contains { terms.hex.contains($0.hex) }, "\(terms.hex) for \(String(word).hex)")
        }
        #expect(found > 1_000)
    }
}
