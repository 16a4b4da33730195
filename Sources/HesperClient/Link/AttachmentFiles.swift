internal import Foundation
package import HesperModel

/// Stores the bytes of attachments in files on this device. A file is written in parts, and then finished. A finished file never
/// changes. The name of a file is the ID of the attachment for which the file was written.
package protocol AttachmentFiles: Sendable {
    /// The file of an attachment; nil if there is none.
    func file(_ id: UniqueID) throws -> AttachmentFile?

    /// Appends bytes to an unfinished file. Creates the file if it does not exist.
    /// - Parameter offset: the size of the file before the bytes are appended.
    /// - Throws: ``AttachmentFilesError``. If the disk is full, the file keeps its earlier size.
    func append(_ bytes: [UInt8], to id: UniqueID, at offset: Int64) throws

    /// Reads `count` bytes of a file, finished or not; fewer at the end of the file.
    /// - Throws: ``AttachmentFilesError/missing`` if there is no file.
    func read(_ id: UniqueID, at offset: Int64, count: Int) throws -> [UInt8]

    /// Makes an unfinished file durable and finishes it. Does nothing if the file is already finished.
    func finish(_ id: UniqueID) throws

    /// Deletes a file, finished or not. Does nothing if the file does not exist.
    func delete(_ id: UniqueID) throws

    /// All files, finished and unfinished, by their names.
    func list() throws -> [UniqueID: AttachmentFile]
}

package struct AttachmentFile: Sendable, Equatable {
    package var byteCount: Int64
    package var isFinished: Bool

    package init(byteCount: Int64, isFinished: Bool) {
        self.byteCount = byteCount
        self.isFinished = isFinished
    }
}

package enum AttachmentFilesError: Error, Equatable {
    case missing
    /// The bytes cannot be appended, because the file is finished, or because the given offset is not the size of the file.
    case wrongOffset
    /// A file does not have the size or the hash that its attachment states. The associated value contains the size and hash that
    /// the file has.
    case damaged(AttachmentData)
    case diskFull
    /// Another system error, with its `errno`.
    case system(Int32)
}

extension AttachmentFiles {
    /// The size of the pieces in which a file is read to compute its hash.
    private static var pieceBytes: Int { 1 << 20 }

    /// Computes the size and the hash of a file.
    package func data(of id: UniqueID) throws -> AttachmentData {
        var hasher = AttachmentHasher()
        while true {
            let piece = try read(id, at: hasher.byteCount, count: Self.pieceBytes)
            guard !piece.isEmpty else { return hasher.data }
            piece.withUnsafeBytes { hasher.update($0) }
        }
    }

    /// Finishes a file if it has the expected size and hash. Otherwise deletes the file.
    /// - Throws: ``AttachmentFilesError/damaged(_:)`` with the actual size and hash.
    package func finish(_ id: UniqueID, verifying expected: AttachmentData) throws {
        let found = try data(of: id)
        guard found == expected else {
            try delete(id)
            throw AttachmentFilesError.damaged(found)
        }
        try finish(id)
    }

    /// Writes the file of a new attachment. If an error is thrown, no file remains.
    /// - Parameter next: returns the next bytes; nil at the end.
    /// - Returns: the size and the hash of the file.
    package func add(_ id: UniqueID, next: () throws -> [UInt8]?) throws -> AttachmentData {
        try delete(id)
        var hasher = AttachmentHasher()
        do {
            // Appending an empty array creates the file. Otherwise an empty attachment would have no file.
            try append([], to: id, at: 0)
            while let bytes = try next() {
                try append(bytes, to: id, at: hasher.byteCount)
                bytes.withUnsafeBytes { hasher.update($0) }
            }
            try finish(id)
        } catch {
            try? delete(id)
            throw error
        }
        return hasher.data
    }
}

