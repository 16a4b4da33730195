import HTTPTypes
import NIOCore

/// What is said before the answer itself (RFC 9110, 15.2): sent down the channel, where ``ConnectionGuard`` writes it.
struct InterimAnswer: Sendable {
    let head: HTTPResponse
    /// Whether it says something also when all of the request has come by then.
    let isWantedLate: Bool

    /// A client that asked whether to send its body (`Expect: 100-continue`, as curl does above 1 MiB) waits for it.
    static let `continue` = InterimAnswer(head: HTTPResponse(status: .continue), isWantedLate: false)

    /// Where an upload goes on if it breaks off (draft-ietf-httpbis-resumable-upload, Upload Creation).
    static func resumable(_ headers: HTTPFields) -> InterimAnswer {
        let status = HTTPResponse.Status(code: 104, reasonPhrase: "Upload Resumption Supported")
        return InterimAnswer(head: HTTPResponse(status: status, headerFields: headers), isWantedLate: true)
    }
}

extension Call {
    func send(_ interim: InterimAnswer) { channel.triggerUserOutboundEvent(interim, promise: nil) }
}
