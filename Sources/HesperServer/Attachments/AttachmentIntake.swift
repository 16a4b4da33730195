import HesperModel
import HesperStore
import NIOCore

/// Takes the bytes of attachments in: kept by the blob store first, then known to the store (protocol.md, Attachments).
struct AttachmentIntake: Sendable {
    let backend: Backend
    let limits: AttachmentLimits

    /// What bytes are to have as SHA-256, and where that is said.
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

    /// Bytes that come in one request.
    /// - Returns: what is here now, and whether it has come with this request.
    func take(
        _ bytes: BodyBytes, expecting expectation: Expectation?, for id: UniqueID, _ session: Session
    ) async throws -> (blob: Blob, isNew: Bool) {
        let admission = admission(of: id, session)
        if let known = try await backend.store.read({ try admission.check(byteCount: bytes.byteCount, in: $0) }) {
            guard try await backend.blobs.has(known) else {
                try await bringBack(known, admission) { name, check in
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
        return try await keep(Blob(name: name, data: data, arrivalDate: backend.now()), admission, session) { _ in }
    }

    /// Bytes of an upload that is complete.
    func take(
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
        let taken = try await keep(
            Blob(name: name, data: data, arrivalDate: backend.now()), admission, session, upload: upload.uniqueID
        ) { [finished] in
            try $0.update(finished, in: session.scope)
        }
        guard !taken.isNew, try await !backend.blobs.has(taken.blob) else { return taken }
        try await bringBack(taken.blob, admission) { name, check in
            try await stage.copy(upload.uniqueID, to: backend.blobs, as: name, checking: check)
        }
        return (taken.blob, true)
    }

    /// Bytes that the store knows and the blob store has lost, from whoever still has them: under the same name.
    private func bringBack(
        _ known: Blob, _ admission: BlobAdmission,
        _ write: (BlobName, @escaping @Sendable (AttachmentData) throws -> Void) async throws -> AttachmentData
    ) async throws {
        // What a failing disk has left of them would be in the way.
        try await backend.blobs.remove(known.name)
        _ = try await write(known.name) { guard $0 == known.data else { throw admission.immutable } }
    }

    /// Has the store know of a blob; one that it does not want is nobody's.
    private func keep(
        _ blob: Blob, _ admission: BlobAdmission, _ session: Session, upload: UniqueID? = nil,
        and more: @escaping @Sendable (any Transaction) throws -> Void
    ) async throws -> (blob: Blob, isNew: Bool) {
        let standing: Blob
        do {
            standing = try await backend.scope(of: session).commit { transaction in
                let standing = try admission.add(blob, upload: upload, in: transaction)
                try more(transaction)
                return standing
            }
        } catch let problem as Problem {
            try? await backend.blobs.remove(blob.name)
            throw problem
        }
        // After any other error it may be known all the same. What is not known, and stays here, is swept.
        guard standing != blob else { return (blob, true) }
        try? await backend.blobs.remove(blob.name)
        return (standing, false)
    }

    /// Whether bytes that come are those that are here; nothing is kept of them.
    private func compare(
        _ bytes: BodyBytes, with known: Blob, _ expectation: Expectation?, _ admission: BlobAdmission
    ) async throws {
        if let expectation {
            // Then they need not be read.
            guard expectation.sha256 == known.data.sha256 else { throw admission.immutable }
            return
        }
        var hasher = AttachmentHasher()
        for try await buffer in bytes { hasher.update(buffer) }
        guard hasher.data == known.data else { throw admission.immutable }
    }
}
