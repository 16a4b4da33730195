import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// Appends the bodies of requests to uploads, and completes uploads.
extension Uploads {
    /// Appends the body of a request to an upload. If the request is the last of the upload, completes the upload.
    /// - Parameter location: the path of the upload, for the response to its first request; nil for later requests.
    func receive(
        _ upload: Upload, at offset: Int64, _ fields: UploadFields, _ request: APIRequest, _ session: Session,
        location: String?
    ) async throws -> Response {
        let upload = try await recordingLength(fields.length, upload, session)
        if upload.isFinished { return try await repeatedResponse(upload, at: offset, fields, session) }
        let limit = upload.length ?? intake.limits.largest
        let tooLong = upload.length.map { length in
            Problem(
                .invalidField, "The upload has more bytes than its declared length of \(length).", at: "Upload-Length")
        }
        let tooLarge = tooLong ?? intake.admission(of: upload.attachment, session).tooLarge
        let bytes = try request.bytes(limit: max(limit - offset, 0), tooLarge: tooLarge, isOptional: true)
        let end = try await append(request, bytes, to: upload, at: offset, limit, session, tooLarge)
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

    private func append(
        _ request: APIRequest, _ bytes: BodyBytes, to upload: Upload, at offset: Int64, _ limit: Int64,
        _ session: Session, _ tooLarge: Problem
    ) async throws -> Int64 {
        do {
            return try await UploadPart.append(
                bytes, of: request, to: upload.uniqueID, in: stage, at: offset, limit: limit, orThrow: tooLarge)
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
                .invalidField, "The upload is complete with \(end) bytes, but its declared length is \(length).",
                at: "Upload-Complete")
        }
        let stored: (blob: Blob, isNew: Bool)
        do {
            stored = try await intake.store(upload, from: stage, session)
        } catch let problem as Problem {
            // Removes the upload, because another attempt to complete it would fail in the same way.
            try await self.end(upload, session)
            throw problem
        }
        try await stage.remove(upload.uniqueID)
        return .stored(stored, headers: fields.headers(offset: end, isComplete: true))
    }

    /// Repeats the response to the request that completed the upload, for a client that did not receive this response.
    private func repeatedResponse(
        _ upload: Upload, at offset: Int64, _ fields: UploadFields, _ session: Session
    ) async throws -> Response {
        guard let length = upload.length, offset == length else {
            throw Problem.uploadOffset(upload.length ?? 0, requested: offset)
        }
        let blob = try await backend.store.read { try $0.blob(of: upload.attachment, in: session.scope) }
        guard let blob, try await backend.blobs.has(blob) else { throw Problem.notFound(upload.attachment) }
        return .stored((blob, false), headers: fields.headers(offset: length, isComplete: true))
    }

    /// Stores the length of an upload if a request contains it for the first time.
    /// - Returns: the upload with its length.
    private func recordingLength(_ length: Int64?, _ upload: Upload, _ session: Session) async throws -> Upload {
        guard let length, length != upload.length else { return upload }
        if let known = upload.length {
            throw Problem(
                .invalidField, "The declared length was \(known) before, and is now \(length). It must not change.",
                at: "Upload-Length")
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
