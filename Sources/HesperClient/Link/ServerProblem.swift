package import HesperModel

/// The reason for an error response, or for the rejection of a part of a push (RFC 9457; protocol.md, Errors).
///
/// Unlike the model's `Problem`, a `ServerProblem` can have a slug that this version of the library does not know.
package struct ServerProblem: Error, Sendable, Equatable {
    /// The HTTP status of the error response; for a rejection, the status in the results of the push; 0 for a problem that this
    /// library detected.
    package var status: Int
    /// The code of the problem. The response of a proxy has no code. The slug is then `unavailable` for the statuses 502, 503 and
    /// 504, and `unexpected` for all others.
    package var slug: String
    package var title: String
    /// The explanation for the user, in one or two sentences.
    package var detail: String
    /// The location of the error: a JSON pointer into the body of the request, or the name of a parameter or header.
    package var pointer: String?
    /// The ID of the request in the server's log.
    package var requestID: String?
    /// The delay before the next attempt, in seconds, at most a day.
    package var retryAfter: Int?
    /// All members of the problem's JSON object, such as `serverClock`, `deletedObject`, `limit` and `used`.
    package var members: JSONObject

    /// The slug, if this version of the library knows it.
    package var kind: Problem.Slug? { Problem.Slug(rawValue: slug) }
    /// The value of the limit that the request exceeded; nil for problems without a limit.
    package var limit: Int64? { members["limit"]?.integer }
    /// The number of bytes that the account has stored and that count against its quota; nil if the problem does not state it.
    package var used: Int64? { members["used"]?.integer }

    /// Reads the problem of an error response.
    package init(_ response: ServerResponse) {
        let json = try? JSONReader.read(response.body)
        var members = JSONObject()
        if case .object(let object)? = json { members = object }
        self.init(status: response.status, members: members)
        requestID = requestID ?? response.headers["x-request-id"]
        // The header takes precedence over the member `retryAfter`: a proxy may add the header, and it is present even if the body
        // is not JSON.
        if let header = response.headers["retry-after"].flatMap({ Int($0) }) {
            retryAfter = min(max(header, 0), ServerProblem.maximumRetryAfter)
        }
    }

    /// Reads the problem of a rejected element or field in the results of a push.
    package init(rejection members: JSONObject) {
        self.init(status: members["status"]?.integer.flatMap { Int(exactly: $0) } ?? 422, members: members)
    }

    private init(status: Int, members: JSONObject) {
        self.status = status
        self.members = members
        slug = members["slug"]?.string ?? ((502...504).contains(status) ? "unavailable" : "unexpected")
        title = members["title"]?.string ?? "The server answered with status \(status)"
        detail = members["detail"]?.string ?? title
        pointer = members["pointer"]?.string
        requestID = members["requestID"]?.string
        retryAfter = members["retryAfter"]?.integer.map {
            Int(min(max($0, 0), Int64(ServerProblem.maximumRetryAfter)))
        }
    }

    private static let maximumRetryAfter = 86_400
}

extension ServerProblem {
    /// Creates a problem that this library detected in a response.
    package init(slug: String, detail: String) {
        self.init(status: 0, members: JSONObject([("slug", .string(slug)), ("detail", .string(detail))]))
    }
}
