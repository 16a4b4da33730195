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
        public var status: Int { kind.status }

        /// A short heading for people, the same for every problem of the kind.
        public var title: String { kind.title }

        /// What it means, in Markdown.
        public var meaning: String { kind.meaning() }

        /// What a client does about it, in Markdown.
        public var remedy: String { kind.remedy() }
    }
}

/// All that is the same for every problem of one kind.
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
                400, "The request could not be read",
                meaning:
                    "The request is not HTTP/1.1, or its body is not JSON as RFC 8259 has it: a name that stands twice, "
                    + "nested more than \(Limits.depth) deep, not UTF-8. Nothing of it was applied.",
                remedy: "It is a fault of the client's; `detail` says where. Sending the same again does not help.")
        case .invalidField:
            Kind(
                422, "A field has a value that it cannot have",
                meaning: "A field or parameter has the wrong type, is out of range or too long. `pointer` names it.",
                remedy: "Correct it. In a push, only this field was refused; the rest stands.")
        case .unknownField:
            Kind(
                422, "A field is not known",
                meaning: "A field or parameter has a name that the contract does not know. `pointer` names it.",
                remedy: "Look for a typing error. What an app makes up goes under `attributes`.")
        case .clockMissing:
            Kind(
                422, "A field was sent without its clock",
                meaning: "A push carried a mutable field without its clock.",
                remedy: "Send with each field the clock at which it was set, in `clocks`.")
        case .clockAhead:
            Kind(
                422, "The clock is ahead of the server's",
                meaning:
                    "The clock is more than 5 minutes ahead of the server's wall clock and of every clock in the scope. The "
                    + "device's own time is probably wrong. `serverClock` says what time it is here.",
                remedy:
                    "Set the clock back to the greatest that the server accepted or sent, stamp what is unsent again in its "
                    + "order, and send it. Nothing is lost.")
        case .clockReused:
            Kind(
                422, "The clock was already used for another value",
                meaning: "The same clock came before with another value. A clock names one edit, for ever.",
                remedy:
                    "The device ticked one clock twice, perhaps after its storage was copied. Sign in again, for a new node, "
                    + "and stamp the edit anew.")
        case .searchTooCostly:
            Kind(
                422, "The search takes too long",
                meaning:
                    "The server looks \(Limits.searchSeconds) seconds for one page of a search, and had found nothing by then: too many "
                    + "notes have what begins with these words, or it is busy.",
                remedy:
                    "Search for longer words, or for more of them that are seldom. Sending the same again helps only where the "
                    + "server was busy.")
        case .unauthenticated:
            Kind(
                401, "Not signed in",
                meaning:
                    "There is no token, or one that does not hold any more; or, when signing in, no account has this e-mail "
                    + "and this password.",
                remedy: "Keep the local copy, ask the person to sign in, and push what is unsent then.")
        case .forbidden:
            Kind(
                403, "Not allowed",
                meaning: "The password is wrong, or the code; or a letter was asked for where none can be sent.",
                remedy: "Ask the person for it again, or have them ask the operator of the server.")
        case .deviceRevoked:
            Kind(
                403, "It was made by a lost device",
                meaning:
                    "A push carried an edit whose clock is of a device that was revoked as lost, from after the moment that its owner "
                    + "named. It is refused, whichever device pushes it. In a push, only this field was refused; the rest stands.",
                remedy:
                    "Take what the server has. If the words are wanted after all, set them again, under a clock of your own."
            )
        case .signUpClosed:
            Kind(
                403, "Sign-up is closed",
                meaning: "Only the operator of this server makes accounts.",
                remedy: "Ask the operator. Operators: `hesper account create`, or `hesper serve --sign-up open`.")
        case .accountDisabled:
            Kind(
                403, "The account is disabled",
                meaning: "The server's operator has disabled the account. Nothing in it is lost.",
                remedy:
                    "Keep all unsent changes, tell the person, and retry with long waits. Operators: `hesper account enable EMAIL`."
            )
        case .crossSite:
            Kind(
                403, "The request comes from another site",
                meaning:
                    "A cookie signs the request, or one is asked for, and the browser does not say that the page is this server's "
                    + "own: `Sec-Fetch-Site` is not `same-origin`, or, where there is none, `Origin` is not this server's. "
                    + "Nothing of it was done.",
                remedy:
                    "Pages of other origins, other ports included, and scripts send `Authorization: Bearer …`. Operators: have the "
                    + "proxy pass `Host` on as it came.")
        case .notFound:
            Kind(
                404, "Nothing is here",
                meaning:
                    "Nothing in this account has this ID, or the path is not known. What belongs to somebody else looks "
                    + "just the same.",
                remedy: "Check the ID and the path.")
        case .deleted:
            Kind(
                410, "The object is deleted",
                meaning:
                    "The object was deleted. There is no un-deleting. `deletedObject` is what remains of it; a tag's "
                    + "`mergedInto` names the tag that took its place.",
                remedy: "Delete it here too. What was unsent can be kept in a new object with a new `uniqueID`.")
        case .tokenExpired:
            Kind(
                410, "The token is no longer good",
                meaning:
                    "The sync token is from before the server was restored from a backup. Nothing of the call was applied.",
                remedy:
                    "Keep everything, read again without a token, fold, and push what the server lacks or has older: "
                    + "DeletedObjects first.")
        case .methodNotAllowed:
            Kind(
                405, "The method is not allowed here",
                meaning: "This path does not know this method.",
                remedy: "The header `Allow` lists those it knows.")
        case .lengthRequired:
            Kind(
                411, "The length of the body is missing",
                meaning: "The request has no body, or does not say how long it is.",
                remedy: "Send `Content-Length`, or send it in chunks.")
        case .unsupportedMediaType:
            Kind(
                415, "The body has another type than JSON",
                meaning: "The body is not said to be JSON, or packed in a way that is not known here.",
                remedy:
                    "Send `Content-Type: application/json`; `curl --json` does. `Accept-Encoding` names the ways to pack it."
            )
        case .rangeNotSatisfiable:
            Kind(
                416, "No part of the range is there",
                meaning: "`Range` asks for bytes beyond the end.",
                remedy: "`Content-Range` says how many bytes there are.")
        case .immutable:
            Kind(
                409, "It can not be changed",
                meaning: "A field that is set once was sent with another value, or the object has another type.",
                remedy: "Make a new object with a new `uniqueID`.")
        case .attachmentInUse:
            Kind(
                409, "The attachment belongs to another note",
                meaning: "The attachment belongs to another note.",
                remedy: "Make a copy with a `uniqueID` of its own.")
        case .attachmentDataMissing:
            Kind(
                409, "The attachment's bytes are missing",
                meaning: "The bytes of the attachment are not here.",
                remedy: "Upload them, then push the attachment again.")
        case .emailTaken:
            Kind(
                409, "The e-mail address is taken",
                meaning: "There is an account with this e-mail.",
                remedy: "Sign in instead.")
        case .uploadOffset:
            Kind(
                409, "The upload goes on elsewhere",
                meaning: "The bytes do not go on where those end that are here.",
                remedy: "Go on at `Upload-Offset`, which this answer has as well as one to `HEAD`.")
        case .preconditionFailed:
            Kind(
                412, "It is not the version that was asked for",
                meaning:
                    "The object is not what `If-Match` or `If-None-Match` asks for: somebody changed it meanwhile.",
                remedy: "Read it again, and decide anew.")
        case .requestTimeout:
            Kind(
                408, "The request took too long to arrive",
                meaning: "The body came too slowly.",
                remedy: "Send it again, perhaps in smaller pieces.")
        case .tooLarge:
            Kind(
                413, "The request is too large",
                meaning: "The request is over a limit, which `limit` names. Nothing of it was applied.",
                remedy: "Send less at once. `GET /v1/server` lists the limits that a client keeps to.")
        case .uriTooLong:
            Kind(
                414, "The address is too long",
                meaning: "The path and query are too long.",
                remedy: "Shorten them; `limit` says to how many bytes.")
        case .headersTooLarge:
            Kind(
                431, "The headers are too large",
                meaning: "The headers are too large.",
                remedy: "Send fewer; `limit` says how many bytes they may have.")
        case .tooManyRequests:
            Kind(
                429, "Too many requests",
                meaning:
                    "Too many passwords were tried for this account or from this address, too many are signing in, or too many "
                    + "uploads or exports of the account are under way, too many of its streams are open, or a device says too "
                    + "much to the others.",
                remedy: "Wait for as many seconds as the header `Retry-After` says.")
        case .internalError:
            Kind(
                500, "Something went wrong in the server",
                meaning:
                    "A fault of the server's. Its log says more, under this `requestID`. What was sent may or may not be there.",
                remedy: "Send the same again: pushing twice changes nothing. Tell the operator if this goes on.")
        case .unavailable:
            Kind(
                503, "Database unavailable",
                meaning:
                    "The database cannot be reached, or the server is shutting down. What was sent is not confirmed.",
                remedy: "Send the same again after as many seconds as the header `Retry-After` says.")
        case .quotaExceeded:
            Kind(
                507, "The account's storage is full",
                meaning:
                    "The account may store `limit` bytes, and `used` bytes are stored: texts with their history, and attachments. "
                    + "In a push, only this element was refused. Deletions, changes of tags and shorter texts are accepted.",
                remedy:
                    "Keep the change and send it again later. Deleting notes or attachments frees space after they can no longer "
                    + "be put back. For more space, ask the server's operator.")
        case .storageFull:
            Kind(
                507, "The server has no room left",
                meaning:
                    "The disk of the server is full. Nothing of what was sent was kept, and nothing that was there is lost.",
                remedy: "Tell the operator of the server; send the same again when there is room.")
        }
    }
}
