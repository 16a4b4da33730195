import HesperModel
import NIOCore

extension UploadStage {
    /// Takes the bytes of a request as ``append(_:to:at:limit:checking:)`` says, and has them written in parts.
    /// - Parameters:
    ///   - partBytes: how many are gathered before they are written, at least.
    ///   - write: writes a part that begins there; throws ``UploadSuperseded`` when another request has taken over.
    ///   - cut: takes back all that was written.
    /// - Returns: where they end.
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
                let room = limit - end - Int64(waiting.readableBytes)
                let isTooMuch = Int64(buffer.readableBytes) > room
                if isTooMuch { buffer.moveWriterIndex(to: buffer.readerIndex + Int(room)) }
                if check != nil { hasher.update(buffer) }
                waiting.writeImmutableBuffer(buffer)
                if isTooMuch { throw UploadTooLong() }
                if waiting.readableBytes >= partBytes { try await writeWaiting() }
            }
            try await writeWaiting()
        } catch let error as UploadSuperseded {
            throw error
        } catch {
            // What arrived before the connection broke is kept: nobody sends it twice.
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
