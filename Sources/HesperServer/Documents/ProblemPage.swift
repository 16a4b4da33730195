import HesperModel

/// The page that a problem's `type` leads to: what it means, and what a client does about it (protocol.md, Errors).
enum ProblemPage {
    static func page(of slug: Problem.Slug) -> HTMLPage {
        let (meaning, remedy) = text(of: slug)
        return HTMLPage(
            title: "\(slug.title) – Hesper",
            body: """
                <h1>\(HTMLPage.escape(slug.title))</h1>
                <p><code>\(slug.rawValue)</code>, HTTP status \(slug.status)</p>
                <h2>What it means</h2>
                \(Markdown.html(meaning))
                <h2>What to do</h2>
                \(Markdown.html(remedy))
                <p><a href="/docs">The whole API</a></p>
                """)
    }

    private static func text(of slug: Problem.Slug) -> (meaning: String, remedy: String) {
        switch slug {
        case .malformedRequest:
            (
                "The request is not HTTP/1.1, or its body is not JSON as RFC 8259 has it: a name that stands twice, "
                    + "nested more than \(Limits.depth) deep, not UTF-8. Nothing of it was applied.",
                "It is a fault of the client's; `detail` says where. Sending the same again does not help."
            )
        case .invalidField:
            (
                "A field or parameter has the wrong type, is out of range or too long. `pointer` names it.",
                "Correct it. In a push, only this field was refused; the rest stands."
            )
        case .unknownField:
            (
                "A field or parameter has a name that the contract does not know. `pointer` names it.",
                "Look for a typing error. What an app makes up goes under `attributes`."
            )
        case .clockMissing:
            (
                "A push carried a mutable field without its clock.",
                "Send with each field the clock at which it was set, in `clocks`."
            )
        case .clockAhead:
            (
                "The clock is more than 5 minutes ahead of the server's wall clock and of every clock in the scope. The "
                    + "device's own time is probably wrong. `serverClock` says what time it is here.",
                "Set the clock back to the greatest that the server accepted or sent, stamp what is unsent again in its "
                    + "order, and send it. Nothing is lost."
            )
        case .clockReused:
            (
                "The same clock came before with another value. A clock names one edit, for ever.",
                "The device ticked one clock twice, perhaps after its storage was copied. Sign in again, for a new node, "
                    + "and stamp the edit anew."
            )
        case .searchTooCostly:
            (
                "The server looks \(Limits.searchSeconds) seconds for one page of a search, and had found nothing by then: too many "
                    + "notes have what begins with these words, or it is busy.",
                "Search for longer words, or for more of them that are seldom. Sending the same again helps only where the "
                    + "server was busy."
            )
        case .unauthenticated:
            (
                "There is no token, or one that does not hold any more; or, when signing in, no account has this e-mail "
                    + "and this password.",
                "Keep the local copy, ask the person to sign in, and push what is unsent then."
            )
        case .forbidden:
            (
                "The password is wrong, or the code; or a letter was asked for where none can be sent.",
                "Ask the person for it again, or have them ask whoever runs the server."
            )
        case .deviceRevoked:
            (
                "A push carried an edit whose clock is of a device that was revoked as lost, from after the moment that its owner "
                    + "named. It is not taken, whoever brings it. In a push, only this field was refused; the rest stands.",
                "Take what the server has. If the words are wanted after all, set them again, under a clock of your own."
            )
        case .signUpClosed:
            (
                "Only the operator of this server makes accounts.",
                "Ask whoever runs it. Operators: `hesper account create`, or `hesper serve --sign-up open`."
            )
        case .accountDisabled:
            (
                "The server's operator has disabled the account. Nothing in it is lost.",
                "Keep all unsent changes, tell the person, and retry with long waits. Operators: `hesper account enable EMAIL`."
            )
        case .crossSite:
            (
                "A cookie signs the request, or one is asked for, and the browser does not say that the page is this server's "
                    + "own: `Sec-Fetch-Site` is not `same-origin`, or, where there is none, `Origin` is not this server's. "
                    + "Nothing of it was done.",
                "Pages of other origins, other ports included, and scripts send `Authorization: Bearer …`. Operators: have the "
                    + "proxy pass `Host` on as it came."
            )
        case .notFound:
            (
                "Nothing in this account has this ID, or the path is not known. What belongs to somebody else looks "
                    + "just the same.",
                "Check the ID and the path."
            )
        case .deleted:
            (
                "The object was deleted. There is no un-deleting. `deletedObject` is what remains of it; a tag's "
                    + "`mergedInto` names the tag that took its place.",
                "Delete it here too. What was unsent can be kept in a new object with a new `uniqueID`."
            )
        case .tokenExpired:
            (
                "The sync token is from before the server was restored from a backup. Nothing of the call was applied.",
                "Keep everything, read again without a token, fold, and push what the server lacks or has older: "
                    + "DeletedObjects first."
            )
        default: moreText(of: slug)
        }
    }

