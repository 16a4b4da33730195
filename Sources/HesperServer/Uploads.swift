import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// `/v1/uploads/{uniqueID}`: uploads that go on where they broke off (draft-ietf-httpbis-resumable-upload;
/// protocol.md, Attachments).
struct Uploads: Resource {
    let backend: Backend
    let intake: AttachmentIntake
    let stage: any UploadStage

    func add(to routes: inout Routes) {
        routes.on(.head, "/v1/uploads/{uniqueID}", keeping: .never, use: head)
        routes.patch("/v1/uploads/{uniqueID}", keeping: .never, use: append)
        routes.delete("/v1/uploads/{uniqueID}", keeping: .never, use: delete)
    }

    /// The first request of an upload, to the attachment's bytes themselves.
    func begin(
        for attachment: UniqueID, _ fields: UploadFields, _ call: Call, _ session: Session
    ) async throws -> Response {
        let admission = intake.admission(of: attachment, session)
        let expected = try DigestFields.sha256(.reprDigest, in: call)
        let (known, open) = try await backend.store.read { snapshot in
            (
                try admission.check(byteCount: fields.length, in: snapshot),
                try snapshot.openUploads(of: session.scope).count
            )
        }
        if let known, let expected, known.data.sha256 == expected {
            return .taken((known, false), headers: fields.headers(offset: known.data.byteCount, isComplete: true))
        }
        guard open < intake.limits.openUploads else {
            throw Problem.tooManyRequests("\(open) uploads of this account are under way.", retryAfter: 600)
        }
        let upload = Upload(
            uniqueID: .random(), attachment: attachment, length: fields.length, sha256: expected,
            creationDate: backend.now())
        try await stage.create(upload.uniqueID)
        try await backend.scope(of: session).commit { try $0.insert(upload, in: session.scope) }
        var headers = fields.headers(offset: nil, isComplete: nil, limit: limit(of: upload))
        headers[.location] = "/v1/uploads/\(upload.uniqueID)"
        // Of an empty request the answer itself says it, to clients too that cannot see an interim one.
        if call[.contentLength] != "0" { call.send(.resumable(headers)) }
        return try await take(upload, at: 0, fields, call, session, location: headers[.location])
    }

    private func head(_ call: Call, _ session: Session) async throws -> Response {
        let fields = try UploadFields(call)
        let upload = try await upload(call, session)
        let offset = try await offset(of: upload, session)
        let headers = fields.headers(
            offset: offset, isComplete: upload.isFinished, length: upload.length, limit: limit(of: upload))
        return Response(status: .noContent, headers: headers)
    }

    private func append(_ call: Call, _ session: Session) async throws -> Response {
        let fields = try UploadFields(call)
        guard let offset = fields.offset else {
            throw Problem(
                .invalidField, "Upload-Offset is missing: it says where the bytes go on.", at: "Upload-Offset")
        }
        guard fields.isComplete != nil || fields.version != nil else {
            throw Problem(
                .invalidField, "Upload-Complete is missing: ?1 if the upload ends with this request, else ?0.",
                at: "Upload-Complete")
        }
        let type = call[.contentType]?.prefix { $0 != ";" }.trimmed.lowercased()
        guard !fields.wantsPartialType || type == Uploads.partialType else {
            throw Problem(
                .unsupportedMediaType, "A part of an upload is sent with \"Content-Type: \(Uploads.partialType)\".")
        }
        let upload = try await upload(call, session)
        return try await take(upload, at: offset, fields, call, session, location: nil)
    }

    private func delete(_ call: Call, _ session: Session) async throws -> Response {
        let upload = try await upload(call, session)
        try await end(upload, session)
        return Response(status: .noContent)
    }

    static let partialType = "application/partial-upload"

    // MARK: Parts

    /// Takes what a request brings, and all of the upload if it is the last.
    private func take(
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
        } catch let error as UploadMisplaced {
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
            taken = try await intake.take(upload, staged: stage.path(of: upload.uniqueID), session)
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
        guard let blob else { throw Problem.notFound(upload.attachment) }
        return .taken((blob, false), headers: fields.headers(offset: length, isComplete: true))
    }

    // MARK: The upload

    private func upload(_ call: Call, _ session: Session) async throws -> Upload {
        let id = try call.uniqueID()
        guard let upload = try await backend.store.read({ try $0.upload(id, in: session.scope) }) else {
            throw Problem.notFound(id)
        }
        return upload
    }

    private func offset(of upload: Upload, _ session: Session) async throws -> Int64 {
        if upload.isFinished { return upload.length ?? 0 }
        if let byteCount = try await stage.byteCount(of: upload.uniqueID) { return byteCount }
        // Another server has it, or its disk is gone: it begins anew.
        try await end(upload, session)
        throw Problem.notFound(upload.uniqueID)
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

    private func end(_ upload: Upload, _ session: Session) async throws {
        _ = try await backend.scope(of: session).commit {
            try $0.deleteUpload(upload.uniqueID, in: session.scope)
        }
        try await stage.remove(upload.uniqueID)
    }

    /// `Upload-Limit`.
    private func limit(of upload: Upload) -> String {
        let age = max(backend.now().milliseconds - upload.creationDate.milliseconds, 0) / 1_000
        return "max-size=\(intake.limits.largest), max-age=\(max(Int64(intake.limits.uploadSeconds) - age, 0))"
    }
}

extension Problem {
    static func uploadOffset(_ offset: Int64, asked: Int64) -> Problem {
        Problem(
            .uploadOffset, "\(offset) bytes are here, so they do not go on at \(asked).", at: "Upload-Offset",
            context: ["uploadOffset": .integer(offset)])
    }
}
