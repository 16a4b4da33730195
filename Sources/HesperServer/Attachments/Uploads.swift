import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// `/v1/uploads/{uniqueID}`: uploads that can be resumed after an interruption (draft-ietf-httpbis-resumable-upload; protocol.md,
/// Attachments).
struct Uploads: Resource {
    let backend: Backend
    let intake: AttachmentIntake
    let stage: any UploadStage

    func add(to routes: inout Routes) {
        routes.on(.head, "/v1/uploads/{uniqueID}", cache: .never, tokens: .write, use: head)
        routes.patch("/v1/uploads/{uniqueID}", cache: .never, tokens: .write, use: append)
        routes.delete("/v1/uploads/{uniqueID}", cache: .never, tokens: .write, use: delete)
    }

    /// Handles the first request of an upload, which the client sends to `/v1/attachments/{uniqueID}/data`.
    func begin(
        for attachment: UniqueID, _ fields: UploadFields, _ request: APIRequest, _ session: Session
    ) async throws -> Response {
        let admission = intake.admission(of: attachment, session)
        let expected = try DigestFields.sha256(.reprDigest, in: request)
        let (known, open) = try await backend.store.read { snapshot in
            (
                try admission.check(byteCount: fields.length, in: snapshot),
                try snapshot.openUploads(of: session.scope).count
            )
        }
        if let known, let expected, known.data.sha256 == expected, try await backend.blobs.has(known) {
            return .stored((known, false), headers: fields.headers(offset: known.data.byteCount, isComplete: true))
        }
        guard open < intake.limits.openUploads else {
            throw Problem.tooManyRequests(
                "This account has \(open) unfinished uploads. Finish or delete one of them first.", retryAfter: 600)
        }
        let upload = Upload(
            uniqueID: .random(), attachment: attachment, length: fields.length, sha256: expected,
            creationDate: backend.now())
        try await stage.create(upload.uniqueID)
        do {
            try await backend.scope(of: session).commit { transaction in
                // Checks again, because concurrent requests may have begun or completed uploads since the first check.
                try admission.check(byteCount: upload.length, in: transaction)
                try transaction.insert(upload, in: session.scope)
            }
        } catch let problem as Problem {
            try await stage.remove(upload.uniqueID)
            throw problem
        }
        var headers = fields.headers(offset: nil, isComplete: nil, limit: limit(of: upload))
        headers[.location] = "/v1/uploads/\(upload.uniqueID)"
        // The interim response is sent only to clients that state their draft version. Other clients, such as Python's
        // http.client, would mistake the interim response for the final response. If the body of the request is empty, no interim
        // response is needed, because the final response follows immediately.
        if fields.version != nil, request[.contentLength] != "0" { request.send(.resumable(headers)) }
        return try await receive(upload, at: 0, fields, request, session, location: headers[.location])
    }

    private func head(_ request: APIRequest, _ session: Session) async throws -> Response {
        let fields = try UploadFields(request)
        let upload = try await upload(request, session)
        let offset = try await offset(of: upload, session)
        let headers = fields.headers(
            offset: offset, isComplete: upload.isFinished, length: upload.length, limit: limit(of: upload))
        return Response(status: .noContent, headers: headers)
    }

    private func append(_ request: APIRequest, _ session: Session) async throws -> Response {
        let part = try UploadPart(request)
        let upload = try await upload(request, session)
        return try await receive(upload, at: part.offset, part.fields, request, session, location: nil)
    }

    private func delete(_ request: APIRequest, _ session: Session) async throws -> Response {
        let upload = try await upload(request, session)
        try await end(upload, session)
        return Response(status: .noContent)
    }

    // MARK: Helpers

    private func upload(_ request: APIRequest, _ session: Session) async throws -> Upload {
        let id = try request.uniqueID()
        guard let upload = try await backend.store.read({ try $0.upload(id, in: session.scope) }) else {
            throw Problem.notFound(id)
        }
        return upload
    }

    private func offset(of upload: Upload, _ session: Session) async throws -> Int64 {
        if upload.isFinished { return upload.length ?? 0 }
        if let byteCount = try await stage.byteCount(of: upload.uniqueID) { return byteCount }
        // The received bytes are on the disk of another server, or they were lost. The client must start a new upload.
        try await end(upload, session)
        throw Problem.notFound(upload.uniqueID)
    }

    func end(_ upload: Upload, _ session: Session) async throws {
        _ = try await backend.scope(of: session).commit {
            try $0.deleteUpload(upload.uniqueID, in: session.scope)
        }
        try await stage.remove(upload.uniqueID)
    }

    /// The value of the header `Upload-Limit`: the maximum size in bytes, and the number of seconds until an unfinished upload is
    /// removed.
    func limit(of upload: Upload) -> String {
        let age = max(backend.now().milliseconds - upload.creationDate.milliseconds, 0) / 1_000
        return "max-size=\(intake.limits.largest), max-age=\(max(Int64(intake.limits.uploadSeconds) - age, 0))"
    }
}
