import HesperModel
import HesperStore

/// The terms of the search index. Each is prefixed with its scope, so a prefix search finds nothing of other scopes and its
/// cost does not depend on them.
enum ScopedTerms {
    /// The terms of a text, separated by spaces: `7:milk 7:and 7:bread`.
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

    /// The query in FTS5's syntax: `"7:milk" * AND "7:two 7:wor" *`; nil if it has no terms.
    static func match(_ query: SearchQuery, scope: ScopeID) -> String? {
        guard !query.phrases.isEmpty else { return nil }
        return query.phrases.map { phrase in
            let terms = phrase.map { "\(scope.rawValue):\($0.text.replacing("\"", with: "\"\""))" }
            return "\"\(terms.joined(separator: " "))\"\(phrase.last?.isPrefix ?? false ? " *" : "")"
        }.joined(separator: " AND ")
    }
}
