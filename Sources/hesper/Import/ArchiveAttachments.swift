import HesperArchive
import HesperModel
import HesperStore
import NIOCore
import NIOPosix

/// Imports the data of the attachments in an archive.
struct ArchiveAttachments: Sendable {
    let store: any Store
    let blobs: any BlobStore
    let pusher: ImportPusher
    /// The maximum size of an attachment in bytes.
    let maximumBytes: Int64

    /// Stores the data of all attachments that the account does not have yet. The archive is read once, from its beginning to its
    /// end.
    /// - Parameter done: called for each attachment of the archive.
    /// - Returns: the attachments that could not be stored, with the reasons.
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
            refused[attachment.uniqueID] = "The archive does not contain \(path)."
            done()
        }
        return refused
    }

    private func add(_ attachment: ExportContents.Attachment, from zip: ZipReader, path: String) async throws {
        let (scope, expected) = (pusher.scope, attachment.data)
        let admission = BlobAdmission(
            scope: scope.id, attachment: attachment.uniqueID, largest: maximumBytes, quota: pusher.quota)
        if let known = try await store.read({ try admission.check(byteCount: expected.byteCount, in: $0) }) {
            guard known.data == expected else { throw admission.immutable }
            return
        }
        let damaged = Problem(.immutable, "\(path) is damaged. It differs from the exported file.")
        let name = BlobName(scope: scope.id, attachment: attachment.uniqueID)
        let bytes = AsyncThrowingStream<ByteBuffer, any Error> {
            guard let bytes = try await NIOThreadPool.singleton.runIfActive({ try zip.read() }) else { return nil }
            guard zip.byteCount <= expected.byteCount else { throw damaged }
            return ByteBuffer(bytes: bytes)
        }
        let data = try await blobs.write(name, bytes) { guard $0 == expected else { throw damaged } }
        let blob = Blob(name: name, data: data, arrivalDate: .now)
        do {
            let stored = try await pusher.trying { try await scope.commit { try admission.add(blob, in: $0) } }
            // If another process stored the data of this attachment first, the data that was just written is removed.
            if stored.name != name { try await blobs.remove(name) }
        } catch let problem as Problem {
            // The store did not record the blob. After any other error, the store may have recorded the blob, so it is not
            // removed here. If the store did not record it, a sweep removes it.
            try await blobs.remove(name)
            throw problem
        }
    }
}
