import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird
import NIOCore

/// `/v1/attachments/{uniqueID}/data`: the bytes of attachments, up and down (protocol.md, Attachments).
struct AttachmentBytes: Resource {
    let backend: Backend
    let intake: AttachmentIntake
    let uploads: Uploads

    func add(to routes: inout Routes) {
        routes.get("/v1/attachments/{uniqueID}/data", keeping: .forever, use: get)
        routes.on(.head, "/v1/attachments/{uniqueID}/data", keeping: .forever, use: get)
        routes.put("/v1/attachments/{uniqueID}/data", keeping: .never, use: put)
        // How a client learns that uploads can be resumed here (the draft's Upload Limits).
        let limit = "max-size=\(intake.limits.largest), max-age=\(intake.limits.uploadSeconds)"
        routes.announce(
            [.acceptPatch: Uploads.partialType, .uploadLimit: limit], at: "/v1/attachments/{uniqueID}/data")
    }

    // MARK: Up

    private func put(_ call: Call, _ session: Session) async throws -> Response {
        let id = try call.uniqueID()
        let fields = try UploadFields(call)
        if fields.isComplete != nil { return try await uploads.begin(for: id, fields, call, session) }
        let bytes = try call.bytes(limit: intake.limits.largest, tooLarge: intake.admission(of: id, session).tooLarge)
        let taken = try await intake.take(
            bytes, expecting: try DigestFields.expectation(in: call), for: id, session)
        return .taken(taken)
    }

    // MARK: Down

    private func get(_ call: Call, _ session: Session) async throws -> Response {
        let id = try call.uniqueID()
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
        if let list = call[.ifMatch], !tag.isIn(list) {
            throw Problem(.preconditionFailed, "The bytes are not those that If-Match names; they never change.")
        }
        if let list = call[.ifNoneMatch], tag.isIn(list) {
            return Response(status: .notModified, headers: [.eTag: tag.text])
        }
        var download = Download(blob: blob, attachment: attachment, tag: tag)
        if call.request.method == .get, let range = call[.range], download.mayBeInParts(ifRange: call[.ifRange]) {
            try download.select(range)
        }
        return try await download.response(from: backend.blobs, isHead: call.request.method == .head)
    }
}

extension Response {
    /// What is known of bytes that came.
    static func taken(_ taken: (blob: Blob, isNew: Bool), headers: HTTPFields = [:]) -> Response {
        let blob = taken.blob
        var headers = headers
        headers[.eTag] = ETag(sha256: blob.data.sha256).text
        if taken.isNew { headers[.location] = "/v1/attachments/\(blob.name.attachment)/data" }
        return .object(status: taken.isNew ? .created : .ok, headers: headers) { writer in
            writer.member("uniqueID", blob.name.attachment)
            writer.member("byteCount", blob.data.byteCount)
            writer.member("sha256", blob.data.sha256)
        }
    }
}
