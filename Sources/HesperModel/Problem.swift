/// Something refused: a stable code, a sentence for people, and the place (RFC 9457; protocol.md, Errors).
///
/// Compared by code and place alone, as the sentence is free to change.
public struct Problem: Error, Sendable {
    public var slug: Slug
    /// What is wrong and what to do about it, in a sentence.
    public var detail: String
    /// Where it is: a JSON Pointer (RFC 6901) into the request, or the name of a parameter or header.
    public var pointer: String?
    /// What a client may act on: `serverClock` with `clock-ahead`, `deletedObject` with `deleted`, `limit` with `too-large`.
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
    /// As it stands inside an answer: without the ID of the request.
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
