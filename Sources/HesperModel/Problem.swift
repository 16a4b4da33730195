/// An error that a client receives: a stable code, a message, and the location (RFC 9457; protocol.md, Errors).
///
/// Two problems are equal if their codes and locations are equal. Messages are not compared, because they may change.
public struct Problem: Error, Sendable {
    public var slug: Slug
    /// The explanation of the problem: the error and the action that the user or the client should take, in one or two sentences.
    public var detail: String
    /// The location of the error: a JSON Pointer (RFC 6901) into the request, or the name of a parameter or header.
    public var pointer: String?
    /// More data for the client. For example, `serverClock` comes with `clock-ahead`, `deletedObject` with `deleted`, and
    /// `limit` with `too-large`.
    public var context: [String: JSON]

    public init(_ slug: Slug, _ detail: String, at pointer: String? = nil, context: [String: JSON] = [:]) {
        self.slug = slug
        self.detail = detail
        self.pointer = pointer
        self.context = context
    }
}

extension Problem: Equatable {
    public static func == (left: Problem, right: Problem) -> Bool {
        left.slug == right.slug && left.pointer == right.pointer
    }
}

extension Problem {
    /// The problem's JSON as responses contain it, but without the request ID.
    public var json: JSON {
        var members: [(String, JSON)] = [
            ("type", .string("/problems/\(slug.rawValue)")), ("slug", .string(slug.rawValue)),
            ("title", .string(slug.title)), ("status", .integer(Int64(slug.status))), ("detail", .string(detail)),
        ]
        if let pointer { members.append(("pointer", .string(pointer))) }
        for (name, value) in context.sorted(by: { $0.key < $1.key }) { members.append((name, value)) }
        return .object(JSONObject(members))
    }
}
