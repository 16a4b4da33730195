import AsyncHTTPClient
import HesperStore
import NIOCore

/// Streams a range of an object with back-pressure. After a connection failure, the download resumes at the current offset. This
/// is safe because objects never change.
actor S3Download {
    private let object: S3Object
    private var offset: Int64
    private let end: Int64
    private var body: HTTPClientResponse.Body.AsyncIterator?

    /// Opens an object for reading.
    /// - Throws: ``S3Failure`` or ``StoreError``.
    init(_ object: S3Object, _ range: Range<Int64>) async throws {
        self.object = object
        offset = range.lowerBound
        end = range.upperBound
        body = try await object.get(range).body.makeAsyncIterator()
    }

    func next() async throws -> ByteBuffer? {
        guard offset < end else { return nil }
        let buffer = try await object.client.retrying { try await self.attempt() }
        offset += Int64(buffer.readableBytes)
        if offset == end {
            // Read until the end of the response body, so that the connection can be reused.
            _ = try? await nextBuffer()
            body = nil
        }
        return buffer
    }

    private func attempt() async throws -> ByteBuffer {
        do {
            if body == nil { body = try await object.get(offset..<end).body.makeAsyncIterator() }
            guard let buffer = try await nextBuffer() else { throw S3IncompleteBody() }
            guard Int64(buffer.readableBytes) <= end - offset else {
                throw StoreError.damaged("S3: the response to GET \(object.key) has more bytes than requested")
            }
            return buffer
        } catch {
            body = nil
            switch error {
            case is S3Failure, is StoreError, is CancellationError: throw error
            default: throw StoreError.unavailable("S3: GET \(object.key) failed at byte \(offset): \(error)")
            }
        }
    }

    /// Reads the next bytes of the object; nil at its end.
    private func nextBuffer() async throws -> ByteBuffer? {
        guard var iterator = body else { return nil }
        defer { body = iterator }
        while let buffer = try await iterator.next(isolation: self) {
            if buffer.readableBytes > 0 { return buffer }
        }
        return nil
    }
}

/// The error for a connection that ended before all bytes were received.
private struct S3IncompleteBody: Error {}
