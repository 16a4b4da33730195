import HTTPTypes
import HesperModel
import RawStructuredFieldValues

/// The header fields of resumable uploads, in the words of the drafts that clients speak
/// (draft-ietf-httpbis-resumable-upload; URLSession of iOS 17 says `Upload-Incomplete` for what is `Upload-Complete` now).
struct UploadFields: Sendable {
    /// What the client says it speaks; nil for the newest draft, which has no number.
    let version: Int?
    /// Whether the request ends the upload; nil if it says nothing of uploads.
    let isComplete: Bool?
    let offset: Int64?
    let length: Int64?

    /// Up to this version, completeness is said the other way round.
    private static let lastWithIncomplete = 3
    /// Up to this version, the answer to what does not end an upload is 201.
    private static let lastWithCreated = 6

    init(_ call: Call) throws(Problem) {
        version = call[.uploadDraftInteropVersion].flatMap { Int($0) }
        if let incomplete = try UploadFields.bool(.uploadIncomplete, call) {
            isComplete = !incomplete
        } else {
            isComplete = try UploadFields.bool(.uploadComplete, call)
        }
        let begin = try UploadFields.integer(.uploadOffset, call)
        let said = try UploadFields.integer(.uploadLength, call)
        // A request that ends an upload tells its length by its own.
        let rest = isComplete == true ? call[.contentLength].flatMap { Int64($0) } : nil
        let derived = rest.map { (begin ?? 0) + min($0, 1 << 60) }
        if let said, let derived, said != derived {
            throw Problem(
                .invalidField, "Upload-Length is \(said), but offset and Content-Length make \(derived).",
                at: "Upload-Length")
        }
        offset = begin
        length = said ?? derived
    }

    /// What an answer says of an upload.
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

    /// The status of an answer to what was appended and is not the end.
    var appendedStatus: HTTPResponse.Status {
        version ?? .max <= UploadFields.lastWithCreated ? .created : .noContent
    }

    /// The type that a part must be said to have; older drafts say nothing of it.
    var wantsPartialType: Bool { version ?? .max >= UploadFields.lastWithCreated }

    private static func bool(_ name: HTTPField.Name, _ call: Call) throws(Problem) -> Bool? {
        guard let text = call[name] else { return nil }
        guard case .bool(let value)? = item(text) else {
            throw Problem(.invalidField, "\(name) is ?1 or ?0.", at: name.rawName)
        }
        return value
    }

    private static func integer(_ name: HTTPField.Name, _ call: Call) throws(Problem) -> Int64? {
        guard let text = call[name] else { return nil }
        guard case .integer(let value)? = item(text), value >= 0 else {
            throw Problem(.invalidField, "\(name) is a whole number from 0.", at: name.rawName)
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
