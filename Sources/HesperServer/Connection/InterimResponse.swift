import HTTPTypes
import NIOCore

/// A response with a status 1xx, sent before the final response (RFC 9110, 15.2). It is sent through the channel to
/// ``ConnectionGuard``, which writes it to the connection.
struct InterimResponse: Sendable {
    let head: HTTPResponse
    /// Whether the response is sent even if the whole request has already arrived.
    let isSentAfterRequest: Bool

    /// `100 Continue`: asks the client to send the body. Sent if the request has the header `Expect: 100-continue`. For example,
    /// curl sends this header with bodies above 1 MiB.
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
