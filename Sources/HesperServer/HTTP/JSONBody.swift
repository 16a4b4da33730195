import HTTPTypes
import HesperModel
import Hummingbird
import NIOCore

extension Call {
    /// The body as JSON.
    /// - Parameter limit: bytes that it may have.
    /// - Throws: ``Problem`` with `unsupported-media-type`, `length-required`, `too-large` or `malformed-request`.
    func json(limit: Int) async throws -> JSON {
        try checkType()
        let body = try await body(limit: limit)
        return try body.withUnsafeReadableBytes { bytes throws(Problem) in try JSONReader.read(bytes) }
    }

    /// The body, whatever its type.
    func body(limit: Int) async throws -> ByteBuffer {
        let tooLarge = Problem.tooLarge("The body has at most \(limit) bytes here.", limit: limit)
        let length = self[.contentLength].flatMap { Int($0) }
        guard length != nil || self[.transferEncoding] != nil else {
            throw Problem(.lengthRequired, "Send a body, and its length in Content-Length.")
        }
        if let length, length > limit { throw tooLarge }
        if self[.expect] != nil { send(.continue) }
        var body = ByteBuffer()
        for try await part in request.body {
            guard body.readableBytes + part.readableBytes <= limit else { throw tooLarge }
            if body.readableBytes == 0 { body = part } else { body.writeImmutableBuffer(part) }
        }
        guard length == nil || length == body.readableBytes else {
            throw Problem(.malformedRequest, "The body ended before the length that Content-Length tells.")
        }
        return body
    }

    private func checkType() throws(Problem) {
        if let coding = self[.contentEncoding]?.trimmed, coding.lowercased() != "identity" {
            throw Problem(
                .unsupportedMediaType, "The body is said to be encoded with \(coding.prefix(64)); send it as it is.")
        }
        guard let type = self[.contentType] else {
            throw Problem(
                .unsupportedMediaType, "Say what the body is: \"Content-Type: application/json\" (curl --json does).")
        }
        let essence = type.prefix { $0 != ";" }.trimmed.lowercased()
        guard essence == "application/json" || essence.hasPrefix("application/") && essence.hasSuffix("+json") else {
            throw Problem(
                .unsupportedMediaType,
                "The body is said to be \(essence.prefix(64)); send \"Content-Type: application/json\" (curl --json does)."
            )
        }
    }
}

extension StringProtocol {
    /// Without the white space that HTTP allows around values.
    var trimmed: SubSequence {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return self[endIndex...]
        }
        return self[first...last]
    }
}
