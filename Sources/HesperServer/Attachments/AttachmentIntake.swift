import HesperModel
import HesperStore
import NIOCore

/// Stores the bytes of attachments, first in the blob store and then in the database (protocol.md, Attachments).
struct AttachmentIntake: Sendable {
    let backend: Backend
    let limits: AttachmentLimits

    /// The SHA-256 that the client sent with the bytes, and the error to return if the received bytes have a different SHA-256.
    struct Expectation: Sendable {
        let sha256: String
        let mismatch: @Sendable (String) -> Problem

        func check(_ data: AttachmentData) throws {
            guard data.sha256 == sha256 else { throw mismatch(data.sha256) }
        }
    }

    func admission(of id: UniqueID, _ session: Session) -> BlobAdmission {
        BlobAdmission(scope: session.scope, attachment: id, largest: limits.largest, quota: backend.quota)
    }

    /// Stores the body of a request as the complete bytes of an attachment.
    /// - Returns: the stored blob, and whether this request created it.
    func store(
        _ bytes: BodyBytes, expecting expectation: Expectation?, for id: UniqueID, _ session: Session
    ) async throws -> (blob: Blob, isNew: Bool) {
        let admission = admission(of: id, session)
        if let known = try await backend.store.read({ try admission.check(byteCount: bytes.byteCount, in: $0) }) {
            guard try await backend.blobs.has(known) else {
                try await restore(known, admission) { name, check in
                    try await backend.blobs.write(name, bytes) { data in
                        try expectation?.check(data)
                        try check(data)
                    }
                }
                return (known, true)
            }
            try await compare(bytes, with: known, expectation, admission)
            return (known, false)
        }
        let name = BlobName(scope: session.scope, attachment: id)
        let data = try await backend.blobs.write(name, bytes) { try expectation?.check($0) }
        return try await record(Blob(name: name, data: data, arrivalDate: backend.now()), admission, session) { _ in }
    }

    /// Stores the bytes of a resumable upload after all of them were received.
    func store(
        _ upload: Upload, from stage: any UploadStage, _ session: Session
    ) async throws -> (blob: Blob, isNew: Bool) {
        let admission = admission(of: upload.attachment, session)
        let expectation = upload.sha256.map { sha256 in
            Expectation(sha256: sha256) { DigestFields.mismatch(.reprDigest, found: $0) }
        }
        let name = BlobName(scope: session.scope, attachment: upload.attachment)
        let data = try await stage.copy(upload.uniqueID, to: backend.blobs, as: name) { try expectation?.check($0) }
        var finished = upload
        finished.isFinished = true
        finished.length = data.byteCount
        let stored = try await record(
            Blob(name: name, data: data, arrivalDate: backend.now()), admission, session, upload: upload.uniqueID
        ) { [finished] in
            try $0.update(finished, in: session.scope)
        }
        guard !stored.isNew, try await !backend.blobs.has(stored.blob) else { return stored }
        try await restore(stored.blob, admission) { name, check in
            try await stage.copy(upload.uniqueID, to: backend.blobs, as: name, checking: check)
        }
        return (stored.blob, true)
    }

    /// Writes the bytes of a blob to the blob store again. Used if the database has a record of the blob, but the bytes are missing
    /// from the blob store. The name of the blob does not change.
    private func restore(
        _ known: Blob, _ admission: BlobAdmission,
        _ write: (BlobName, @escaping @Sendable (AttachmentData) throws -> Void) async throws -> AttachmentData
    ) async throws {
        // Removes a damaged file with this name, if there is one.
        try await backend.blobs.remove(known.name)
        _ = try await write(known.name) { guard $0 == known.data else { throw admission.immutable } }
    }

    /// Records a new blob in the database. The file of the new blob is removed in two cases: the blob is refused, for example
    /// because the quota is exceeded, or the attachment already has a blob.
    private func record(
        _ blob: Blob, _ admission: BlobAdmission, _ session: Session, upload: UniqueID? = nil,
        and more: @escaping @Sendable (any Transaction) throws -> Void
    ) async throws -> (blob: Blob, isNew: Bool) {
        let current: Blob
        do {
            current = try await backend.scope(of: session).commit { transaction in
                let current = try admission.add(blob, upload: upload, in: transaction)
                try more(transaction)
                return current
            }
        } catch let problem as Problem {
            try? await backend.blobs.remove(blob.name)
            throw problem
        }
        // After any error other than a `Problem`, the transaction may have been committed, so the file is kept. If the transaction
        // was not committed, a later sweep removes the file.
        guard current != blob else { return (blob, true) }
        try? await backend.blobs.remove(blob.name)
        return (current, false)
    }

    /// Checks that the received bytes equal the bytes of the stored blob. Nothing is written.
    private func compare(
        _ bytes: BodyBytes, with known: Blob, _ expectation: Expectation?, _ admission: BlobAdmission
    ) async throws {
        if let expectation {
            // If the client sent a digest of the bytes, the digests are compared, and the body need not be read.
            guard expectation.sha256 == known.data.sha256 else { throw admission.immutable }
            return
        }
        var hasher = AttachmentHasher()
        for try await buffer in bytes { hasher.update(buffer) }
        guard hasher.data == known.data else { throw admission.immutable }
    }
}
