internal import Crypto
internal import Foundation
internal import HesperModel

/// The outcome of a request of a transfer.
enum TransferOutcome: Equatable {
    /// Continue with the next request of this transfer.
    case progress
    case finished
    /// The attachment was deleted on the server.
    case deleted
    /// The state of the upload on the server differs from the state that this device assumed. Continue with another request.
    case restart
    case noResponse
    case refused(ServerProblem)
    /// The response does not fit the request, for example because a proxy sent it. The transfer is postponed.
    case unexpected(status: Int)
}

/// Uploads files in parts, with the requests for resumable uploads (protocol.md, Resumable uploads). A small file is sent in one
/// request.
struct TransferUploads: Sendable {
    /// The size of a part, in bytes. It is halved when a part does not arrive, and doubled when a part arrives, up to the initial
    /// size.
    private(set) var partBytes: Int
    private let maximumPartBytes: Int
    /// The number of bytes of each upload that the server has acknowledged. After an error, this offset is unknown and must be
    /// requested from the server.
    private var offsets: [UniqueID: Int64] = [:]
    /// The attachments whose bytes were sent in one request that received no response. The server may have received these bytes.
    private var unsure: Set<UniqueID> = []

    private static let minimumPartBytes = 256 << 10

    init(partBytes: Int) {
        self.partBytes = partBytes
        maximumPartBytes = partBytes
    }

    enum Step: Equatable {
        /// Checks whether the server has the attachment's bytes.
        case check
        /// Sends all bytes in one request.
        case whole
        /// Begins a resumable upload.
        case begin
        /// Requests the offset of a resumable upload.
        case offset
        /// Sends the part of the file that ends at this offset.
        case part(end: Int64)
    }

    /// Forgets the state of uploads in progress, because another process may have continued them.
    mutating func reset() {
        offsets = [:]
        unsure = []
    }

    /// The next request of an upload.
    /// - Parameter file: the name of the file with the attachment's bytes.
    /// - Throws: ``AttachmentFilesError`` if the file cannot be read.
    func next(
        _ row: TransferRow, _ file: UniqueID, _ files: any AttachmentFiles
    ) throws -> (step: Step, request: ServerRequest) {
        let dataPath = "/v1/attachments/\(row.id)/data"
        let digest = ["repr-digest": TransferUploads.field(Hex.bytes(row.data.sha256))]
        guard let location = row.location else {
            if unsure.contains(row.id) { return (.check, ServerRequest("HEAD", dataPath)) }
            guard row.data.byteCount > Int64(partBytes) else {
                let bytes = try piece(row, file, files, at: 0, count: partBytes)
                return (.whole, ServerRequest("PUT", dataPath, headers: digest, body: bytes))
            }
            let headers = ["upload-complete": "?0", "upload-length": String(row.data.byteCount)]
            return (.begin, ServerRequest("PUT", dataPath, headers: headers.merging(digest) { $1 }))
        }
        guard let offset = offsets[row.id] else { return (.offset, ServerRequest("HEAD", location)) }
        let bytes = try piece(row, file, files, at: offset, count: partBytes)
        let end = offset + Int64(bytes.count)
        let headers = [
            "content-type": "application/partial-upload", "upload-offset": String(offset),
            "upload-complete": end < row.data.byteCount ? "?0" : "?1",
            "content-digest": TransferUploads.field(Array(SHA256.hash(data: bytes))),
        ]
        return (.part(end: end), ServerRequest("PATCH", location, headers: headers, body: bytes))
    }

    /// Reads the bytes of the next part.
    private func piece(
        _ row: TransferRow, _ name: UniqueID, _ files: any AttachmentFiles, at offset: Int64, count: Int
    ) throws -> [UInt8] {
        let expected = Int(min(Int64(count), row.data.byteCount - offset))
        guard let file = try files.file(name), file.isFinished else { throw AttachmentFilesError.missing }
        let bytes = try files.read(name, at: offset, count: expected)
        guard bytes.count == expected else {
            throw AttachmentFilesError.damaged(AttachmentData(byteCount: file.byteCount, sha256: row.data.sha256))
        }
        return bytes
    }

