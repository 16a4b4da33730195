import HTTPTypes
import HesperModel
import RawStructuredFieldValues

/// The headers of a request that belongs to a resumable upload (draft-ietf-httpbis-resumable-upload). All versions of the draft
/// that clients use are supported. For example, URLSession of iOS 17 sends `Upload-Incomplete`, the predecessor of
/// `Upload-Complete`.
struct UploadFields: Sendable {
    /// The interop version of the resumable-upload draft that the client uses. Nil if the client sent no version, as clients of the
    /// newest draft do.
    let version: Int?
    /// Whether the request completes the upload; nil if the request has neither `Upload-Complete` nor `Upload-Incomplete`.
    let isComplete: Bool?
    let offset: Int64?
    let length: Int64?

    /// The highest interop version of the draft that uses `Upload-Incomplete`.
    private static let lastWithIncomplete = 3
    /// The highest interop version of the draft that uses the status 201 for parts that do not complete the upload. Later versions
    /// use 204.
    private static let lastWithCreated = 6

    init(_ request: APIRequest) throws(Problem) {
        version = request[.uploadDraftInteropVersion].flatMap { Int($0) }
        if let incomplete = try UploadFields.bool(.uploadIncomplete, request) {
            isComplete = !incomplete
        } else {
            isComplete = try UploadFields.bool(.uploadComplete, request)
        }
        let begin = try UploadFields.integer(.uploadOffset, request)
        let declared = try UploadFields.integer(.uploadLength, request)
        // If the request completes the upload, its offset and its `Content-Length` add up to the length of the upload.
        let rest = isComplete == true ? request[.contentLength].flatMap { Int64($0) } : nil
        let derived = rest.map { (begin ?? 0) + min($0, 1 << 60) }
        if let declared, let derived, declared != derived {
            throw Problem(
                .invalidField,
                "Upload-Length is \(declared), but Upload-Offset and Content-Length add up to \(derived).",
                at: "Upload-Length")
        }
        offset = begin
        length = declared ?? derived
    }

    /// The headers of a response about an upload, in the draft version that the client uses. If a parameter is nil, its header is
    /// left out.
    func headers(offset: Int64?, isComplete: Bool?, length: Int64? = nil, limit: String? = nil) -> HTTPFields {
        var headers = HTTPFields()
        if let version { headers[.uploadDraftInteropVersion] = String(version) }
        if let isComplete {
            if version ?? .max <= UploadFields.lastWithIncomplete {
                headers[.uploadIncomplete] = isComplete ? "?0" : "?1"
            } else {
                headers[.uploadComplete] = isComplete ? "?1" : "?0"
            }
        }
        if let offset { headers[.uploadOffset] = String(offset) }
        if let length { headers[.uploadLength] = String(length) }
        if let limit { headers[.uploadLimit] = limit }
        return headers
    }

    /// The status of the response to a part that does not complete the upload.
    var appendedStatus: HTTPResponse.Status {
        version ?? .max <= UploadFields.lastWithCreated ? .created : .noContent
    }

    /// Whether a part must have the media type `application/partial-upload`. Older drafts do not require it.
    var wantsPartialType: Bool { version ?? .max >= UploadFields.lastWithCreated }

    private static func bool(_ name: HTTPField.Name, _ request: APIRequest) throws(Problem) -> Bool? {
        guard let text = request[name] else { return nil }
        guard case .bool(let value)? = item(text) else {
            throw Problem(.invalidField, "\(name) must be ?1 or ?0.", at: name.rawName)
        }
        return value
    }

    private static func integer(_ name: HTTPField.Name, _ request: APIRequest) throws(Problem) -> Int64? {
        guard let text = request[name] else { return nil }
        guard case .integer(let value)? = item(text), value >= 0 else {
            throw Problem(.invalidField, "\(name) must be a whole number of at least 0.", at: name.rawName)
        }
        return Int64(value)
    }

    private static func item(_ text: String) -> RFC9651BareItem? {
        var parser = StructuredFieldValueParser(Array(text.utf8))
        return (try? parser.parseItemFieldValue())?.rfc9651BareItem
    }
}

extension HTTPField.Name {
    static let uploadDraftInteropVersion = HTTPField.Name("Upload-Draft-Interop-Version") ?? .date
    static let uploadComplete = HTTPField.Name("Upload-Complete") ?? .date
    static let uploadIncomplete = HTTPField.Name("Upload-Incomplete") ?? .date
    static let uploadOffset = HTTPField.Name("Upload-Offset") ?? .date
    static let uploadLength = HTTPField.Name("Upload-Length") ?? .date
    static let acceptPatch = HTTPField.Name("Accept-Patch") ?? .date
    static let uploadLimit = HTTPField.Name("Upload-Limit") ?? .date
}
