import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    /// Packs the body as the client likes it, if that is worth it. `HEAD` gets the head that belongs to it.
    ///
    /// Not parts of bytes, whose places would be others; nor what a proxy must pass on as it is, such as a stream of events.
    mutating func pack(for request: Request) async throws {
        if status == .notModified { return nameKept(by: request) }
        // Most answers are short: what costs least is asked first.
        guard body.contentLength ?? .max >= PackedAnswer.leastBytes, status != .partialContent,
            let type = headers[.contentType], PackedAnswer.isWorthIt(type), headers[.contentEncoding] == nil,
            let coding = ContentCoding.wanted(by: request.headers[.acceptEncoding])
        else { return }
        let body = self.body
        if body.contentLength == nil {
            headers[.contentLength] = nil
            self.body = ResponseBody { writer in try await body.write(PackingWriter(coding, into: writer)) }
        } else {
            let whole = Whole()
            try await body.write(PackingWriter(coding, into: whole))
            self.body = ResponseBody(byteBuffer: whole.bytes)
        }
        headers[.contentEncoding] = coding.rawValue
        headers[.eTag] = headers[.eTag].map { ETag.packed($0, coding) }
    }
}

extension Response {
    /// Names what is not modified as the client has it, packed or not (RFC 9111, 4.3.4).
    private mutating func nameKept(by request: Request) {
        guard let tag = headers[.eTag], let kept = request.headers[.ifNoneMatch] else { return }
        headers[.eTag] = ContentCoding.allCases.map { ETag.packed(tag, $0) }.first(where: kept.contains) ?? tag
    }
}

enum PackedAnswer {
    /// Less fits into one packet anyway.
    static let leastBytes = 1_024

    /// Text of any kind, of which others are packed already.
    static func isWorthIt(_ type: String) -> Bool {
        let essence = type.prefix { $0 != ";" }.trimmed.lowercased()
        if essence.hasPrefix("text/") { return essence != "text/event-stream" }
        return essence.hasSuffix("json") || essence.hasSuffix("xml") || essence.hasSuffix("yaml")
            || essence == "application/javascript"
    }
}

private struct PackingWriter: ResponseBodyWriter {
    private let packer: Packer
    private var writer: any ResponseBodyWriter

    init(_ coding: ContentCoding, into writer: any ResponseBodyWriter) {
        packer = Packer(coding)
        self.writer = writer
    }

    mutating func write(_ buffer: ByteBuffer) async throws {
        let packed = packer.pack(buffer)
        if packed.readableBytes > 0 { try await writer.write(packed) }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await writer.write(packer.finish())
        try await writer.finish(trailingHeaders)
    }
}

/// A body that is held whole.
private final class Whole: ResponseBodyWriter {
    private(set) var bytes = ByteBuffer()

    func write(_ buffer: ByteBuffer) async throws { bytes.writeImmutableBuffer(buffer) }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
