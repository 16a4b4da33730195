import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird
import NIOCore

/// `/v1/attachments/{uniqueID}/data`: upload and download of attachments (protocol.md, Attachments).
struct AttachmentBytes: Resource {
    let backend: Backend
    let intake: AttachmentIntake
    let uploads: Uploads

    func add(to routes: inout Routes) {
        routes.get("/v1/attachments/{uniqueID}/data", cache: .immutable, tokens: .read, use: get)
        routes.on(.head, "/v1/attachments/{uniqueID}/data", cache: .immutable, tokens: .read, use: get)
        routes.put("/v1/attachments/{uniqueID}/data", cache: .never, tokens: .write, use: put)
        // The headers of the response to OPTIONS announce that uploads can be resumed (draft-ietf-httpbis-resumable-upload,
        // Upload Limits).
        let limit = "max-size=\(intake.limits.largest), max-age=\(intake.limits.uploadSeconds)"
        routes.addOptions(
            [.acceptPatch: UploadPart.mediaType, .uploadLimit: limit], at: "/v1/attachments/{uniqueID}/data")
    }

    // MARK: Upload

    private func put(_ request: APIRequest, _ session: Session) async throws -> Response {
        let id = try request.uniqueID()
        let fields = try UploadFields(request)
        if fields.isComplete != nil { return try await uploads.begin(for: id, fields, request, session) }
        let bytes = try request.bytes(
            limit: intake.limits.largest, tooLarge: intake.admission(of: id, session).tooLarge)
        let stored = try await intake.store(
            bytes, expecting: try DigestFields.expectation(in: request), for: id, session)
        return .stored(stored)
    }

    // MARK: Download

    private func get(_ request: APIRequest, _ session: Session) async throws -> Response {
        let id = try request.uniqueID()
        let scope = session.scope
        let (blob, attachment) = try await backend.store.read { snapshot in
            let state = try snapshot.state(of: id, in: scope)
            if case .deleted(let deleted, _)? = state, deleted.objectType == .attachment {
                throw Problem(deleted: deleted)
            }
            guard let blob = try snapshot.blob(of: id, in: scope) else { throw Problem.notFound(id) }
            guard case .entity(.attachment(let attachment), _)? = state else { return (blob, Attachment?.none) }
            return (blob, attachment)
        }
        let tag = ETag(sha256: blob.data.sha256)
        if let list = request[.ifMatch], !tag.matches(list) {
            throw Problem(
                .preconditionFailed, "If-Match must contain the ETag of the stored bytes, which never change.")
        }
        if let list = request[.ifNoneMatch], tag.matches(list) {
            return Response(status: .notModified, headers: [.eTag: tag.text])
        }
        var download = Download(blob: blob, attachment: attachment, tag: tag)
        if request.http.method == .get, let range = request[.range], download.allowsRange(ifRange: request[.ifRange]) {
            try download.select(range)
        }
        return try await download.response(from: backend.blobs, isHead: request.http.method == .head)
    }
}

extension Response {
    /// The response to a complete upload: 201 if the upload created the blob, 200 if the same bytes were already stored.
    static func stored(_ stored: (blob: Blob, isNew: Bool), headers: HTTPFields = [:]) -> Response {
        let blob = stored.blob
        var headers = headers
        headers[.eTag] = ETag(sha256: blob.data.sha256).text
        if stored.isNew { headers[.location] = "/v1/attachments/\(blob.name.attachment)/data" }
        return .object(status: stored.isNew ? .created : .ok, headers: headers) { writer in
            writer.member("uniqueID", blob.name.attachment)
            writer.member("byteCount", blob.data.byteCount)
            writer.member("sha256", blob.data.sha256)
        }
    }
}
