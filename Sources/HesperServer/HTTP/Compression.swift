import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    /// Compresses the body with a coding that the client accepts, if the body is large enough. The response to `HEAD` gets the
    /// same headers as the response to `GET`.
    ///
    /// Partial content is not compressed, because its ranges refer to the uncompressed bytes. Event streams are not compressed
    /// either, because each event must reach the client without delay.
    mutating func compress(for request: Request) async throws {
        if status == .notModified { return matchETag(of: request) }
        // The length is checked first, because this check is cheap, and most responses are too short to be compressed.
        guard body.contentLength ?? .max >= Compression.minimumBytes, status != .partialContent,
            let type = headers[.contentType], Compression.isUseful(for: type), headers[.contentEncoding] == nil,
            let coding = ContentCoding.preferred(by: request.headers[.acceptEncoding])
        else { return }
        let body = self.body
        if body.contentLength == nil {
            headers[.contentLength] = nil
            self.body = ResponseBody { writer in try await body.write(CompressingWriter(coding, into: writer)) }
        } else {
            let buffer = BufferingWriter()
            try await body.write(CompressingWriter(coding, into: buffer))
            self.body = ResponseBody(byteBuffer: buffer.bytes)
        }
        headers[.contentEncoding] = coding.rawValue
        headers[.eTag] = headers[.eTag].map { ETag.compressed($0, coding) }
    }
}

extension Response {
    /// Sets the ETag of a 304 response to the ETag under which the client has stored the response (RFC 9111, 4.3.4). The ETag of a
    /// compressed response ends with the name of the coding.
    private mutating func matchETag(of request: Request) {
        guard let tag = headers[.eTag], let stored = request.headers[.ifNoneMatch] else { return }
        headers[.eTag] = ContentCoding.allCases.map { ETag.compressed(tag, $0) }.first(where: stored.contains) ?? tag
    }
}

enum Compression {
    /// The minimum size in bytes of a body that is compressed. A smaller body fits into one network packet anyway.
    static let minimumBytes = 1_024

    /// Whether bodies of a media type are worth compressing. This is true only for text formats, because most other formats are
    /// compressed already.
    static func isUseful(for type: String) -> Bool {
        let essence = type.prefix { $0 != ";" }.trimmed.lowercased()
        if essence.hasPrefix("text/") { return essence != "text/event-stream" }
        return essence.hasSuffix("json") || essence.hasSuffix("xml") || essence.hasSuffix("yaml")
            || essence == "application/javascript"
    }
}

private struct CompressingWriter: ResponseBodyWriter {
    private let compressor: Compressor
    private var writer: any ResponseBodyWriter

    init(_ coding: ContentCoding, into writer: any ResponseBodyWriter) {
        compressor = Compressor(coding)
        self.writer = writer
    }

    mutating func write(_ buffer: ByteBuffer) async throws {
        let compressed = compressor.compress(buffer)
        if compressed.readableBytes > 0 { try await writer.write(compressed) }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await writer.write(compressor.finish())
        try await writer.finish(trailingHeaders)
    }
}

/// Collects a body in one buffer.
private final class BufferingWriter: ResponseBodyWriter {
    private(set) var bytes = ByteBuffer()

    func write(_ buffer: ByteBuffer) async throws { bytes.writeImmutableBuffer(buffer) }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
