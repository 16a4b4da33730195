import HesperArchive
import HesperModel
import HesperStore
import NIOCore
import NIOPosix

/// Brings the bytes of an archive's attachments to where a server keeps them.
struct ArchiveAttachments: Sendable {
    let store: any Store
    let blobs: any BlobStore
    let pusher: ImportPusher
    /// How many bytes an attachment may have.
    let largest: Int64

    /// Keeps all bytes that are not here yet. They are read once, in the order in which they lie in the archive.
    /// - Parameter done: called for each that the archive says it has.
    /// - Returns: why, of those that are not here afterwards.
    func add(
        from path: String, _ contents: ExportContents, done: () -> Void
    ) async throws -> [UniqueID: String] {
        var missing = contents.attachments
        var refused: [UniqueID: String] = [:]
        let zip = try ZipReader(path)
        while !missing.isEmpty, let entry = try zip.next() {
            guard let attachment = missing.removeValue(forKey: entry.path) else { continue }
            do {
                try await add(attachment, from: zip, path: entry.path)
            } catch let problem as Problem {
                refused[attachment.uniqueID] = problem.detail
            }
            done()
        }
        for (path, attachment) in missing {
            refused[attachment.uniqueID] = "The archive has no \(path)."
            done()
        }
        return refused
    }

    private func add(_ attachment: ExportContents.Attachment, from zip: ZipReader, path: String) async throws {
        let (scope, wanted) = (pusher.scope, attachment.data)
        let admission = BlobAdmission(
            scope: scope.id, attachment: attachment.uniqueID, largest: largest, quota: pusher.quota)
        if let known = try await store.read({ try admission.check(byteCount: wanted.byteCount, in: $0) }) {
            guard known.data == wanted else { throw admission.immutable }
            return
        }
        let damaged = Problem(.immutable, "\(path) is damaged: its bytes are not those that were exported.")
        let name = BlobName(scope: scope.id, attachment: attachment.uniqueID)
        let bytes = AsyncThrowingStream<ByteBuffer, any Error> {
            guard let bytes = try await NIOThreadPool.singleton.runIfActive({ try zip.read() }) else { return nil }
            guard zip.byteCount <= wanted.byteCount else { throw damaged }
            return ByteBuffer(bytes: bytes)
        }
        let data = try await blobs.write(name, bytes) { guard $0 == wanted else { throw damaged } }
        let blob = Blob(name: name, data: data, arrivalDate: .now)
        do {
            let kept = try await pusher.trying { try await scope.commit { try admission.add(blob, in: $0) } }
            // Somebody else was quicker.
            if kept.name != name { try await blobs.remove(name) }
        } catch let problem as Problem {
            // After any other error it may be known all the same. What is not known is swept.
            try await blobs.remove(name)
            throw problem
        }
    }
}
