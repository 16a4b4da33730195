import HesperModel
import HesperStore

/// The terms of the search index. Each is prefixed with its scope, so a prefix search finds nothing of other scopes and its
/// cost does not depend on them.
enum Lexemes {
    /// The size of a part in bytes. A `tsvector` is limited to 1 MB (PostgreSQL, Limitations of text search).
    static let partBytes = 256 << 10
    /// The maximum number of positions stored per term. More hardly change a note's relevance.
    private static let maxPositions = 32
    /// The greatest position in a `tsvector`.
    private static let lastPosition = 16_383

    /// Returns the terms of a text in the text form of `tsvector`, in one or more parts: `'7:milk':1,3 '7:bread':2`. Terms
    /// contain no quotation marks or backslashes.
    static func parts(of text: String, scope: ScopeID, partBytes: Int = Lexemes.partBytes) -> [[UInt8]] {
        var order: [String] = []
        var found: [String: [Int]] = [:]
        for (index, term) in Terms.terms(in: text).enumerated() {
            if found[term] == nil { order.append(term) }
            let isStored = found[term].map { $0.count < maxPositions && index < lastPosition } ?? true
            if isStored { found[term, default: []].append(min(index + 1, lastPosition)) }
        }
        let prefix = Array("'\(scope.rawValue):".utf8)
        var parts: [[UInt8]] = [[]]
        for term in order {
            // A position takes 2 bytes in a `tsvector` and up to 6 here, so a part is never larger there than here.
            if parts[parts.count - 1].count + prefix.count + term.utf8.count > partBytes { parts.append([]) }
            var part = parts.removeLast()
            if !part.isEmpty { part.append(UInt8(ascii: " ")) }
            part += prefix
            part += Array(term.utf8)
            part += Array("':".utf8)
            part += Array((found[term] ?? []).map { "\($0)" }.joined(separator: ",").utf8)
            parts.append(part)
        }
        return parts
    }

    /// The terms of a query in the text form of `tsquery`: `'7:milk':*`.
    private static func terms(_ query: SearchQuery, scope: ScopeID) -> [String] {
        query.phrases.flatMap { $0 }.map { term in
            let quoted = term.text.replacing("\\", with: "\\\\").replacing("'", with: "''")
            return "'\(scope.rawValue):\(quoted)'\(term.isPrefix ? ":*" : "")"
        }
    }

    /// The condition for notes whose terms are in one part: all terms of the query.
    static func all(_ query: SearchQuery, scope: ScopeID) -> String {
        terms(query, scope: scope).joined(separator: " & ")
    }

    /// The condition for a part of a split note: any term of the query.
    static func any(_ query: SearchQuery, scope: ScopeID) -> String {
        terms(query, scope: scope).joined(separator: " | ")
    }

    /// Whether the query is only about terms in any order and position, so that the index alone decides.
    static func areSufficient(for query: SearchQuery) -> Bool { query.phrases.allSatisfy { $0.count == 1 } }
}
