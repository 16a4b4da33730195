import HTTPTypes
import HesperModel
import Hummingbird
import NIOCore

/// A request's body as it comes, refused beyond a limit, and if it ends before the length that was told.
struct BodyBytes: AsyncSequence, Sendable {
    private let body: RequestBody
    /// What `Content-Length` tells; nil for a body in chunks.
    let byteCount: Int64?
    private let limit: Int64
    private let tooLarge: Problem
    private let call: Call

    fileprivate init(_ call: Call, byteCount: Int64?, limit: Int64, tooLarge: Problem) {
        self.call = call
        body = call.request.body
        self.byteCount = byteCount
        self.limit = limit
        self.tooLarge = tooLarge
    }

    func makeAsyncIterator() -> Iterator { Iterator(self, body.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        private let bytes: BodyBytes
        private var body: RequestBody.AsyncIterator
        private var start: ContinuousClock.Instant?
        private var read: Int64 = 0

        fileprivate init(_ bytes: BodyBytes, _ body: RequestBody.AsyncIterator) {
            self.bytes = bytes
            self.body = body
        }

        mutating func next() async throws -> ByteBuffer? {
            let start = begin()
            guard let buffer = try await body.next() else {
                guard bytes.byteCount == nil || bytes.byteCount == read else {
                    throw Problem(.malformedRequest, "The body ended before the length that Content-Length tells.")
                }
                try await bytes.call.signature?.holds(since: start)
                return nil
            }
            read += Int64(buffer.readableBytes)
            guard read <= bytes.limit else { throw bytes.tooLarge }
            return buffer
        }

        private mutating func begin() -> ContinuousClock.Instant {
            if let start { return start }
            if bytes.call[.expect] != nil { bytes.call.send(.continue) }
            let now = ContinuousClock.now
            start = now
            return now
        }
    }
}

extension Call {
    /// The body, piece by piece; a client that waits for leave to send it is given it when the first is asked for.
    /// - Parameter isOptional: whether a request without a body is one with an empty body.
    func bytes(limit: Int64, tooLarge: Problem, isOptional: Bool = false) throws(Problem) -> BodyBytes {
        let length = self[.contentLength].flatMap { Int64($0) }
        guard isOptional || length != nil || self[.transferEncoding] != nil else {
            throw Problem(.lengthRequired, "Send a body, and its length in Content-Length.")
        }
        _ = try coding(among: [])
        if let length, length > limit { throw tooLarge }
        return BodyBytes(self, byteCount: length, limit: limit, tooLarge: tooLarge)
    }
}