    /// Processes the response to a request, and updates `row`.
    mutating func receive(
        _ received: Result<ServerResponse, NoResponse>, to step: Step, _ row: inout TransferRow
    ) -> TransferOutcome {
        let offset = offsets.removeValue(forKey: row.id)
        unsure.remove(row.id)
        guard case .success(let response) = received else {
            didNotArrive(step, row)
            return .noResponse
        }
        // The server responds with 408 (request-timeout) if the body of a request arrives too slowly.
        if response.status == 408 { didNotArrive(step, row) }
        switch step {
        case .check:
            if response.status == 404 { return .restart }
            guard response.isSuccess else { return refusal(response) }
            // If the server has different bytes for this attachment, it refuses the next request with `immutable` and an
            // explanation for the user.
            return response.headers["repr-digest"]?.contains(TransferUploads.base64(row)) == true ? .finished : .restart
        case .whole:
            return response.isSuccess && hasHash(response, of: row) ? .finished : refusal(response)
        case .begin:
            guard response.isSuccess else { return refusal(response) }
            if hasHash(response, of: row) { return .finished }
            guard let location = TransferUploads.path(response.headers["location"]) else { return refusal(response) }
            row.location = location
            offsets[row.id] = 0
            return .progress
        case .offset:
            if response.status == 404 { return begunAgain(&row) }
            guard response.isSuccess else { return refusal(response) }
            if response.headers["upload-complete"] == "?1" { return .finished }
            return setOffset(response, &row) ? .progress : refusal(response)
        case .part(let end):
            if response.status == 404 { return begunAgain(&row) }
            // If the response does not contain the offset of the upload, the offset is requested next.
            if response.status == 409, ServerProblem(response).kind == .uploadOffset {
                _ = setOffset(response, &row)
                return .restart
            }
            guard response.isSuccess else { return refusal(response) }
            partBytes = min(partBytes * 2, maximumPartBytes)
            if end == row.data.byteCount { return hasHash(response, of: row) ? .finished : refusal(response) }
            offsets[row.id] = max(end, offset ?? 0)
            row.done = max(row.done, end)
            return .progress
        }
    }

    private mutating func didNotArrive(_ step: Step, _ row: TransferRow) {
        switch step {
        case .whole, .check: unsure.insert(row.id)
        case .part: partBytes = max(partBytes / 2, min(TransferUploads.minimumPartBytes, maximumPartBytes))
        case .begin, .offset: break
        }
    }

    private func begunAgain(_ row: inout TransferRow) -> TransferOutcome {
        row.location = nil
        return .restart
    }

    private mutating func setOffset(_ response: ServerResponse, _ row: inout TransferRow) -> Bool {
        guard let offset = response.headers["upload-offset"].flatMap({ Int64($0) }),
            (0...row.data.byteCount).contains(offset)
        else { return false }
        offsets[row.id] = offset
        row.done = max(row.done, offset)
        return true
    }

    /// Whether the server received the correct bytes: the hash that it computed, which is in the body of the response, must be the
    /// hash of the attachment.
    private func hasHash(_ response: ServerResponse, of row: TransferRow) -> Bool {
        (try? JSONReader.read(response.body))?["sha256"]?.string == row.data.sha256
    }

    private func refusal(_ response: ServerResponse) -> TransferOutcome { TransferOutcome(refusal: response) }

    /// The value of a header field with a digest (RFC 9530).
    private static func field(_ hash: [UInt8]) -> String { "sha-256=:\(Data(hash).base64EncodedString()):" }

    private static func base64(_ row: TransferRow) -> String {
        Data(Hex.bytes(row.data.sha256)).base64EncodedString()
    }

    /// The path in `Location`, which a proxy may have changed to a complete URL.
    private static func path(_ location: String?) -> String? {
        guard let location else { return nil }
        return location.hasPrefix("/") ? location : URL(string: location)?.path()
    }
}

extension TransferOutcome {
    /// The outcome of an error response, or of a response that does not fit the request.
    init(refusal response: ServerResponse) {
        let problem = ServerProblem(response)
        if response.status >= 400, problem.kind != nil {
            self = problem.kind == .deleted ? .deleted : .refused(problem)
        } else {
            self = .unexpected(status: response.status)
        }
    }
}

/// Converts the hashes of attachments, which are stored in hexadecimal.
private enum Hex {
    /// The bytes of hexadecimal text. Other characters are left out.
    static func bytes(_ text: String) -> [UInt8] {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
