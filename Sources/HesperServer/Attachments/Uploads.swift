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
        if let known, let expected, known.data.sha256 == expected, try await backend.blobs.has(known) {
            return .taken((known, false), headers: fields.headers(offset: known.data.byteCount, isComplete: true))
        }
        guard open < intake.limits.openUploads else {
            throw Problem.tooManyRequests("\(open) uploads of this account are under way.", retryAfter: 600)
        }
        let upload = Upload(
            uniqueID: .random(), attachment: attachment, length: fields.length, sha256: expected,
            creationDate: backend.now())
        try await stage.create(upload.uniqueID)
        do {
            try await backend.scope(of: session).commit { transaction in
                // Others may have begun since.
                try admission.check(byteCount: upload.length, in: transaction)
                try transaction.insert(upload, in: session.scope)
            }
        } catch let problem as Problem {
            try await stage.remove(upload.uniqueID)
            throw problem
        }
        var headers = fields.headers(offset: nil, isComplete: nil, limit: limit(of: upload))
        headers[.location] = "/v1/uploads/\(upload.uniqueID)"
        // Only to clients that name the draft that they speak: others, such as Python's http.client, take an interim answer for the
        // answer. Of an empty request the answer itself says it.
        if fields.version != nil, call[.contentLength] != "0" { call.send(.resumable(headers)) }
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

    func end(_ upload: Upload, _ session: Session) async throws {
        _ = try await backend.scope(of: session).commit {
            try $0.deleteUpload(upload.uniqueID, in: session.scope)
        }
        try await stage.remove(upload.uniqueID)
    }

    /// `Upload-Limit`.
    func limit(of upload: Upload) -> String {
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
