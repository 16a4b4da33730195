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
    /// Every kind of problem there is, under the name that goes into `type` and `slug`.
    public enum Slug: String, Sendable, CaseIterable {
        case malformedRequest = "malformed-request"
        case invalidField = "invalid-field"
        case unknownField = "unknown-field"
        case clockMissing = "clock-missing"
        case clockAhead = "clock-ahead"
        case clockReused = "clock-reused"
        case searchTooCostly = "search-too-costly"
        case unauthenticated
        case forbidden
        case deviceRevoked = "device-revoked"
        case signUpClosed = "sign-up-closed"
        case accountDisabled = "account-disabled"
        case crossSite = "cross-site"
        case notFound = "not-found"
        case deleted
        case tokenExpired = "token-expired"
        case methodNotAllowed = "method-not-allowed"
        case lengthRequired = "length-required"
        case unsupportedMediaType = "unsupported-media-type"
        case rangeNotSatisfiable = "range-not-satisfiable"
        case immutable
        case attachmentInUse = "attachment-in-use"
        case attachmentDataMissing = "attachment-data-missing"
        case emailTaken = "email-taken"
        case uploadOffset = "upload-offset"
        case preconditionFailed = "precondition-failed"
        case requestTimeout = "request-timeout"
        case tooLarge = "too-large"
        case uriTooLong = "uri-too-long"
        case headersTooLarge = "headers-too-large"
        case tooManyRequests = "too-many-requests"
        case internalError = "internal-error"
        case unavailable
        case quotaExceeded = "quota-exceeded"
        case storageFull = "storage-full"

        /// The HTTP status that goes with it.
        public var status: Int {
            switch self {
            case .malformedRequest: 400
            case .unauthenticated: 401
            case .forbidden, .deviceRevoked, .signUpClosed, .accountDisabled, .crossSite: 403
            case .notFound: 404
            case .methodNotAllowed: 405
            case .requestTimeout: 408
            case .immutable, .attachmentInUse, .attachmentDataMissing, .emailTaken, .uploadOffset: 409
            case .deleted, .tokenExpired: 410
            case .lengthRequired: 411
            case .preconditionFailed: 412
            case .tooLarge: 413
            case .uriTooLong: 414
            case .unsupportedMediaType: 415
            case .rangeNotSatisfiable: 416
            case .invalidField, .unknownField, .clockMissing, .clockAhead, .clockReused, .searchTooCostly: 422
            case .tooManyRequests: 429
            case .headersTooLarge: 431
            case .internalError: 500
            case .unavailable: 503
            case .quotaExceeded, .storageFull: 507
            }
        }

        /// A short heading for people, the same for every problem of the kind.
        public var title: String {
            switch self {
            case .malformedRequest: "The request could not be read"
            case .invalidField: "A field has a value that it cannot have"
            case .unknownField: "A field is not known"
            case .clockMissing: "A field was sent without its clock"
            case .clockAhead: "The clock is ahead of the server's"
            case .clockReused: "The clock was already used for another value"
            case .searchTooCostly: "The search takes too long"
            case .unauthenticated: "Not signed in"
            case .forbidden: "Not allowed"
            case .deviceRevoked: "It was made by a lost device"
            case .signUpClosed: "Sign-up is closed"
            case .accountDisabled: "The account is disabled"
            case .crossSite: "The request comes from another site"
            case .notFound: "Nothing is here"
            case .deleted: "The object is deleted"
            case .tokenExpired: "The token is no longer good"
            case .methodNotAllowed: "The method is not allowed here"
            case .lengthRequired: "The length of the body is missing"
            case .unsupportedMediaType: "The body has another type than JSON"
            case .rangeNotSatisfiable: "No part of the range is there"
            case .immutable: "It can not be changed"
            case .attachmentInUse: "The attachment belongs to another note"
            case .attachmentDataMissing: "The attachment's bytes are missing"
            case .emailTaken: "The e-mail address is taken"
            case .uploadOffset: "The upload goes on elsewhere"
            case .preconditionFailed: "It is not the version that was asked for"
            case .requestTimeout: "The request took too long to arrive"
            case .tooLarge: "The request is too large"
            case .uriTooLong: "The address is too long"
            case .headersTooLarge: "The headers are too large"
            case .tooManyRequests: "Too many requests"
            case .internalError: "Something went wrong in the server"
            case .unavailable: "The store is away"
            case .quotaExceeded: "The account's storage is full"
            case .storageFull: "The server has no room left"
            }
        }
    }

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
