/// The lines, words and graphemes of a text, determined independently of the code under test.
struct TrialText {
    let text: String
    /// The lines without their line breaks.
    let lines: [Substring]
    /// Runs of letters and digits.
    let runs: Set<String>
    /// The graphemes, unless the text is plain ASCII.
    let graphemes: Set<String>
    /// The words of a ``TrialEditor`` in the text, in order, and the number of occurrences of each.
    let counts: [String: Int]
    let words: [String]

    init(_ text: String) {
        self.text = text
        lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        var (runs, graphemes): (Set<String>, Set<String>) = ([], [])
        var words: [String] = []
        func add(_ run: String) {
            if run.isEmpty { return }
            runs.insert(run)
            if let word = Self.word(run) { words.append(word) }
        }
        if text.utf8.allSatisfy({ $0 < 0x80 && $0 != 0x0D }) {
            // Each byte is a grapheme.
            for run in text.utf8.split(whereSeparator: { !Self.isLetterOrDigit($0) }) {
                add(String(decoding: run, as: UTF8.self))
            }
        } else {
            var run = ""
            for grapheme in text {
                graphemes.insert(String(grapheme))
                if Self.isPartOfRun(grapheme) {
                    run.append(grapheme)
                } else {
                    add(run)
                    run = ""
                }
            }
            add(run)
        }
        counts = words.counted
        (self.runs, self.graphemes, self.words) = (runs, graphemes, words)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    /// "w12" of "w12é".
    static func word(_ run: String) -> String? {
        guard run.utf8.first == UInt8(ascii: "w") else { return nil }
        let digits = run.utf8.dropFirst().prefix { (0x30...0x39).contains($0) }
        return digits.isEmpty ? nil : "w" + String(decoding: digits, as: UTF8.self)
    }

    /// Whether a grapheme is a letter or digit of a script with blanks between words.
    private static func isPartOfRun(_ grapheme: Character) -> Bool {
        guard let first = grapheme.unicodeScalars.first else { return false }
        switch first.value {
        case 0..<0x80: return grapheme.isLetter || grapheme.isNumber
        case 0x0E00...0x0EFF, 0x3041...0x30FF, 0x4E00...0x9FFF: return false
        default: return !first.properties.isEmoji && (grapheme.isLetter || grapheme.isNumber)
        }
    }

    func count(_ word: String) -> Int { counts[word] ?? 0 }
}

extension Collection where Element: Hashable {
    /// The number of occurrences of each element.
    var counted: [Element: Int] { reduce(into: [:]) { $0[$1, default: 0] += 1 } }
}
