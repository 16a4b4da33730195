import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// A request that appends a part to a resumable upload (draft-ietf-httpbis-resumable-upload).
struct UploadPart: Sendable {
    static let mediaType = "application/partial-upload"

    let fields: UploadFields
    /// The number of bytes that the client sent in earlier requests, according to `Upload-Offset`.
    let offset: Int64

    /// - Throws: ``Problem`` if a header is missing or invalid.
    init(_ request: APIRequest) throws(Problem) {
        fields = try UploadFields(request)
        guard let offset = fields.offset else {
            throw Problem(
                .invalidField, "Upload-Offset is missing. It must be the number of bytes uploaded so far.",
                at: "Upload-Offset")
        }
        self.offset = offset
        guard fields.isComplete != nil || fields.version != nil else {
            throw Problem(
                .invalidField,
                "Upload-Complete is missing. It must be ?1 if the upload ends with this request, else ?0.",
                at: "Upload-Complete")
        }
        guard !fields.wantsPartialType || request.mediaType == UploadPart.mediaType else {
            throw Problem(
                .unsupportedMediaType, "A part of an upload must have \"Content-Type: \(UploadPart.mediaType)\".")
        }
    }

    /// Appends the body of a request to a staged upload, and checks it against the header `Content-Digest`.
    /// - Parameters:
    ///   - limit: the maximum length of the upload.
    ///   - tooLarge: the error if `limit` is exceeded.
    /// - Returns: the new length of the upload.
    /// - Throws: ``UploadMissing`` if the upload does not exist.
    static func append(
        _ bytes: BodyBytes, of request: APIRequest, to id: UniqueID, in stage: any UploadStage, at offset: Int64,
        limit: Int64, orThrow tooLarge: Problem
    ) async throws -> Int64 {
        do {
            return try await stage.append(bytes, to: id, at: offset, limit: limit, checking: try digest(request))
        } catch let error as UploadOffsetMismatch {
            throw Problem.uploadOffset(error.offset, requested: offset)
        } catch is UploadTooLong {
            throw tooLarge
        } catch is UploadSuperseded {
            throw Problem(
                .uploadOffset,
                "Another request has taken over this upload. Get the number of received bytes with HEAD, and continue there."
            )
        }
    }

    /// Returns a function that checks a part against the header `Content-Digest`; nil if the request has no such header.
    private static func digest(_ request: APIRequest) throws -> (@Sendable (AttachmentData) throws -> Void)? {
        guard let sha256 = try DigestFields.sha256(.contentDigest, in: request) else { return nil }
        return { data in
            guard data.sha256 == sha256 else { throw DigestFields.mismatch(.contentDigest, found: data.sha256) }
        }
    }
}

extension Problem {
    static func uploadOffset(_ offset: Int64, requested: Int64) -> Problem {
        Problem(
            .uploadOffset, "Upload-Offset must be \(offset), the number of bytes received, not \(requested).",
            at: "Upload-Offset",
            context: ["uploadOffset": .integer(offset)])
    }
}
