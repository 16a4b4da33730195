import Hummingbird

/// What a request is called in the log, in problems, and in `X-Request-ID` of its answer.
struct RequestIdentity {
    let text: String
    /// Whether the client made it.
    let isTheirs: Bool

    static let lengths = 1...128

    /// The client's own ID, if it brought one that cannot upset a log; else `ours`.
    static func adopt(from request: Request, or ours: @autoclosure () -> String) -> RequestIdentity {
        if let theirs = request.headers[.requestID], isSane(theirs) {
            return RequestIdentity(text: theirs, isTheirs: true)
        }
        return RequestIdentity(text: ours(), isTheirs: false)
    }

    private static func isSane(_ text: String) -> Bool {
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
