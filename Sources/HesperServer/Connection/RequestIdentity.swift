import Hummingbird

/// The ID of a request in the log, in problem details, and in `X-Request-ID` of the response.
struct RequestIdentity {
    let text: String
    /// Whether the client sent the ID.
    let isFromClient: Bool

    static let lengths = 1...128

    /// The ID that the client sent, if it is safe to log; otherwise `generated`.
    static func adopt(from request: Request, or generated: @autoclosure () -> String) -> RequestIdentity {
        if let id = request.headers[.requestID], isSafe(id) {
            return RequestIdentity(text: id, isFromClient: true)
        }
        return RequestIdentity(text: generated(), isFromClient: false)
    }

    private static func isSafe(_ text: String) -> Bool {
        lengths.contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
                default: false
                }
            }
    }
}
