internal import Foundation
internal import HesperClient
internal import HesperModel

/// The bytes of attachments, and resumable uploads (protocol.md, Attachments).
extension ServerCore {
    mutating func data(of id: UniqueID, _ request: ServerRequest, _ caller: Caller) throws -> ServerResponse {
        guard request.method == "PUT" else { return try download(id, request, caller) }
        if let complete = request.headers["upload-complete"] {
            return try begin(id, request, caller, isComplete: complete == "?1")
        }
        let digest = try ServerCore.sha256("repr-digest", request) ?? ServerCore.sha256("content-digest", request)
        let known = try admit(request.body.count, for: id, caller)
        if let known, let digest {
            guard known.data.sha256 == digest else { throw ServerCore.immutable(id) }
            return stored(known, id, isNew: false)
        }
        return try store(request.body, as: id, sha256: digest, caller)
    }

    private mutating func store(
        _ bytes: [UInt8], as id: UniqueID, sha256: String?, _ caller: Caller, upload: UniqueID? = nil,
        headers: [String: String] = [:]
    ) throws -> ServerResponse {
        let file = MemoryFiles.File(bytes)
        if let sha256, sha256 != file.data.sha256 {
            throw Problem(
                .invalidField, "The digest of the received bytes differs from Repr-Digest. Nothing was stored.",
                at: "Repr-Digest")
        }
        if let known = try admit(bytes.count, for: id, caller, upload: upload) {
            guard known.data == file.data else { throw ServerCore.immutable(id) }
            return stored(known, id, isNew: false, headers: headers)
        }
        // If the server lost the bytes of an attachment, only the same bytes can replace them.
        if case .entity(.attachment(let attachment), _)? = accounts[caller.account].scope.states[id],
            let hash = attachment[.sha256], hash != .string(file.data.sha256)
        {
            throw ServerCore.immutable(id)
        }
        accounts[caller.account].scope.files.add(file, as: id)
        return stored(file, id, isNew: true, headers: headers)
    }

    private func stored(
        _ file: MemoryFiles.File, _ id: UniqueID, isNew: Bool, headers: [String: String] = [:]
    ) -> ServerResponse {
        var headers = headers
        headers["etag"] = "\"\(file.data.sha256)\""
        if isNew { headers["location"] = "/v1/attachments/\(id)/data" }
        return .object(isNew ? 201 : 200, headers: headers) { writer in
            writer.member("uniqueID", id)
            writer.member("byteCount", file.data.byteCount)
            writer.member("sha256", file.data.sha256)
        }
    }

    /// Checks whether bytes may be uploaded for an attachment.
    /// - Returns: the bytes of the attachment that the server already has; nil if it has none.
    private func admit(
        _ byteCount: Int?, for id: UniqueID, _ caller: Caller, upload: UniqueID? = nil
    ) throws(Problem) -> MemoryFiles.File? {
        let scope = accounts[caller.account].scope
        switch scope.states[id] {
        case .deleted(let deleted, _)?: throw Problem(deleted: deleted)
        case .entity(let entity, _)? where entity.section != .attachments:
            throw Problem(
                .immutable, "\(id) is the ID of an existing \(entity.objectType?.name ?? "object"). Use another ID.")
        case .entity?, nil: break
        }
        if let known = scope.files[id] {
            if let byteCount, byteCount != known.bytes.count { throw ServerCore.immutable(id) }
            return known
        }
        if let byteCount, byteCount > largestAttachment { throw tooLarge }
        guard let limit = scope.quota else { return nil }
        if let upload, let length = scope.files.uploads[upload]?.length, length == byteCount { return nil }
        let used = scope.storedBytes + scope.files.reservedBytes(largest: largestAttachment, except: upload)
        guard Int64(byteCount ?? 1) <= limit - used else { throw Problem.quotaExceeded(used: used, limit: limit) }
        return nil
    }

    private static func immutable(_ id: UniqueID) -> Problem {
        Problem(.immutable, "Attachment \(id) already has other bytes, which cannot be changed.")
    }

    private var tooLarge: Problem {
        Problem(
            .tooLarge, "An attachment must have at most \(largestAttachment) bytes on this server.",
            context: ["limit": .integer(Int64(largestAttachment))])
    }

