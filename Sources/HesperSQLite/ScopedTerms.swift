import HesperModel
import HesperStore

/// The terms of the search index. Each term starts with the number of its scope. Therefore a search for a prefix finds no terms of
/// other scopes, and its duration does not depend on the number of terms in other scopes.
enum ScopedTerms {
    /// The terms of a text, separated by spaces, for example `7:milk 7:and 7:bread` in scope 7.
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

    /// The query in FTS5's syntax, for example `"7:milk" * AND "7:two 7:wor" *` in scope 7. Nil if the query has no terms.
    static func match(_ query: SearchQuery, scope: ScopeID) -> String? {
        guard !query.phrases.isEmpty else { return nil }
        return query.phrases.map { phrase in
            let terms = phrase.map { "\(scope.rawValue):\($0.text.replacing("\"", with: "\"\""))" }
            return "\"\(terms.joined(separator: " "))\"\(phrase.last?.isPrefix ?? false ? " *" : "")"
        }.joined(separator: " AND ")
    }
}
