import Testing

@testable import HesperModel

/// What holds for every merge of texts, whatever the texts.
enum TextMergeLaws {
    static func check(base: String, older: String, newer: String, _ what: Comment) {
        let merged = TextMerge.merge(base: base, older: older, newer: newer)
        #expect(isSame(merged, TextMerge.merge(base: base, older: older, newer: newer)), what)
        for side in [older, newer] {
            #expect(isSame(TextMerge.merge(base: base, older: base, newer: side), side), what)
            #expect(isSame(TextMerge.merge(base: base, older: side, newer: base), side), what)
            #expect(isSame(TextMerge.merge(base: base, older: side, newer: side), side), what)
        }
        let sources = [base, older, newer]
        let foreignWords = words(merged).subtracting(words(sources))
        #expect(foreignWords.isEmpty, "\(what): nobody wrote \(foreignWords) in \(merged.debugDescription)")
        let foreignGraphemes = graphemes([merged]).subtracting(graphemes(sources)).subtracting([[0x20], [0x0A]])
        #expect(foreignGraphemes.isEmpty, "\(what): nobody wrote \(foreignGraphemes) in \(merged.debugDescription)")
        let doubled = paragraphs(merged).filter { line, count in
            count > sources.map { paragraphs($0)[line] ?? 0 }.reduce(1, max)
        }
        #expect(doubled.isEmpty, "\(what): doubled \(doubled.keys.map { String(decoding: $0, as: UTF8.self) })")
    }

    /// Nor does a paragraph stand twice with a word changed: no run of eight words stands more often than in the text of
    /// the three that has it most often.
    static func checkRuns(base: String, older: String, newer: String, _ what: Comment) {
        let merged = TextMerge.merge(base: base, older: older, newer: newer)
        let sources = [base, older, newer].map(runs)
        let doubled = runs(merged).filter { run, count in count > sources.map { $0[run] ?? 0 }.reduce(1, max) }
        #expect(doubled.isEmpty, "\(what): doubled \(doubled.keys.map { $0.joined(separator: " ") })")
    }

    /// How often each run of eight words stands in a text, whatever is between the words.
    static func runs(_ text: String) -> [ArraySlice<Substring>: Int] {
        let words = text.split(whereSeparator: \.isWhitespace)
        return words.indices.dropLast(7).reduce(into: [:]) { $0[words[$1..<($1 + 8)], default: 0] += 1 }
    }

    /// What stands between blanks and breaks, without the punctuation around it, as bytes.
    static func words(_ text: String) -> Set<[UInt8]> {
        var words: Set<[UInt8]> = []
        var word: [UInt8] = []
        for grapheme in text + "\n" {
            let scalars = grapheme.unicodeScalars
            let isGap = scalars.allSatisfy { $0.properties.isWhitespace || $0 == "\u{200B}" }
            let isAlone = scalars.first.map {
                $0.value > 0x2000 && ($0.properties.isIdeographic || $0.properties.isEmoji)
            }
            if isGap || isAlone == true || (0x3001...0x309F).contains(scalars.first?.value ?? 0) {
                while let last = word.last, ".,;:!?)".utf8.contains(last) { word.removeLast() }
                if !word.isEmpty { words.insert(word) }
                word = []
            } else {
                word += Array(grapheme.utf8)
            }
        }
        return words
    }

    static func words(_ texts: [String]) -> Set<[UInt8]> { texts.reduce(into: []) { $0.formUnion(words($1)) } }

    static func graphemes(_ texts: [String]) -> Set<[UInt8]> {
        texts.reduce(into: []) { all, text in all.formUnion(text.map { Array($0.utf8) }) }
    }

    /// How often each line of three words or more stands in a text.
    static func paragraphs(_ text: String) -> [[UInt8]: Int] {
        text.split(whereSeparator: \.isNewline).filter { $0.split(separator: " ").count >= 3 }
            .reduce(into: [:]) { $0[Array($1.utf8), default: 0] += 1 }
    }
}
