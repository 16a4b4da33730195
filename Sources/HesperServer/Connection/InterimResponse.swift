import HTTPTypes
import NIOCore

/// A response of status 1xx (RFC 9110, 15.2). Sent through the channel to ``ConnectionGuard``, which writes it.
struct InterimResponse: Sendable {
    let head: HTTPResponse
    /// Whether it is sent even after the whole request has arrived.
    let isSentAfterRequest: Bool

    /// For a client that waits before it sends its body (`Expect: 100-continue`, as curl does above 1 MiB).
    static let `continue` = InterimResponse(head: HTTPResponse(status: .continue), isSentAfterRequest: false)

    /// Tells the client where to resume an upload (draft-ietf-httpbis-resumable-upload, Upload Creation).
    static func resumable(_ headers: HTTPFields) -> InterimResponse {
        let status = HTTPResponse.Status(code: 104, reasonPhrase: "Upload Resumption Supported")
        return InterimResponse(head: HTTPResponse(status: status, headerFields: headers), isSentAfterRequest: true)
    }
}

extension APIRequest {
    func send(_ interim: InterimResponse) { channel.triggerUserOutboundEvent(interim, promise: nil) }
}
