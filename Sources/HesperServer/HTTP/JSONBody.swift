import Crypto
import HTTPTypes
import HesperModel
import Hummingbird
import NIOCore

extension APIRequest {
    /// Reads the body as JSON.
    /// - Parameter limit: the maximum size in bytes, after decompression.
    /// - Throws: ``Problem`` with `unsupported-media-type`, `length-required`, `too-large` or `malformed-request`.
    func json(limit: Int) async throws -> JSON {
        try checkType()
        return try await body(limit: limit) { body in
            try body.withUnsafeReadableBytes { bytes throws(Problem) in
                try JSONReader.read(bytes, values: Limits.jsonValues)
            }
        }
    }

    /// Reads the body as JSON, and computes the SHA-256 of the body after decompression.
    /// - Parameter limit: the maximum size in bytes, after decompression.
    func hashedJSON(limit: Int) async throws -> (json: JSON, sha256: [UInt8]) {
        try checkType()
        return try await body(limit: limit) { body in
            try body.withUnsafeReadableBytes { bytes in
                (try JSONReader.read(bytes, values: Limits.jsonValues), Array(SHA256.hash(data: bytes)))
            }
        }
    }

    /// Reads the body, which may have any media type, and decompresses it if necessary.
    /// - Parameter limit: the maximum size in bytes, after decompression.
    func body(limit: Int) async throws -> ByteBuffer { try await body(limit: limit) { $0 } }

    /// Reads the complete body and calls `use` with it. If the body is large, a ``BodyPermit`` is held until `use` returns.
    private func body<T: Sendable>(limit: Int, _ use: (ByteBuffer) throws -> T) async throws -> T {
        var permit = BodyPermit(caller)
        defer { permit.release() }
        return try use(try await collect(limit: limit, in: &permit))
    }

    private func collect(limit: Int, in permit: inout BodyPermit) async throws -> ByteBuffer {
        let decompressor = try contentCoding(supported: ContentCoding.allCases).map(Decompressor.init)
        let tooLarge = Problem.tooLarge(
            "The body must have at most \(limit) bytes\(decompressor == nil ? "" : " after decompression").",
            limit: limit)
        let length = self[.contentLength].flatMap { Int($0) }
        guard length != nil || self[.transferEncoding] != nil else {
            throw Problem(
                .lengthRequired, "The request must have a body, with Content-Length or Transfer-Encoding: chunked.")
        }
        if let length, length > limit { throw tooLarge }
        if self[.expect] != nil { send(.continue) }
        let start = ContinuousClock.now
        var (body, count) = (ByteBuffer(), 0)
        for try await part in http.body {
            count += part.readableBytes
            guard count <= limit else { throw tooLarge }
            // A compressed body always needs a permit, because its size after decompression is not known in advance.
            if decompressor != nil || count > BodyPermit.freeBytes { try await permit.acquire() }
            if let decompressor {
                guard try decompressor.decompress(part, into: &body, limit: limit) else { throw tooLarge }
            } else if body.readableBytes == 0 {
                body = part
            } else {
                body.writeImmutableBuffer(part)
            }
        }
        guard length == nil || length == count else {
            throw Problem(.malformedRequest, "The body is shorter than Content-Length.")
        }
        try decompressor?.finish()
        try await caller?.revalidate(http, since: start)
        return body
    }

    /// The coding in the `Content-Encoding` header; nil if the body is not compressed.
    /// - Throws: `unsupported-media-type` if the coding is not in `supported`.
    func contentCoding(supported: [ContentCoding]) throws(Problem) -> ContentCoding? {
        guard let name = self[.contentEncoding]?.trimmed, name.lowercased() != "identity" else { return nil }
        if let coding = ContentCoding(name: name), supported.contains(coding) { return coding }
        let names = supported.isEmpty ? "identity" : ContentCoding.list
        throw Problem(
            .unsupportedMediaType,
            "The Content-Encoding \(name.prefix(64)) is not supported. Send the body "
                + "\(supported.isEmpty ? "" : "with \(names), or ")without Content-Encoding.",
            context: ["acceptEncoding": .string(names)])
    }

    /// The media type of the body, in lower case and without parameters; nil if the header `Content-Type` is missing.
    var mediaType: String? { self[.contentType].map { $0.prefix { $0 != ";" }.trimmed.lowercased() } }

    private func checkType() throws(Problem) {
        guard let essence = mediaType else {
            throw Problem(
                .unsupportedMediaType,
                "The header Content-Type is missing. Send \"Content-Type: application/json\" (curl --json does).")
        }
        guard essence == "application/json" || essence.hasPrefix("application/") && essence.hasSuffix("+json") else {
            throw Problem(
                .unsupportedMediaType,
                "The Content-Type \(essence.prefix(64)) is not supported. "
                    + "Send \"Content-Type: application/json\" (curl --json does)."
            )
        }
    }
}

extension StringProtocol {
    /// The text without leading and trailing spaces and tabs, which HTTP allows around the values of headers.
    var trimmed: SubSequence {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return self[endIndex...]
        }
        return self[first...last]
    }
}
