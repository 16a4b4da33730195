import HesperModel
import HesperStore

/// Terms as they stand in the index: each with its scope before it, so that a prefix finds nothing of another scope, nor
/// costs anything by what others hold.
enum ScopedTerms {
    /// A text's terms with a space between: `7:milk 7:and 7:bread`.
    static func joined(in text: String, scope: ScopeID) -> [UInt8] {
        let prefix = Array("\(scope.rawValue):".utf8)
        let space = UInt8(ascii: " ")
        let terms = Array(Terms.joined(in: text).utf8)
        guard !terms.isEmpty else { return [] }
        var bytes = prefix
        bytes.reserveCapacity(terms.count * 2)
        for byte in terms {
            bytes.append(byte)
            if byte == space { bytes.append(contentsOf: prefix) }
        }
        return bytes
    }

    /// The query in FTS5's language: `"7:milk" * AND "7:two 7:wor" *`; nil if it has no terms.
    static func match(_ query: SearchQuery, scope: ScopeID) -> String? {
        guard !query.phrases.isEmpty else { return nil }
        return query.phrases.map { phrase in
            let terms = phrase.map { "\(scope.rawValue):\($0.text.replacing("\"", with: "\"\""))" }
            return "\"\(terms.joined(separator: " "))\"\(phrase.last?.isPrefix ?? false ? " *" : "")"
        }.joined(separator: " AND ")
    }
}
