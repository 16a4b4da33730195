import HTTPTypes
import HesperModel
import Hummingbird
import NIOCore

extension Response {
    /// A response with JSON as its body.
    static func json(_ bytes: [UInt8], status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers.append(HTTPField(name: .contentType, value: "application/json"))
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// A response with one JSON object as its body, which `body` writes.
    static func object(
        status: HTTPResponse.Status = .ok, headers: HTTPFields = [:], _ body: (inout JSONWriter) throws -> Void
    ) rethrows -> Response {
        var writer = JSONWriter(capacity: 512)
        try writer.object(body)
        return json(writer.bytes, status: status, headers: headers)
    }

    /// Converts this response into the response to a `HEAD` request. The result has the same headers, including the length of the
    /// body, but no body.
    ///
    /// If the length is not known, the body is produced only to count its bytes. Without `Content-Length`, the HTTP encoder would
    /// send the last chunk of a chunked body, which a client does not expect after `HEAD`. A response that itself sets
    /// `Transfer-Encoding: chunked` is returned unchanged: the body for `GET` is an export or an event stream, whose length is not
    /// known in advance. ``MessageFraming`` removes the last chunk of such a response.
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

/// Counts the bytes of a body instead of sending them.
private final class ByteCount: ResponseBodyWriter {
    private(set) var value = 0

    func write(_ buffer: ByteBuffer) async throws { value += buffer.readableBytes }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
