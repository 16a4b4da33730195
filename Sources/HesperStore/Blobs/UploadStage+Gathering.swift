import HesperModel
import NIOCore

extension UploadStage {
    /// Buffers the bytes that are passed to ``append(_:to:at:limit:checking:)``, and writes them in parts. Implementations of
    /// `append` can call this function.
    /// - Parameters:
    ///   - partBytes: the minimum size of a part in bytes. The last part may be smaller.
    ///   - write: writes a part at an offset. It throws ``UploadSuperseded`` if another request has taken over the upload.
    ///   - cut: truncates the upload to `offset`. Called if `check` throws.
    /// - Returns: the new length of the upload.
    public func gather<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, at offset: Int64, limit: Int64, partBytes: Int,
        checking check: (@Sendable (AttachmentData) throws -> Void)?,
        writing write: (ByteBuffer, Int64) async throws -> Void, cutting cut: () async throws -> Void
    ) async throws -> Int64 where Bytes.Element == ByteBuffer {
        var end = offset
        var hasher = AttachmentHasher()
        var waiting = ByteBuffer()
        func writeWaiting() async throws {
            guard waiting.readableBytes > 0 else { return }
            try await write(waiting, end)
            end += Int64(waiting.readableBytes)
            waiting = ByteBuffer()
        }
        do {
            for try await buffer in bytes {
                var buffer = buffer
                let remaining = limit - end - Int64(waiting.readableBytes)
                let isTooMuch = Int64(buffer.readableBytes) > remaining
                if isTooMuch { buffer.moveWriterIndex(to: buffer.readerIndex + Int(remaining)) }
                if check != nil { hasher.update(buffer) }
                waiting.writeImmutableBuffer(buffer)
                if isTooMuch { throw UploadTooLong() }
                if waiting.readableBytes >= partBytes { try await writeWaiting() }
            }
            try await writeWaiting()
        } catch let error as UploadSuperseded {
            throw error
        } catch {
            // Keep the bytes that arrived before the connection was lost, so that the client need not send them again.
            try? await writeWaiting()
            throw error
        }
        guard let check else { return end }
        do {
            try check(hasher.data)
        } catch {
            try await cut()
            throw error
        }
        return end
    }
}
