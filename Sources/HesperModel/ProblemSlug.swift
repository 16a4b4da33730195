extension Problem {
    /// The kinds of problems. The raw value appears in the members `type` and `slug` of a response.
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
        case insufficientScope = "insufficient-scope"
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
        case idempotencyKeyInUse = "idempotency-key-in-use"
        case idempotencyKeyReused = "idempotency-key-reused"
        case uploadOffset = "upload-offset"
        case importConflict = "import-conflict"
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

        /// The HTTP status of the response.
        public var status: Int { kind.status }

        /// A short title, which is the same for every problem of this kind.
        public var title: String { kind.title }

        /// An explanation of the problem, in Markdown.
        public var meaning: String { kind.meaning() }

        /// What a client or a user can do about the problem, in Markdown.
        public var remedy: String { kind.remedy() }
    }
}

/// The status and texts that all problems of one kind share.
private struct Kind {
    let status: Int
    let title: String
    let meaning: () -> String
    let remedy: () -> String

    init(
        _ status: Int, _ title: String, meaning: @autoclosure @escaping () -> String,
        remedy: @autoclosure @escaping () -> String
    ) {
        self.status = status
        self.title = title
        self.meaning = meaning
        self.remedy = remedy
    }
}

extension Problem.Slug {
    private var kind: Kind {
        switch self {
        case .malformedRequest:
            Kind(
                400, "The request could not be parsed",
                meaning:
                    "The request is not valid HTTP/1.1, or its body is not valid JSON (RFC 8259): for example, it "
                    + "contains a name twice in one object, is nested more than \(Limits.depth) levels deep, or is "
                    + "not UTF-8. Nothing was applied.",
                remedy:
                    "Correct the client; `detail` gives the location. Sending the same request again does not help.")
        case .invalidField:
            Kind(
                422, "Invalid field",
                meaning: "A field or parameter has the wrong type, is out of range or is too long. `pointer` names it.",
                remedy: "Correct the value. In a push, only this field was rejected; the other changes were applied.")
        case .unknownField:
            Kind(
                422, "Unknown field",
                meaning: "A field or parameter has a name that is not part of the contract. `pointer` names it.",
                remedy: "Check the spelling. Attributes that an app defines must be under `attributes`.")
        case .clockMissing:
            Kind(
                422, "Missing clock",
                meaning: "A push contains a mutable field without its clock.",
                remedy: "In `clocks`, send the clock at which each field was set.")
        case .clockAhead:
            Kind(
                422, "The clock is ahead of the server",
                meaning:
                    "The clock is more than 5 minutes ahead of the server's wall clock and ahead of every clock in "
                    + "the scope. The device's time is probably wrong. `serverClock` is the server's current clock.",
                remedy:
                    "Reset the device's clock to the greatest clock that the server accepted or sent, set new "
                    + "clocks for the unsent edits in their order, and send them. Nothing is lost.")
        case .clockReused:
            Kind(
                422, "The clock was already used for another value",
                meaning:
                    "The same clock was received before with another value. A clock identifies one edit "
                    + "permanently.",
                remedy:
                    "The device made the same clock twice, perhaps after its storage was copied. Sign in again to "
                    + "get a new node, and set a new clock for the edit.")
        case .searchTooCostly:
            Kind(
                422, "The search took too long",
                meaning:
                    "The server searches at most \(Limits.searchSeconds) seconds for one page of results, and found "
                    + "nothing in that time: too many notes contain words that begin with these words, or the server "
                    + "is busy.",
                remedy:
                    "Search for longer or less frequent words. Sending the same request again helps only if the "
                    + "server was busy.")
        case .unauthenticated:
            Kind(
                401, "Not signed in",
                meaning:
                    "The request has no token or an invalid one. If it is a sign-in request, no account "
                    + "has this e-mail address and password.",
                remedy: "Keep the local copy, ask the user to sign in, and then push the unsent changes.")
        case .forbidden:
            Kind(
                403, "Not allowed",
                meaning:
                    "The password or the code is wrong, or the request needs an e-mail that this server cannot "
                    + "send.",
                remedy:
                    "Ask the user for the password or code again. If the server cannot send e-mail, the user must "
                    + "contact its operator.")
        case .insufficientScope:
            Kind(
                403, "The access token does not allow this",
                meaning:
                    "The scopes of the access token do not permit this request, or the token is restricted to a tag. "
                    + "Nothing was changed.",
                remedy:
                    "Use a token with the scope that `detail` names. No access token permits certain requests, such as those "
                    + "that change the account.")
        case .deviceRevoked:
            Kind(
                403, "The edit was made by a revoked device",
                meaning:
                    "A push contains an edit whose clock was made by a device that was revoked as lost. The clock is later "
                    + "than the time that the owner stated. Such an edit is rejected whichever device pushes it. In a "
                    + "push, only this field was rejected; the other changes were applied.",
                remedy:
                    "Use the server's value. To set the rejected value all the same, set it again with a clock of "
                    + "your own device.")
        case .signUpClosed:
            Kind(
                403, "Sign-up is closed",
                meaning: "Only the operator of this server creates accounts.",
                remedy: "Ask the operator. Operators: `hesper account create`, or `hesper serve --sign-up open`.")
        case .accountDisabled:
            Kind(
                403, "The account is disabled",
                meaning: "The operator of the server has disabled the account. Its data is retained.",
                remedy:
                    "Keep all unsent changes, tell the user, and retry at long intervals. Operators: `hesper "
                    + "account enable EMAIL`.")
        case .crossSite:
            Kind(
                403, "Cross-site request refused",
                meaning:
                    "A request that is authenticated by a cookie, or that requests a cookie, must come from a page of this "
                    + "server. The header `Sec-Fetch-Site` is not `same-origin`. If it is absent, `Origin` is not this "
                    + "server's origin. Nothing was done.",
                remedy:
                    "Scripts, and pages of other origins, must send `Authorization: Bearer …`. A page on another port has "
                    + "another origin. Operators: configure the proxy to pass `Host` unchanged.")
        case .notFound:
            Kind(
                404, "Not found",
                meaning:
                    "This account has no object with this ID, or the path does not exist. The response is the same "
                    + "for objects of other accounts.",
                remedy: "Check the ID and the path.")
        case .deleted:
            Kind(
                410, "The object was deleted",
                meaning:
                    "The object was deleted. A deletion cannot be undone. `deletedObject` is its DeletedObject; for "
                    + "a tag, `mergedInto` is the tag that it was merged into.",
                remedy: "Delete the object locally. Unsent changes can be saved in a new object with a new `uniqueID`.")
        case .tokenExpired:
            Kind(
                410, "The sync token has expired",
                meaning:
                    "The sync token is from before the server was restored from a backup. Nothing in the request "
                    + "was applied.",
                remedy:
                    "Keep all local data. Read everything again without a token, and fold it. Then push what the server "
                    + "lacks or has in an older version, DeletedObjects first.")
        case .methodNotAllowed:
            Kind(
                405, "Method not allowed",
                meaning: "This path does not support the method.",
                remedy: "The header `Allow` lists the supported methods.")
        case .lengthRequired:
            Kind(
                411, "The length of the body is missing",
                meaning: "The request has no body, or does not state its length.",
                remedy: "Send `Content-Length`, or use chunked transfer encoding.")
        case .unsupportedMediaType:
            Kind(
                415, "Unsupported media type",
                meaning: "The `Content-Type` is not JSON, or the `Content-Encoding` is not supported.",
                remedy:
                    "Send `Content-Type: application/json`, as `curl --json` does. `Accept-Encoding` lists the "
                    + "supported encodings.")
        case .rangeNotSatisfiable:
            Kind(
                416, "The range is outside the file",
                meaning: "`Range` begins after the last byte.",
                remedy: "`Content-Range` gives the number of bytes.")
        case .immutable:
            Kind(
                409, "The value cannot be changed",
                meaning: "A field that is set once was sent with another value, or the object has another type.",
                remedy: "Create a new object with a new `uniqueID`.")
        case .attachmentInUse:
            Kind(
                409, "The attachment belongs to another object",
                meaning: "The attachment belongs to another note or object.",
                remedy: "Create a copy with its own `uniqueID`.")
        case .attachmentDataMissing:
            Kind(
                409, "The attachment's bytes are missing",
                meaning: "The server does not have the bytes of the attachment.",
                remedy: "Upload the bytes, then push the attachment again.")
        case .emailTaken:
            Kind(
                409, "The e-mail address is in use",
                meaning: "There is already an account with this e-mail address.",
                remedy: "Sign in instead.")
        case .idempotencyKeyInUse:
            Kind(
                409, "A request with this idempotency key is in progress",
                meaning:
                    "The server is still processing another request with the same `Idempotency-Key`. This request had no effect.",
                remedy: "Wait for as many seconds as the header `Retry-After` says, then send the same request again.")
        case .idempotencyKeyReused:
            Kind(
                422, "The idempotency key was used with another body",
                meaning:
                    "An earlier request to this path had the same key and a different body. This request had no effect.",
                remedy:
                    "A retry must have exactly the body of the first request. To create another object, use a new key.")
        case .uploadOffset:
            Kind(
                409, "Wrong upload offset",
                meaning: "The bytes sent do not begin where the stored bytes of the upload end.",
                remedy: "Continue at `Upload-Offset`, which is in this response and in the response to `HEAD`.")
        case .importConflict:
            Kind(
                409, "The import is in another state",
                meaning:
                    "An account can have one unfinished import, and an import can be started only when its file has been "
                    + "read.",
                remedy:
                    "Get the import, and act according to its `state`. To begin another import, delete this one first.")
        case .preconditionFailed:
            Kind(
                412, "The object has changed",
                meaning:
                    "The condition in `If-Match` or `If-None-Match` is false: the object was changed by another "
                    + "request.",
                remedy: "Read the object again and repeat the change if it is still wanted.")
        case .requestTimeout:
            Kind(
                408, "The request took too long to arrive",
                meaning: "The body arrived too slowly.",
                remedy: "Send the request again, in smaller parts if possible.")
        case .tooLarge:
            Kind(
                413, "The request is too large",
                meaning: "The request exceeds the limit given in `limit`. Nothing was applied.",
                remedy:
                    "Split the request into smaller ones. `GET /v1/server` lists the limits that a client must "
                    + "observe.")
        case .uriTooLong:
            Kind(
                414, "The URI is too long",
                meaning: "The path and query exceed the number of bytes given in `limit`.",
                remedy: "Shorten the path and query.")
        case .headersTooLarge:
            Kind(
                431, "The headers are too large",
                meaning: "The headers exceed the number of bytes given in `limit`.",
                remedy: "Send fewer or shorter headers.")
        case .tooManyRequests:
            Kind(
                429, "Too many requests",
                meaning:
                    "A limit was exceeded: on password attempts for this account or from this address, on messages from this "
                    + "device to other devices, on concurrent sign-ins, or on concurrent uploads, exports or event "
                    + "streams of this account.",
                remedy: "Retry after the number of seconds in the header `Retry-After`.")
        case .internalError:
            Kind(
                500, "Internal server error",
                meaning:
                    "The server failed. Its log has details under this `requestID`. The changes in the request may "
                    + "or may not have been applied.",
                remedy:
                    "Send the same request again. A push that was already applied changes nothing. If the error persists, "
                    + "tell the operator.")
        case .unavailable:
            Kind(
                503, "Database unavailable",
                meaning:
                    "The database cannot be reached, or the server is shutting down. The changes in the request are "
                    + "not confirmed.",
                remedy: "Send the same request again after the number of seconds in the header `Retry-After`.")
        case .quotaExceeded:
            Kind(
                507, "The account's storage is full",
                meaning:
                    "The account may store `limit` bytes, and `used` bytes are stored: texts with their history, "
                    + "and attachments. In a push, only this element was rejected. Deletions are accepted, and so "
                    + "are changes of tags and edits that make a text shorter.",
                remedy:
                    "Keep the change and send it again later. Deleting notes or attachments frees space after the "
                    + "period in which they can be restored. For more space, ask the operator of the server.")
        case .storageFull:
            Kind(
                507, "The server's disk is full",
                meaning:
                    "The disk of the server is full. Nothing in the request was stored. Existing data is not "
                    + "affected.",
                remedy: "Tell the operator of the server. Send the same request again when there is space.")
        }
    }
}
