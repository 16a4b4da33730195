internal import HesperModel

/// Downloads attachments in pieces, with `Range` requests. A download continues where it was interrupted, and its bytes are
/// verified at the end.
struct TransferDownloads: Sendable {
    private let pieceBytes: Int
    /// The hashers of unfinished files. Each has hashed the first bytes of its file, and continues as the file grows.
    private var hashers: [UniqueID: AttachmentHasher] = [:]

    /// The maximum number of hashers in memory. If another one is needed, all hashers are discarded. The files of their downloads
    /// are then read again from the start.
    private static let maximumHashers = 8

    init(pieceBytes: Int) { self.pieceBytes = pieceBytes }

    enum Step: Equatable {
        case send(ServerRequest, at: Int64)
        /// A piece of an unfinished file was read and hashed. The rest of the file must be hashed before the next request.
        case hashing
        /// The file is complete, and has the size and hash that the attachment states.
        case finished
        /// The file was deleted, because it did not have the size or the hash that the attachment states.
        case damaged
    }

    /// The next step of a download. It reads or writes at most one piece of the file.
    /// - Throws: ``AttachmentFilesError``.
    mutating func next(_ row: TransferRow, _ files: any AttachmentFiles) throws -> Step {
        let file = try files.file(row.id)
        if file?.isFinished == true {
            hashers[row.id] = nil
            return .finished
        }
        let size = file?.byteCount ?? 0
        var hasher = hashers.removeValue(forKey: row.id) ?? AttachmentHasher()
        if hasher.byteCount > size { hasher = AttachmentHasher() }
        if hasher.byteCount < size {
            let piece = try files.read(row.id, at: hasher.byteCount, count: pieceBytes)
            piece.withUnsafeBytes { hasher.update($0) }
            keep(hasher, row.id)
            return .hashing
        }
        guard size >= row.data.byteCount else {
            keep(hasher, row.id)
            let end = min(size + Int64(pieceBytes), row.data.byteCount) - 1
            let headers = ["range": "bytes=\(size)-\(end)", "accept-encoding": "identity"]
            return .send(ServerRequest("GET", "/v1/attachments/\(row.id)/data", headers: headers), at: size)
        }
        guard hasher.data == row.data else {
            try files.delete(row.id)
            return .damaged
        }
        if file == nil { try files.append([], to: row.id, at: 0) }
        try files.finish(row.id)
        return .finished
    }

    private mutating func keep(_ hasher: AttachmentHasher, _ id: UniqueID) {
        if hashers.count >= TransferDownloads.maximumHashers { hashers = [:] }
        hashers[id] = hasher
    }

    /// Processes the response to a request, and updates `row`.
    /// - Parameter offset: the size of the unfinished file.
    /// - Throws: ``AttachmentFilesError`` if the bytes cannot be written.
    mutating func receive(
        _ response: Result<ServerResponse, NoResponse>, at offset: Int64, _ row: inout TransferRow,
        _ files: any AttachmentFiles
    ) throws -> TransferOutcome {
        guard case .success(let response) = response else { return .noResponse }
        let bytes: ArraySlice<UInt8>
        switch response.status {
        case 206 where ContentRange(response) == ContentRange(from: offset, total: row.data.byteCount):
            bytes = response.body[...]
        // A proxy may respond to a range request with all bytes.
        case 200 where Int64(response.body.count) == row.data.byteCount: bytes = response.body.dropFirst(Int(offset))
        case 416:
            hashers[row.id] = nil
            try files.delete(row.id)
            row.done = 0
            return .unexpected(status: 416)
        default: return TransferOutcome(refusal: response)
        }
        guard !bytes.isEmpty, offset + Int64(bytes.count) <= row.data.byteCount else {
            return .unexpected(status: response.status)
        }
        try files.append(Array(bytes), to: row.id, at: offset)
        if var hasher = hashers.removeValue(forKey: row.id), hasher.byteCount == offset {
            bytes.withUnsafeBytes { hasher.update($0) }
            keep(hasher, row.id)
        }
        row.done = offset + Int64(bytes.count)
        return .progress
    }
}

/// The offset of the first byte and the total size in the header field `Content-Range`.
private struct ContentRange: Equatable {
    let from: Int64
    let total: Int64

    init(from: Int64, total: Int64) {
        self.from = from
        self.total = total
    }

    /// Reads the header field of a response, such as `bytes 0-499/1234`.
    init?(_ response: ServerResponse) {
        guard let text = response.headers["content-range"], text.hasPrefix("bytes ") else { return nil }
        let halves = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        let range = halves[0].split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
        guard halves.count == 2, let total = Int64(halves[1]), range.count == 2, let from = range[0], range[1] != nil
        else { return nil }
        self.init(from: from, total: total)
    }
}
