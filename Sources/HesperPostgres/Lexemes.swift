import HesperModel
import HesperStore

/// Terms as they stand in the index: each with its scope before it, so that a prefix finds nothing of another scope, nor
/// costs anything by what others hold.
enum Lexemes {
    /// A `tsvector` has a megabyte at most (PostgreSQL, Limitations of text search): so much of a note's terms goes into one.
    static let partBytes = 256 << 10
    /// Places that are kept of a term: beyond a few they hardly make a note more relevant.
    private static let places = 32
    /// The greatest place that a `tsvector` has.
    private static let lastPlace = 16_383

    /// A text's terms in the text form of `tsvector`, in as many parts as it takes, one at least:
    /// `'7:milk':1,3 '7:bread':2`. A term has no quotation mark nor backslash.
    static func parts(of text: String, scope: ScopeID, partBytes: Int = Lexemes.partBytes) -> [[UInt8]] {
        var order: [String] = []
        var found: [String: [Int]] = [:]
        for (index, term) in Terms.terms(in: text).enumerated() {
            if found[term] == nil { order.append(term) }
            let isKept = found[term].map { $0.count < places && index < lastPlace } ?? true
            if isKept { found[term, default: []].append(min(index + 1, lastPlace)) }
        }
        let prefix = Array("'\(scope.rawValue):".utf8)
        var parts: [[UInt8]] = [[]]
        for term in order {
            // A place takes two bytes there and up to six here; so a part never has more there than here.
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

    /// All terms of a query, each in the text form of `tsquery`: `'7:milk':*`.
    private static func terms(_ query: SearchQuery, scope: ScopeID) -> [String] {
        query.phrases.flatMap { $0 }.map { term in
            let quoted = term.text.replacing("\\", with: "\\\\").replacing("'", with: "''")
            return "'\(scope.rawValue):\(quoted)'\(term.isPrefix ? ":*" : "")"
        }
    }

    /// What a note must have whose terms are in one part: all terms.
    static func all(_ query: SearchQuery, scope: ScopeID) -> String {
        terms(query, scope: scope).joined(separator: " & ")
    }

    /// What a part must have that may belong to a note which the query finds: any term.
    static func any(_ query: SearchQuery, scope: ScopeID) -> String {
        terms(query, scope: scope).joined(separator: " | ")
    }

    /// Whether terms in any order and place are all that a query asks for: then what the index finds is what it finds.
    static func areEnough(for query: SearchQuery) -> Bool { query.phrases.allSatisfy { $0.count == 1 } }
}
