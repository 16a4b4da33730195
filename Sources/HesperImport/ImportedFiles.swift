import Foundation
import HesperModel
import HesperMoveIn
import HesperStore
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Stores the data of attachments that an import creates.
struct ImportedFiles: Sendable {
    private let store: any Store
    private let blobs: any BlobStore
    private let pusher: ImportPusher
    /// The maximum size of an attachment in bytes.
    private let maximumBytes: Int64
    private let now: @Sendable () -> Timestamp

    init(_ target: ImportTarget, _ pusher: ImportPusher) {
        (store, blobs, maximumBytes) = (target.store, target.blobs, target.maximumAttachmentBytes)
        now = target.now
        self.pusher = pusher
    }

    /// The result for the files of some notes.
    struct Stored {
        /// The IDs of the attachments whose data is stored.
        var attachments: Set<UniqueID> = []
        var refused: [ImportReport.Skipped] = []
    }

    /// Stores the files of notes. Files of deleted notes, and files that were removed from their notes, are left out.
    func add(_ notes: [SourceNote]) async throws -> Stored {
        var stored = Stored()
        let notes = notes.filter { !$0.attachments.isEmpty }
        guard !notes.isEmpty else { return stored }
        let scope = pusher.scope.id
        let states = try await store.read { snapshot in
            var states: [UniqueID: ObjectState] = [:]
            for note in notes { states[note.uniqueID] = try snapshot.state(of: note.uniqueID, in: scope) }
            return states
        }
        for note in notes {
            var entity: Entity?
            switch states[note.uniqueID] {
            case .deleted?: continue
            case .entity(let found, _)?: entity = found
            case nil: break
            }
            for attachment in note.attachments where entity?.register(.attachment(attachment.uniqueID)) == nil {
                do {
                    let file = try FileHandle(forReadingFrom: URL(filePath: attachment.location))
                    defer { try? file.close() }
                    let data = AttachmentData(byteCount: attachment.byteCount, sha256: attachment.sha256)
                    let changed = Problem(.immutable, "The file was changed during the import. Import it again.")
                    try await add(attachment.uniqueID, data, orThrow: changed) {
                        try file.read(upToCount: 256 << 10).map { Array($0) }.flatMap { $0.isEmpty ? nil : $0 }
                    }
                    stored.attachments.insert(attachment.uniqueID)
                } catch let problem as Problem where problem.slug == .deleted {
                    // The attachment was deleted here and stays deleted.
                } catch let problem as Problem {
                    let path = "\(note.path), \(attachment.filename)"
                    stored.refused.append(ImportReport.Skipped(path: path, reason: problem.detail))
                } catch let error as CocoaError {
                    let path = "\(note.path), \(attachment.filename)"
                    stored.refused.append(ImportReport.Skipped(path: path, reason: error.localizedDescription))
                }
            }
        }
        return stored
    }

    /// Stores the data of an attachment, unless the account already has it.
    /// - Parameters:
    ///   - expected: the size and hash of the data.
    ///   - damaged: the error to throw if the data does not match `expected`.
    ///   - read: returns the next bytes; nil at the end.
    /// - Throws: ``Problem`` if the data is not accepted.
    func add(
        _ id: UniqueID, _ expected: AttachmentData, orThrow damaged: Problem,
        _ read: @escaping @Sendable () throws -> [UInt8]?
    ) async throws {
        let scope = pusher.scope
        let admission = BlobAdmission(scope: scope.id, attachment: id, largest: maximumBytes, quota: pusher.quota)
        if let known = try await store.read({ try admission.check(byteCount: expected.byteCount, in: $0) }) {
            guard known.data == expected else { throw admission.immutable }
            return
        }
        let name = BlobName(scope: scope.id, attachment: id)
        let count = NIOLockedValueBox<Int64>(0)
        let bytes = AsyncThrowingStream<ByteBuffer, any Error> {
            guard let bytes = try await NIOThreadPool.singleton.runIfActive({ try read() }) else { return nil }
            let total = count.withLockedValue {
                $0 += Int64(bytes.count)
                return $0
            }
            guard total <= expected.byteCount else { throw damaged }
            return ByteBuffer(bytes: bytes)
        }
        let data = try await blobs.write(name, bytes) { guard $0 == expected else { throw damaged } }
        let blob = Blob(name: name, data: data, arrivalDate: now())
        do {
            let stored = try await pusher.commit { try admission.add(blob, in: $0) }
            // If another process stored the data of this attachment first, the data that was just written is removed.
            if stored.name != name { try await blobs.remove(name) }
        } catch let problem as Problem {
            // After a `Problem`, the store has certainly not recorded the blob, so the blob is removed. After any other error, it
            // may have recorded the blob. A sweep then removes the blob if it was not recorded.
            try await blobs.remove(name)
            throw problem
        }
    }
}
