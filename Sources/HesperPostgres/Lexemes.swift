import HesperModel
import HesperStore

/// The terms of the search index. Each term starts with the number of its scope. Therefore a search for a prefix finds no terms of
/// other scopes, and its duration does not depend on the number of terms in other scopes.
enum Lexemes {
    /// The maximum size of the text form of a part, in bytes. The terms of a long note are split into parts, because a `tsvector` is
    /// limited to 1 MB (PostgreSQL, Limitations of text search).
    static let partBytes = 256 << 10
    /// The maximum number of positions that are stored for a term. More positions would hardly change the relevance of a note.
    private static let maxPositions = 32
    /// The greatest position that a `tsvector` can contain.
    private static let lastPosition = 16_383

    /// Returns the terms of a text with their positions, in the text form of `tsvector`, for example `'7:milk':1,3 '7:bread':2`
    /// in scope 7. The result has one or more parts. Terms contain no quotation marks or backslashes, so they need no escapes.
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
            // This limits the text form of a part. It also limits the `tsvector`, in which a position takes 2 bytes instead of up
            // to 6 bytes.
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

    /// The terms of a query in the text form of `tsquery`, for example `'7:milk':*` in scope 7, where `:*` means a prefix.
    private static func terms(_ query: SearchQuery, scope: ScopeID) -> [String] {
        query.phrases.flatMap { $0 }.map { term in
            let quoted = term.text.replacing("\\", with: "\\\\").replacing("'", with: "''")
            return "'\(scope.rawValue):\(quoted)'\(term.isPrefix ? ":*" : "")"
        }
    }

    /// The `tsquery` for notes that are not split into parts. It matches a note that contains all terms of the query.
    static func all(_ query: SearchQuery, scope: ScopeID) -> String {
        terms(query, scope: scope).joined(separator: " & ")
    }

    /// The `tsquery` for notes that are split into parts. It matches a part that contains at least one term of the query.
    static func any(_ query: SearchQuery, scope: ScopeID) -> String {
        terms(query, scope: scope).joined(separator: " | ")
    }

    /// Whether each phrase of the query is a single term. If so, the index alone shows whether a note matches. Otherwise the order
    /// of the terms in the text must be checked.
    static func areSufficient(for query: SearchQuery) -> Bool { query.phrases.allSatisfy { $0.count == 1 } }
}
