package import HesperModel

/// Attachment files in memory, for local copies that are not stored on disk, and for tests.
package final class MemoryAttachmentFiles: AttachmentFiles {
    private let files = Locked<[UniqueID: (bytes: [UInt8], isFinished: Bool)]>([:])
    private let capacity: Int

    /// Creates an empty storage.
    /// - Parameter capacity: the maximum number of bytes of all files. A write that would exceed this number fails as on a full
    ///   disk.
    package init(capacity: Int = .max) { self.capacity = capacity }

    package func file(_ id: UniqueID) -> AttachmentFile? {
        files.withLock { files in
            files[id].map { AttachmentFile(byteCount: Int64($0.bytes.count), isFinished: $0.isFinished) }
        }
    }

    package func append(_ bytes: [UInt8], to id: UniqueID, at offset: Int64) throws {
        try files.withLock { files in
            let file = files[id]
            guard file?.isFinished != true, file?.bytes.count ?? 0 == Int(offset) else {
                throw AttachmentFilesError.wrongOffset
            }
            let used = files.values.reduce(0) { $0 + $1.bytes.count }
            guard bytes.count <= capacity - used else { throw AttachmentFilesError.diskFull }
            files[id, default: ([], false)].bytes.append(contentsOf: bytes)
        }
    }

    package func read(_ id: UniqueID, at offset: Int64, count: Int) throws -> [UInt8] {
        try files.withLock { files in
            guard let bytes = files[id]?.bytes else { throw AttachmentFilesError.missing }
            return Array(bytes.dropFirst(Int(offset)).prefix(count))
        }
    }

    package func finish(_ id: UniqueID) throws {
        try files.withLock { files in
            guard files[id] != nil else { throw AttachmentFilesError.missing }
            files[id]?.isFinished = true
        }
    }

    package func delete(_ id: UniqueID) {
        files.withLock { files in
            files[id] = nil
        }
    }

    package func list() -> [UniqueID: AttachmentFile] {
        files.withLock { files in
            files.mapValues { AttachmentFile(byteCount: Int64($0.bytes.count), isFinished: $0.isFinished) }
        }
    }
}
