package import HesperModel

/// The bytes of an account's attachments, and its unfinished uploads.
package struct MemoryFiles: Sendable {
    /// The bytes of an attachment, with their size and hash.
    package struct File: Sendable {
        package let bytes: [UInt8]
        package let data: AttachmentData

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            var hasher = AttachmentHasher()
            bytes.withUnsafeBytes { hasher.update($0) }
            data = hasher.data
        }
    }

    /// A resumable upload (protocol.md, Resumable uploads).
    struct Upload: Sendable {
        let attachment: UniqueID
        var length: Int?
        let sha256: String?
        var bytes: [UInt8] = []
        var isFinished = false
    }

    package private(set) var files: [UniqueID: File] = [:]
    var uploads: [UniqueID: Upload] = [:]

    /// The number of bytes of all attachments.
    package var byteCount: Int64 { files.values.reduce(0) { $0 + $1.data.byteCount } }

    /// The number of bytes that unfinished uploads reserve.
    /// - Parameters:
    ///   - largest: the number of bytes that an upload reserves if its length is not known.
    ///   - upload: an upload that is left out; nil for none.
    func reservedBytes(largest: Int, except upload: UniqueID?) -> Int64 {
        uploads.reduce(0) { sum, entry in
            entry.key == upload || entry.value.isFinished ? sum : sum + Int64(entry.value.length ?? largest)
        }
    }

    package subscript(id: UniqueID) -> File? { files[id] }

    func data(of id: UniqueID) -> AttachmentData? { files[id]?.data }

    mutating func add(_ file: File, as id: UniqueID) { files[id] = file }

    /// Removes the bytes of an attachment, as a damaged disk would.
    package mutating func lose(_ id: UniqueID) { files[id] = nil }

    /// Adds the bytes that `other` has and this value lacks. The bytes of attachments are stored apart from the database, so they
    /// remain when an older backup of the database is restored.
    mutating func merge(_ other: MemoryFiles) { files.merge(other.files) { own, _ in own } }
}
