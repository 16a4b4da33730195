import HTTPTypes
import HesperModel
import Hummingbird
import NIOCore

/// The body of a request as a stream of buffers. Reading throws if the body exceeds a limit, or ends before the length in
/// `Content-Length`.
struct BodyBytes: AsyncSequence, Sendable {
    private let body: RequestBody
    /// The value of `Content-Length`; nil for a chunked body.
    let byteCount: Int64?
    private let limit: Int64
    private let tooLarge: Problem
    private let request: APIRequest

    fileprivate init(_ request: APIRequest, byteCount: Int64?, limit: Int64, tooLarge: Problem) {
        self.request = request
        body = request.http.body
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
                    throw Problem(.malformedRequest, "The body is shorter than Content-Length.")
                }
                try await bytes.request.caller?.revalidate(bytes.request.http, since: start)
                return nil
            }
            read += Int64(buffer.readableBytes)
            guard read <= bytes.limit else { throw bytes.tooLarge }
            return buffer
        }

        private mutating func begin() -> ContinuousClock.Instant {
            if let start { return start }
            if bytes.request[.expect] != nil { bytes.request.send(.continue) }
            let now = ContinuousClock.now
            start = now
            return now
        }
    }
}

extension APIRequest {
    /// The body as a stream. If the client sent `Expect: 100-continue`, the response `100 Continue` is sent when the first buffer
    /// is requested.
    /// - Parameters:
    ///   - limit: the maximum size in bytes.
    ///   - tooLarge: the error if the body is larger.
    ///   - isOptional: whether a request without a body is accepted, as if its body were empty.
    /// - Throws: `length-required`, `unsupported-media-type`, or the given error `tooLarge`.
    func bytes(limit: Int64, tooLarge: Problem, isOptional: Bool = false) throws(Problem) -> BodyBytes {
        let length = self[.contentLength].flatMap { Int64($0) }
        guard isOptional || length != nil || self[.transferEncoding] != nil else {
            throw Problem(
                .lengthRequired, "The request must have a body, with Content-Length or Transfer-Encoding: chunked.")
        }
        _ = try contentCoding(supported: [])
        if let length, length > limit { throw tooLarge }
        return BodyBytes(self, byteCount: length, limit: limit, tooLarge: tooLarge)
    }
}
