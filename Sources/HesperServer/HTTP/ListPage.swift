import HTTPTypes
import HesperModel
import Hummingbird

/// A page of a list. The response is an object, or only an array if the client prefers this (protocol.md, Lists for scripts).
struct ListPage: Sendable {
    /// The elements, as a JSON array.
    var array: [UInt8]
    /// The query parameter with which the next page is requested, and its value. Nil for the last page.
    var next: (parameter: String, value: String)?
    /// The number of notes and DeletedObjects that are not in the search index yet.
    var unindexed = 0

    /// The response that contains only the array. ``next`` and ``unindexed`` are sent in headers.
    func arrayResponse(to request: APIRequest) -> Response {
        var headers: HTTPFields = [.vary: "Prefer", .preferenceApplied: "return=array"]
        if let next {
            let query = request.query.text(replacing: next.parameter, with: next.value)
            headers[.link] = "<\(request.http.uri.path)?\(query)>; rel=\"next\""
        }
        if unindexed > 0 { headers[.unindexed] = String(unindexed) }
        return .json(array, headers: headers)
    }

    /// The response to a request for a list.
    /// - Parameter name: the name of the array in the object.
    func response(to request: APIRequest, named name: String) -> Response {
        guard !request.prefersArray else { return arrayResponse(to: request) }
        var writer = JSONWriter(capacity: array.count + 256)
        writer.object { writer in
            writer.name(name)
            writer.raw(array)
            if let next { writer.member("nextCursor", next.value) }
            if unindexed > 0 { writer.member("unindexed", Int64(unindexed)) }
        }
        return .json(writer.bytes, headers: [.vary: "Prefer"])
    }
}

extension APIRequest {
    /// Whether the request has the preference `return=array`. If it has several `return` preferences, the first counts (RFC 7240).
    var prefersArray: Bool {
        for preference in preferences {
            let value = preference.prefix { $0 != ";" }
            let parts = value.split(separator: "=", maxSplits: 1).map { $0.trimmingSpaces }
            guard parts.first?.lowercased() == "return" else { continue }
            return parts.dropFirst().first.map { $0 == "array" || $0 == "\"array\"" } ?? false
        }
        return false
    }

    /// The preferences in the `Prefer` headers. A comma in a quoted string does not separate them.
    private var preferences: [Substring] {
        http.headers[values: .prefer].flatMap { header in
            var isQuoted = false
            return header.split { character in
                if character == "\"" { isQuoted.toggle() }
                return character == "," && !isQuoted
            }
        }
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let last = lastIndex(where: { !isSpace($0) }) else { return "" }
        return self[...last].drop(while: isSpace)
    }
}

extension HTTPField.Name {
    static let prefer = HTTPField.Name("Prefer") ?? .accept
    static let preferenceApplied = HTTPField.Name("Preference-Applied") ?? .accept
    static let link = HTTPField.Name("Link") ?? .location
    /// The header of a response that is an array. Its value is ``ListPage/unindexed``.
    static let unindexed = HTTPField.Name("Unindexed") ?? .accept
}