/// Attachment files in a folder. A file is named `<ID>`, or `<ID>.part` while it is unfinished.
package struct FolderAttachmentFiles: AttachmentFiles {
    private let folder: String

    /// Creates the folder if it does not exist.
    package init(folder: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private static let partSuffix = ".part"

    private func path(_ id: UniqueID, isFinished: Bool) -> String {
        "\(folder)/\(id)\(isFinished ? "" : FolderAttachmentFiles.partSuffix)"
    }

    package func file(_ id: UniqueID) throws -> AttachmentFile? {
        for isFinished in [true, false] {
            var status = stat()
            if stat(path(id, isFinished: isFinished), &status) == 0 {
                return AttachmentFile(byteCount: Int64(status.st_size), isFinished: isFinished)
            }
            guard errno == ENOENT else { throw AttachmentFilesError(errno) }
        }
        return nil
    }

    package func append(_ bytes: [UInt8], to id: UniqueID, at offset: Int64) throws {
        let file = try file(id)
        guard file?.isFinished != true, file?.byteCount ?? 0 == offset else { throw AttachmentFilesError.wrongOffset }
        try withDescriptor(path(id, isFinished: false), O_WRONLY | O_CREAT | O_CLOEXEC) { descriptor in
            guard let error = write(bytes, to: descriptor, at: offset) else { return }
            ftruncate(descriptor, off_t(offset))
            throw error
        }
    }

    private func write(_ bytes: [UInt8], to descriptor: Int32, at offset: Int64) -> AttachmentFilesError? {
        bytes.withUnsafeBytes { buffer in
            var written = 0
            while written < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[written...])
                let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(written))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return AttachmentFilesError(errno) }
                written += count
            }
            return nil
        }
    }

    package func read(_ id: UniqueID, at offset: Int64, count: Int) throws -> [UInt8] {
        guard let file = try file(id) else { throw AttachmentFilesError.missing }
        return try withDescriptor(path(id, isFinished: file.isFinished), O_RDONLY | O_CLOEXEC) { descriptor in
            let length = Int(min(Int64(count), max(0, file.byteCount - offset)))
            var failure: AttachmentFilesError?
            let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, filled in
                while filled < length {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                    let got = pread(descriptor, rest.baseAddress, length - filled, off_t(offset) + off_t(filled))
                    if got < 0, errno == EINTR { continue }
                    if got < 0 { failure = AttachmentFilesError(errno) }
                    guard got > 0 else { break }
                    filled += got
                }
            }
            if let failure { throw failure }
            return bytes
        }
    }

    package func finish(_ id: UniqueID) throws {
        guard let file = try file(id) else { throw AttachmentFilesError.missing }
        guard !file.isFinished else { return }
        let part = path(id, isFinished: false)
        try withDescriptor(part, O_RDWR | O_CLOEXEC) { try sync($0) }
        guard rename(part, path(id, isFinished: true)) == 0 else { throw AttachmentFilesError(errno) }
        // The new name is durable only after the folder, which contains it, is written to the disk.
        try withDescriptor(folder, O_RDONLY | O_CLOEXEC) { try sync($0) }
    }

    package func delete(_ id: UniqueID) throws {
        for isFinished in [true, false] where unlink(path(id, isFinished: isFinished)) != 0 {
            guard errno == ENOENT else { throw AttachmentFilesError(errno) }
        }
    }

    package func list() throws -> [UniqueID: AttachmentFile] {
        var files: [UniqueID: AttachmentFile] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            guard let id = UniqueID(name) ?? UniqueID(String(name.dropLast(FolderAttachmentFiles.partSuffix.count)))
            else { continue }
            files[id] = try file(id)
        }
        return files
    }

    private func withDescriptor<R>(_ path: String, _ flags: Int32, _ body: (Int32) throws -> R) throws -> R {
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { throw AttachmentFilesError(errno) }
        defer { close(descriptor) }
        return try body(descriptor)
    }

    private func sync(_ descriptor: Int32) throws {
        guard fsync(descriptor) == 0 else { throw AttachmentFilesError(errno) }
    }
}

extension AttachmentFilesError {
    fileprivate init(_ number: Int32) {
        self = number == ENOSPC || number == EDQUOT ? .diskFull : number == ENOENT ? .missing : .system(number)
    }
}
