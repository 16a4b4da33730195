import AsyncHTTPClient
import HesperStore
import NIOCore

/// Bytes of an object on their way, no faster than they are taken. If the connection breaks it goes on where it was:
/// objects do not change.
actor S3Download {
    private let object: S3Object
    private var offset: Int64
    private let end: Int64
    private var body: HTTPClientResponse.Body.AsyncIterator?

    /// - Throws: ``S3Failure``, ``StoreError``.
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
            // So that the connection is free for the next.
            _ = try? await take()
            body = nil
        }
        return buffer
    }

    private func attempt() async throws -> ByteBuffer {
        do {
            if body == nil { body = try await object.get(offset..<end).body.makeAsyncIterator() }
            guard let buffer = try await take() else { throw S3Cut() }
            guard Int64(buffer.readableBytes) <= end - offset else {
                throw StoreError.damaged("S3: \(object.key) has more bytes than it said")
            }
            return buffer
        } catch {
            body = nil
            switch error {
            case is S3Failure, is StoreError, is CancellationError: throw error
            default: throw StoreError.unavailable("S3: GET \(object.key), byte \(offset): \(error)")
            }
        }
    }

    /// The next bytes; nil at the end.
    private func take() async throws -> ByteBuffer? {
        guard var iterator = body else { return nil }
        defer { body = iterator }
        while let buffer = try await iterator.next(isolation: self) {
            if buffer.readableBytes > 0 { return buffer }
        }
        return nil
    }
}

/// A connection ended before the bytes did.
private struct S3Cut: Error {}
