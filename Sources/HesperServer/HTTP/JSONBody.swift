import HTTPTypes
import HesperModel
import Hummingbird
import NIOCore

extension Call {
    /// The body as JSON.
    /// - Parameter limit: bytes that it may have, unpacked.
    /// - Throws: ``Problem`` with `unsupported-media-type`, `length-required`, `too-large` or `malformed-request`.
    func json(limit: Int) async throws -> JSON {
        try checkType()
        return try await body(limit: limit) { body in
            try body.withUnsafeReadableBytes { bytes throws(Problem) in
                try JSONReader.read(bytes, values: Limits.jsonValues)
            }
        }
    }

    /// The body, whatever its type: unpacked, if it comes packed.
    func body(limit: Int) async throws -> ByteBuffer { try await body(limit: limit) { $0 } }

    /// Does something with the body once all of it is here, and whoever sent it may still do so.
    private func body<T: Sendable>(limit: Int, _ use: (ByteBuffer) throws -> T) async throws -> T {
        var permit = BodyPermit(signature)
        defer { permit.release() }
        return try use(try await collect(limit: limit, in: &permit))
    }

    private func collect(limit: Int, in permit: inout BodyPermit) async throws -> ByteBuffer {
        let unpacker = try coding(among: ContentCoding.allCases).map(Unpacker.init)
        let tooLarge = Problem.tooLarge(
            "The body has at most \(limit) bytes here\(unpacker == nil ? "" : ", when it is unpacked").", limit: limit)
        let length = self[.contentLength].flatMap { Int($0) }
        guard length != nil || self[.transferEncoding] != nil else {
            throw Problem(.lengthRequired, "Send a body, and its length in Content-Length.")
        }
        if let length, length > limit { throw tooLarge }
        if self[.expect] != nil { send(.continue) }
        let start = ContinuousClock.now
        var (body, count) = (ByteBuffer(), 0)
        for try await part in request.body {
            count += part.readableBytes
            guard count <= limit else { throw tooLarge }
            // Of what is packed nobody knows how much it is.
            if unpacker != nil || count > BodyPermit.freeBytes { try await permit.acquire() }
            if let unpacker {
                guard try unpacker.unpack(part, into: &body, limit: limit) else { throw tooLarge }
            } else if body.readableBytes == 0 {
                body = part
            } else {
                body.writeImmutableBuffer(part)
            }
        }
        guard length == nil || length == count else {
            throw Problem(.malformedRequest, "The body ended before the length that Content-Length tells.")
        }
        try unpacker?.finish()
        try await signature?.holds(since: start)
        return body
    }

    /// How the body is packed; nil if it is not.
    /// - Throws: `unsupported-media-type` with those that are known here, for any other.
    func coding(among known: [ContentCoding]) throws(Problem) -> ContentCoding? {
        guard let name = self[.contentEncoding]?.trimmed, name.lowercased() != "identity" else { return nil }
        if let coding = ContentCoding(name: name), known.contains(coding) { return coding }
        let names = known.isEmpty ? "identity" : ContentCoding.list
        throw Problem(
            .unsupportedMediaType,
            "The body is said to be encoded with \(name.prefix(64)); \(known.isEmpty ? "" : "use \(names), or ")send it as it is.",
            context: ["acceptEncoding": .string(names)])
    }

    private func checkType() throws(Problem) {
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
