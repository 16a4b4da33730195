import HTTPTypes
import HesperModel
import Hummingbird
import NIOCore

extension Response {
    /// An answer in JSON.
    static func json(_ bytes: [UInt8], status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers.append(HTTPField(name: .contentType, value: "application/json"))
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// An answer that is one JSON object.
    static func object(
        status: HTTPResponse.Status = .ok, headers: HTTPFields = [:], _ body: (inout JSONWriter) throws -> Void
    ) rethrows -> Response {
        var writer = JSONWriter(capacity: 512)
        try writer.object(body)
        return json(writer.bytes, status: status, headers: headers)
    }

    /// The same answer as `HEAD` gets it: with the length of the body and without the body.
    ///
    /// A body that is streamed is written to nowhere to learn its length; an answer without a length would be
    /// sent in chunks, and the last of them would reach a client that expects none. (What says itself that it is sent in
    /// chunks costs too much to be made for its length: see ``MessageFraming``.)
    consuming func withoutBody() async throws -> Response {
        guard headers[.transferEncoding] == nil else { return self }
        var headers = headers
        if headers[.contentLength] == nil {
            let count = ByteCount()
            try await body.write(count)
            headers[.contentLength] = String(count.value)
        }
        return Response(status: status, headers: headers)
    }
}

/// Counts a body instead of sending it.
private final class ByteCount: ResponseBodyWriter {
    private(set) var value = 0

    func write(_ buffer: ByteBuffer) async throws { value += buffer.readableBytes }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
