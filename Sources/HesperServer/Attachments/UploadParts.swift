import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// What requests bring of an upload, and its end.
extension Uploads {
    /// Takes what a request brings, and all of the upload if it is the last.
    func take(
        _ upload: Upload, at offset: Int64, _ fields: UploadFields, _ call: Call, _ session: Session,
        location: String?
    ) async throws -> Response {
        let upload = try await noting(fields.length, upload, session)
        if upload.isFinished { return try await again(upload, at: offset, fields, session) }
        let limit = upload.length ?? intake.limits.largest
        let tooLong = upload.length.map { length in
            Problem(.invalidField, "More bytes came than the \(length) that were told.", at: "Upload-Length")
        }
        let tooLarge = tooLong ?? intake.admission(of: upload.attachment, session).tooLarge
        let bytes = try call.bytes(limit: max(limit - offset, 0), tooLarge: tooLarge, isOptional: true)
        let end = try await append(bytes, to: upload, at: offset, limit, try digest(call), session, tooLarge)
        guard fields.isComplete ?? true else {
            var headers = fields.headers(offset: end, isComplete: false, limit: self.limit(of: upload))
            guard let location else { return Response(status: fields.appendedStatus, headers: headers) }
            headers[.location] = location
            return .object(status: .created, headers: headers) { writer in
                writer.member("uniqueID", upload.attachment)
                writer.member("byteCount", end)
            }
        }
        return try await finish(upload, end, fields, session)
    }

    /// What a part must have as SHA-256.
    private func digest(_ call: Call) throws -> (@Sendable (AttachmentData) throws -> Void)? {
        guard let sha256 = try DigestFields.sha256(.contentDigest, in: call) else { return nil }
        return { data in
            guard data.sha256 == sha256 else { throw DigestFields.mismatch(.contentDigest, found: data.sha256) }
        }
    }

    private func append(
        _ bytes: BodyBytes, to upload: Upload, at offset: Int64, _ limit: Int64,
        _ check: (@Sendable (AttachmentData) throws -> Void)?, _ session: Session, _ tooLarge: Problem
    ) async throws -> Int64 {
        do {
            return try await stage.append(bytes, to: upload.uniqueID, at: offset, limit: limit, checking: check)
        } catch let error as UploadOffsetMismatch {
            throw Problem.uploadOffset(error.offset, asked: offset)
        } catch is UploadTooLong {
            throw tooLarge
        } catch is UploadSuperseded {
            throw Problem(.uploadOffset, "Another request has taken this upload over.")
        } catch is UploadMissing {
            try await end(upload, session)
            throw Problem.notFound(upload.uniqueID)
        }
    }

    private func finish(
        _ upload: Upload, _ end: Int64, _ fields: UploadFields, _ session: Session
    ) async throws -> Response {
        if let length = upload.length, length != end {
            throw Problem(
                .invalidField, "The upload ends with \(end) bytes, but \(length) were told.", at: "Upload-Complete")
        }
        let taken: (blob: Blob, isNew: Bool)
        do {
            taken = try await intake.take(upload, from: stage, session)
        } catch let problem as Problem {
            // Going on with it would change nothing.
            try await self.end(upload, session)
            throw problem
        }
        try await stage.remove(upload.uniqueID)
        return .taken(taken, headers: fields.headers(offset: end, isComplete: true))
    }

    /// The answer to the last request once more, for whoever did not get it.
    private func again(
        _ upload: Upload, at offset: Int64, _ fields: UploadFields, _ session: Session
    ) async throws -> Response {
        guard let length = upload.length, offset == length else {
            throw Problem.uploadOffset(upload.length ?? 0, asked: offset)
        }
        let blob = try await backend.store.read { try $0.blob(of: upload.attachment, in: session.scope) }
        guard let blob, try await backend.blobs.has(blob) else { throw Problem.notFound(upload.attachment) }
        return .taken((blob, false), headers: fields.headers(offset: length, isComplete: true))
    }

    /// Keeps the length, if it is told only now.
    private func noting(_ length: Int64?, _ upload: Upload, _ session: Session) async throws -> Upload {
        guard let length, length != upload.length else { return upload }
        if let known = upload.length {
            throw Problem(.invalidField, "\(known) bytes were told before, now \(length).", at: "Upload-Length")
        }
        var upload = upload
        upload.length = length
        let admission = intake.admission(of: upload.attachment, session)
        try await backend.scope(of: session).commit { [upload] transaction in
            try admission.check(byteCount: length, upload: upload.uniqueID, in: transaction)
            try transaction.update(upload, in: session.scope)
        }
        return upload
    }
}