    private static func moreText(of slug: Problem.Slug) -> (meaning: String, remedy: String) {
        switch slug {
        case .methodNotAllowed: ("This path does not know this method.", "The header `Allow` lists those it knows.")
        case .lengthRequired:
            ("The request has no body, or does not say how long it is.", "Send `Content-Length`, or send it in chunks.")
        case .unsupportedMediaType:
            (
                "The body is not said to be JSON, or packed in a way that is not known here.",
                "Send `Content-Type: application/json`; `curl --json` does. `Accept-Encoding` names the ways to pack it."
            )
        case .rangeNotSatisfiable:
            ("`Range` asks for bytes beyond the end.", "`Content-Range` says how many bytes there are.")
        case .immutable:
            (
                "A field that is set once was sent with another value, or the object has another type.",
                "Make a new object with a new `uniqueID`."
            )
        case .attachmentInUse: ("The attachment belongs to another note.", "Make a copy with a `uniqueID` of its own.")
        case .attachmentDataMissing:
            ("The bytes of the attachment are not here.", "Upload them, then push the attachment again.")
        case .emailTaken: ("There is an account with this e-mail.", "Sign in instead.")
        case .uploadOffset:
            (
                "The bytes do not go on where those end that are here.",
                "Go on at `Upload-Offset`, which this answer has as well as one to `HEAD`."
            )
        case .preconditionFailed:
            (
                "The object is not what `If-Match` or `If-None-Match` asks for: somebody changed it meanwhile.",
                "Read it again, and decide anew."
            )
        case .requestTimeout: ("The body came too slowly.", "Send it again, perhaps in smaller pieces.")
        case .tooLarge:
            (
                "The request is over a limit, which `limit` names. Nothing of it was applied.",
                "Send less at once. `GET /v1/server` lists the limits that a client keeps to."
            )
        case .uriTooLong: ("The path and query are too long.", "Shorten them; `limit` says to how many bytes.")
        case .headersTooLarge: ("The headers are too large.", "Send fewer; `limit` says how many bytes they may have.")
        case .tooManyRequests:
            (
                "Too many passwords were tried for this account or from this address, too many are signing in, or too many "
                    + "uploads or exports of the account are under way, too many of its streams are open, or a device says too "
                    + "much to the others.",
                "Wait for as many seconds as the header `Retry-After` says."
            )
        case .internalError:
            (
                "A fault of the server's. Its log says more, under this `requestID`. What was sent may or may not be there.",
                "Send the same again: pushing twice changes nothing. Tell whoever runs the server if it stays."
            )
        case .quotaExceeded:
            (
                "The account may store `limit` bytes, and `used` bytes are stored: texts with their history, and attachments. "
                    + "In a push, only this element was refused. Deletions, changes of tags and shorter texts are accepted.",
                "Keep the change and send it again later. Deleting notes or attachments frees space after they can no longer "
                    + "be put back. For more space, ask the server's operator."
            )
        case .storageFull:
            (
                "The disk of the server is full. Nothing of what was sent was kept, and nothing that was there is lost.",
                "Tell whoever runs the server; send the same again when there is room."
            )
        default:
            (
                "The store is away, or the server is shutting down. What was sent is not confirmed.",
                "Send the same again after as many seconds as the header `Retry-After` says."
            )
        }
    }
}
