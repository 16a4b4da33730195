import Crypto
import Foundation
import HesperClient
import HesperModel

/// The part of a server that transfers use, in memory (protocol.md, Attachments).
struct TransferServer {
    private struct Upload {
        var attachment: String
        var length: Int
        var digest: String
        var bytes: [UInt8] = []
        var isFinished = false
    }

    /// The stored bytes, by the ID of the attachment.
    var blobs: [String: [UInt8]] = [:]
    private var uploads: [String: Upload] = [:]
    private var uploadCount = 0

    /// Loses all unfinished uploads.
    mutating func loseUploads() { uploads = [:] }

    mutating func respond(_ request: ServerRequest) -> ServerResponse {
        let parts = request.path.split(separator: "/").map(String.init)
        switch (request.method, parts[1]) {
        case ("HEAD", "attachments"): return check(parts[2])
        case ("PUT", "attachments"): return put(parts[2], request)
        case ("GET", "attachments"): return get(parts[2], request)
        case ("HEAD", "uploads"): return offset(parts[2])
        case ("PATCH", "uploads"): return append(parts[2], request)
        default: return TransferServer.problem(405, "method-not-allowed")
        }
    }

    static func problem(
        _ status: Int, _ slug: String, pointer: String? = nil, headers: [String: String] = [:]
    ) -> ServerResponse {
        var members: [(String, JSON)] = [("slug", .string(slug)), ("detail", .string("Test."))]
        if let pointer { members.append(("pointer", .string(pointer))) }
        return ServerResponse(status: status, headers: headers, body: JSON.object(JSONObject(members)).bytes)
    }

    static func digest(_ bytes: [UInt8]) -> String {
        "sha-256=:\(Data(SHA256.hash(data: bytes)).base64EncodedString()):"
    }

    private func check(_ id: String) -> ServerResponse {
        guard let bytes = blobs[id] else { return TransferServer.problem(404, "not-found") }
        return ServerResponse(status: 200, headers: ["repr-digest": TransferServer.digest(bytes)])
    }

    private mutating func put(_ id: String, _ request: ServerRequest) -> ServerResponse {
        let digest = request.headers["repr-digest"] ?? ""
        if let bytes = blobs[id], TransferServer.digest(bytes) == digest { return stored(id, 200) }
        guard request.headers["upload-complete"] == "?0" else { return store(id, request.body, digest) }
        uploadCount += 1
        let length = request.headers["upload-length"].flatMap { Int($0) } ?? -1
        uploads["u\(uploadCount)"] = Upload(attachment: id, length: length, digest: digest)
        return ServerResponse(
            status: 201, headers: ["location": "/v1/uploads/u\(uploadCount)"], body: Array(#"{"byteCount":0}"#.utf8))
    }

    private mutating func store(_ id: String, _ bytes: [UInt8], _ digest: String) -> ServerResponse {
        guard TransferServer.digest(bytes) == digest else {
            return TransferServer.problem(422, "invalid-field", pointer: "Repr-Digest")
        }
        guard blobs[id].map({ $0 == bytes }) ?? true else { return TransferServer.problem(409, "immutable") }
        blobs[id] = bytes
        return stored(id, 201)
    }

    private func stored(_ id: String, _ status: Int) -> ServerResponse {
        let hash = SHA256.hash(data: blobs[id] ?? []).hex
        return ServerResponse(
            status: status, headers: ["upload-complete": "?1"], body: Array(#"{"sha256":"\#(hash)"}"#.utf8))
    }

    private func offset(_ id: String) -> ServerResponse {
        guard let upload = uploads[id] else { return TransferServer.problem(404, "not-found") }
        return ServerResponse(
            status: 204,
            headers: [
                "upload-offset": String(upload.bytes.count), "upload-complete": upload.isFinished ? "?1" : "?0",
            ])
    }

    private mutating func append(_ id: String, _ request: ServerRequest) -> ServerResponse {
        guard var upload = uploads[id] else { return TransferServer.problem(404, "not-found") }
        let offset = request.headers["upload-offset"].flatMap { Int($0) } ?? -1
        guard request.headers["content-type"] == "application/partial-upload" else {
            return TransferServer.problem(415, "unsupported-media-type")
        }
        if upload.isFinished, offset == upload.length { return stored(upload.attachment, 200) }
        guard offset == upload.bytes.count else {
            return TransferServer.problem(
                409, "upload-offset", headers: ["upload-offset": String(upload.bytes.count), "upload-complete": "?0"])
        }
        guard request.headers["content-digest"] == TransferServer.digest(request.body) else {
            return TransferServer.problem(422, "invalid-field", pointer: "Content-Digest")
        }
        upload.bytes += request.body
        defer { uploads[id] = upload }
        guard request.headers["upload-complete"] == "?1" else {
            return ServerResponse(status: 204, headers: ["upload-offset": String(upload.bytes.count)])
        }
        guard upload.bytes.count == upload.length else {
            return TransferServer.problem(422, "invalid-field", pointer: "Upload-Complete")
        }
        upload.isFinished = true
        return store(upload.attachment, upload.bytes, upload.digest)
    }

    private func get(_ id: String, _ request: ServerRequest) -> ServerResponse {
        guard let bytes = blobs[id] else { return TransferServer.problem(404, "not-found") }
        guard let match = request.headers["range"]?.wholeMatch(of: /bytes=(\d+)-(\d+)/), let from = Int(match.1),
            let to = Int(match.2)
        else { return ServerResponse(status: 200, body: bytes) }
        guard from < bytes.count else { return TransferServer.problem(416, "range-not-satisfiable") }
        let end = min(to + 1, bytes.count)
        return ServerResponse(
            status: 206, headers: ["content-range": "bytes \(from)-\(end - 1)/\(bytes.count)"],
            body: Array(bytes[from..<end]))
    }
}