    /// The SHA-256 hash in a digest header (RFC 9530), in hexadecimal; nil if the request has no such header.
    private static func sha256(_ name: String, _ request: ServerRequest) throws(Problem) -> String? {
        guard let text = request.headers[name] else { return nil }
        guard text.hasPrefix("sha-256=:"), text.hasSuffix(":"),
            let bytes = Data(base64Encoded: String(text.dropFirst(9).dropLast())), bytes.count == 32
        else {
            throw Problem(
                .invalidField, "\(name) must have the form sha-256=:…:, with 44 characters of base64.", at: name)
        }
        return bytes.hex
    }

    // MARK: Downloads

    private func download(_ id: UniqueID, _ request: ServerRequest, _ caller: Caller) throws -> ServerResponse {
        let scope = accounts[caller.account].scope
        if case .deleted(let deleted, _)? = scope.states[id], deleted.objectType == .attachment {
            throw Problem(deleted: deleted)
        }
        guard let file = scope.files[id] else { throw Problem.notFound(id) }
        let digest = "sha-256=:\(Data(MemoryFiles.bytes(hex: file.data.sha256)).base64EncodedString()):"
        var headers = [
            "etag": "\"\(file.data.sha256)\"", "accept-ranges": "bytes", "repr-digest": digest,
            "content-type": "application/octet-stream", "cache-control": "private, max-age=31536000, immutable",
        ]
        if request.headers["if-none-match"] == headers["etag"] { return ServerResponse(status: 304, headers: headers) }
        let allowsRange = request.headers["if-range"].map { $0 == headers["etag"] } ?? true
        if request.method == "GET", allowsRange, let text = request.headers["range"],
            let range = try ServerCore.range(text, of: file.bytes.count)
        {
            headers["content-range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.bytes.count)"
            return ServerResponse(status: 206, headers: headers, body: Array(file.bytes[range]))
        }
        headers["content-digest"] = digest
        return ServerResponse(status: 200, headers: headers, body: file.bytes)
    }

    /// The range in a header `Range` with a single range; nil if the header must be ignored.
    private static func range(_ text: String, of byteCount: Int) throws(Problem) -> Range<Int>? {
        guard text.hasPrefix("bytes="), !text.contains(",") else { return nil }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        var range = 0..<0
        if ends[0].isEmpty {
            guard let last = Int(ends[1]) else { return nil }
            range = byteCount - min(last, byteCount)..<byteCount
        } else {
            guard let first = Int(ends[0]) else { return nil }
            let last = ends[1].isEmpty ? byteCount - 1 : Int(ends[1])
            guard let last, last >= first || ends[1].isEmpty else { return nil }
            range = first < byteCount ? first..<min(last, byteCount - 1) + 1 : 0..<0
        }
        guard !range.isEmpty else {
            throw Problem(
                .rangeNotSatisfiable,
                "The range \(text.prefix(100)) is outside the content, which has \(byteCount) bytes.", at: "Range",
                context: ["byteCount": .integer(Int64(byteCount))])
        }
        return range
    }

    // MARK: Resumable uploads

    private mutating func begin(
        _ attachment: UniqueID, _ request: ServerRequest, _ caller: Caller, isComplete: Bool
    ) throws -> ServerResponse {
        let digest = try ServerCore.sha256("repr-digest", request)
        let length = request.headers["upload-length"].flatMap { Int($0) } ?? (isComplete ? request.body.count : nil)
        if let known = try admit(length, for: attachment, caller), let digest, known.data.sha256 == digest {
            return stored(
                known, attachment, isNew: false,
                headers: ["upload-complete": "?1", "upload-offset": String(known.bytes.count)])
        }
        let id = newID()
        accounts[caller.account].scope.files.uploads[id] = MemoryFiles.Upload(
            attachment: attachment, length: length, sha256: digest)
        var response = try append(request, to: id, at: 0, isComplete: isComplete, caller)
        guard response.status == 204 else { return response }
        response.headers["location"] = "/v1/uploads/\(id)"
        return .object(201, headers: response.headers) { writer in
            writer.member("uniqueID", attachment)
            writer.member("byteCount", Int64(request.body.count))
        }
    }

    mutating func upload(_ id: UniqueID, _ request: ServerRequest, _ caller: Caller) throws -> ServerResponse {
        guard let upload = accounts[caller.account].scope.files.uploads[id] else { throw Problem.notFound(id) }
        switch request.method {
        case "HEAD":
            var headers = [
                "upload-offset": String(upload.offset), "upload-complete": upload.isFinished ? "?1" : "?0",
                "cache-control": "no-store",
            ]
            if let length = upload.length { headers["upload-length"] = String(length) }
            return ServerResponse(status: 204, headers: headers)
        case "DELETE":
            accounts[caller.account].scope.files.uploads[id] = nil
            return ServerResponse(status: 204)
        default:
            guard let offset = request.headers["upload-offset"].flatMap({ Int($0) }) else {
                throw Problem(
                    .invalidField, "Upload-Offset is missing. It must be the number of bytes uploaded so far.",
                    at: "Upload-Offset")
            }
            guard let complete = request.headers["upload-complete"] else {
                throw Problem(
                    .invalidField, "Upload-Complete is missing. It must be ?1 if the upload ends with this request.",
                    at: "Upload-Complete")
            }
            guard request.headers["content-type"] == "application/partial-upload" else {
                throw Problem(
                    .unsupportedMediaType, "A part must have \"Content-Type: application/partial-upload\".")
            }
            return try append(request, to: id, at: offset, isComplete: complete == "?1", caller)
        }
    }

    private mutating func append(
        _ request: ServerRequest, to id: UniqueID, at offset: Int, isComplete: Bool, _ caller: Caller
    ) throws -> ServerResponse {
        guard var upload = accounts[caller.account].scope.files.uploads[id] else { throw Problem.notFound(id) }
        guard offset == upload.offset else {
            throw Problem(
                .uploadOffset, "Upload-Offset must be \(upload.offset), the number of bytes received, not \(offset).",
                at: "Upload-Offset", context: ["uploadOffset": .integer(Int64(upload.offset))])
        }
        if upload.isFinished {
            guard let file = accounts[caller.account].scope.files[upload.attachment] else {
                throw Problem.notFound(upload.attachment)
            }
            return stored(
                file, upload.attachment, isNew: false,
                headers: ["upload-complete": "?1", "upload-offset": String(upload.offset)])
        }
        let end = offset + request.body.count
        guard end <= largestAttachment else { throw tooLarge }
        guard end <= upload.length ?? .max, !isComplete || end == upload.length ?? end else {
            throw Problem(
                .invalidField, "The upload has \(end) bytes, but its declared length is \(upload.length ?? 0).",
                at: "Upload-Length")
        }
        if let sha256 = try ServerCore.sha256("content-digest", request),
            sha256 != MemoryFiles.File(request.body).data.sha256
        {
            throw Problem(
                .invalidField, "The digest of the received bytes differs from Content-Digest. Nothing was stored.",
                at: "Content-Digest")
        }
        upload.bytes += request.body
        accounts[caller.account].scope.files.uploads[id] = upload
        guard isComplete else {
            return ServerResponse(status: 204, headers: ["upload-offset": String(end), "upload-complete": "?0"])
        }
        do {
            let response = try store(
                upload.bytes, as: upload.attachment, sha256: upload.sha256, caller, upload: id,
                headers: ["upload-complete": "?1", "upload-offset": String(end)])
            upload.finish()
            accounts[caller.account].scope.files.uploads[id] = upload
            return response
        } catch {
            // Removes the upload, because another attempt to complete it would fail in the same way.
            accounts[caller.account].scope.files.uploads[id] = nil
            throw error
        }
    }
}

extension MemoryFiles.Upload {
    /// The number of bytes of the upload that the server has received.
    fileprivate var offset: Int { isFinished ? length ?? 0 : bytes.count }

    /// Marks the upload as complete. The attachment now has the uploaded bytes.
    fileprivate mutating func finish() {
        length = bytes.count
        bytes = []
        isFinished = true
    }
}

extension MemoryFiles {
    /// The bytes of a hash that is written in hexadecimal digits.
    fileprivate static func bytes(hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
