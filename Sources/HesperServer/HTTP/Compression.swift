import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    /// Compresses the body with an encoding that the client accepts, if it is large enough. A `HEAD` response gets the same
    /// headers.
    ///
    /// Partial content is not compressed, because its ranges refer to the uncompressed bytes; neither are event streams, which
    /// proxies must not buffer.
    mutating func compress(for request: Request) async throws {
        if status == .notModified { return matchETag(of: request) }
        // The cheapest checks come first: most responses are short.
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
    /// Sets the tag under which the client has stored the response, which may be that of a compressed one (RFC 9111, 4.3.4).
    private mutating func matchETag(of request: Request) {
        guard let tag = headers[.eTag], let stored = request.headers[.ifNoneMatch] else { return }
        headers[.eTag] = ContentCoding.allCases.map { ETag.compressed(tag, $0) }.first(where: stored.contains) ?? tag
    }
}

enum Compression {
    /// The minimum size of a body that is compressed. A smaller one fits into one packet.
    static let minimumBytes = 1_024

    /// Whether a media type is text. Most other types are compressed already.
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
