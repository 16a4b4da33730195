internal import Foundation
internal import HesperClient
internal import HesperModel

/// Reads the JSON object in the body of a request. Errors name the field that is invalid or unknown.
struct BodyFields {
    private let object: JSONObject
    private var read: [String] = []

    init(_ request: ServerRequest, limit: Int = Limits.pushBytes) throws(Problem) {
        let type = request.headers["content-type"]?.prefix { $0 != ";" }.lowercased()
        guard type == "application/json" else {
            throw Problem(.unsupportedMediaType, "The header Content-Type must be application/json.")
        }
        guard request.headers["content-encoding"] == nil else {
            throw Problem(.unsupportedMediaType, "This server supports no Content-Encoding.")
        }
        guard request.body.count <= limit else {
            throw Problem(
                .tooLarge, "The body must have at most \(limit) bytes.",
                context: ["limit": .integer(Int64(limit))])
        }
        let json = try JSONReader.read(request.body)
        guard case .object(let object) = json else {
            throw Problem(.invalidField, "The body must be an object, not \(json.kind).", at: "")
        }
        self.object = object
    }

    mutating func value(_ name: String) -> JSON? {
        read.append(name)
        return object[name]
    }

    mutating func optionalString(_ name: String) throws(Problem) -> String? {
        switch value(name) {
        case nil: return nil
        case .string(let text)?: return text
        case let other?: throw invalid(name, "must be a string, not \(other.kind)")
        }
    }

    /// Reads a required field that is a string.
    /// - Parameter bytes: the allowed number of bytes in UTF-8.
    mutating func string(_ name: String, bytes: ClosedRange<Int>) throws(Problem) -> String {
        guard let text = try optionalString(name) else { throw invalid(name, "is missing") }
        guard bytes.contains(text.utf8.count) else {
            throw invalid(name, "must have \(bytes.lowerBound) to \(bytes.upperBound) bytes in UTF-8")
        }
        return text
    }

    mutating func optionalBool(_ name: String) throws(Problem) -> Bool? {
        switch value(name) {
        case nil: return nil
        case .bool(let value)?: return value
        case let other?: throw invalid(name, "must be true or false, not \(other.kind)")
        }
    }

    /// Checks that all fields of the object were read.
    func end() throws(Problem) {
        guard let member = object.members.first(where: { !read.contains($0.name) }) else { return }
        throw Problem(
            .unknownField,
            "The field \"\(member.name.prefix(64))\" is unknown. Known fields: \(read.joined(separator: ", ")).",
            at: "/\(member.name)")
    }

    func invalid(_ name: String, _ what: String) -> Problem {
        Problem(.invalidField, "\(name) \(what).", at: "/\(name)")
    }
}

/// The path of a request, split into components, and its query parameters.
struct RequestTarget {
    let components: [String]
    private let parameters: [String: String]

    init(_ path: String) {
        let halves = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        components = halves[0].split(separator: "/").map(String.init)
        var parameters: [String: String] = [:]
        if halves.count == 2 {
            for pair in halves[1].split(separator: "&") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                parameters[String(parts[0])] = parts.count == 2 ? parts[1].removingPercentEncoding ?? "" : ""
            }
        }
        self.parameters = parameters
    }

    subscript(parameter: String) -> String? { parameters[parameter] }

    /// Checks that the request has no parameters other than the known ones.
    func check(known: [String]) throws(Problem) {
        guard let name = parameters.keys.filter({ !known.contains($0) }).min() else { return }
        throw Problem(.unknownField, "The parameter \"\(name.prefix(64))\" is unknown.", at: name)
    }

    /// Reads a parameter that must be a whole number. Returns `standard` if the parameter was not sent, and the upper bound of the
    /// range if the number is greater.
    func integer(_ name: String, default standard: Int, in range: ClosedRange<Int>) throws(Problem) -> Int {
        guard let text = self[name] else { return standard }
        guard let value = Int(text), value >= range.lowerBound else {
            throw Problem(.invalidField, "\(name) must be a whole number of at least \(range.lowerBound).", at: name)
        }
        return min(value, range.upperBound)
    }
}

extension ServerResponse {
    /// A response whose body is a JSON object.
    static func object(
        _ status: Int = 200, headers: [String: String] = [:], _ body: (inout JSONWriter) -> Void
    ) -> ServerResponse {
        var writer = JSONWriter(capacity: 512)
        writer.object(body)
        return json(writer.bytes, status: status, headers: headers)
    }

    static func json(_ body: [UInt8], status: Int = 200, headers: [String: String] = [:]) -> ServerResponse {
        var headers = headers
        headers["content-type"] = "application/json"
        return ServerResponse(status: status, headers: headers, body: body)
    }

    /// The response for a problem (RFC 9457), with the headers that its kind requires.
    init(_ problem: Problem, requestID: String) {
        var headers = ["content-type": "application/problem+json", "cache-control": "no-store"]
        if problem.slug == .unauthenticated { headers["www-authenticate"] = "Bearer" }
        if case .integer(let seconds)? = problem.context["retryAfter"] { headers["retry-after"] = String(seconds) }
        if case .string(let methods)? = problem.context["allow"] { headers["allow"] = methods }
        if case .integer(let offset)? = problem.context["uploadOffset"] {
            headers["upload-offset"] = String(offset)
            headers["upload-complete"] = "?0"
        }
        if case .integer(let byteCount)? = problem.context["byteCount"], problem.slug == .rangeNotSatisfiable {
            headers["content-range"] = "bytes */\(byteCount)"
        }
        var body = problem.json.bytes
        if case .object(let object) = problem.json {
            let members = object.members.map { ($0.name, $0.value) } + [("requestID", JSON.string(requestID))]
            body = JSON.object(JSONObject(members)).bytes
        }
        self.init(status: problem.slug.status, headers: headers, body: body)
    }
}

extension Problem {
    static let unauthenticated = Problem(
        .unauthenticated, "A valid token is required. Send it as \"Authorization: Bearer …\".")

    static func notFound(_ id: some CustomStringConvertible) -> Problem {
        Problem(.notFound, "This account has no object or device with the ID \(String(id.description.prefix(64))).")
    }

    static let tokenExpired = Problem(
        .tokenExpired,
        """
        This token is from another installation, or from before a restore. Keep all local data, sync again without a \
        token, and push the changes that the server does not have.
        """)

    static func unavailable(retryAfter seconds: Int) -> Problem {
        Problem(
            .unavailable, "The request is not confirmed. Send the same request again in \(seconds) seconds.",
            context: ["retryAfter": .integer(Int64(seconds))])
    }
}
