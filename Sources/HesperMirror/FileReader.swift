import CFolder
import Foundation
import HesperModel

/// Reads a file of the folder piece by piece.
///
/// `@unchecked Sendable` is safe because only one task at a time uses a reader.
final class FileReader: @unchecked Sendable {
    private let folder: Folder
    private let path: String
    private let file: Int32
    private static let pieceBytes = 1 << 20

    /// Creates a reader of an open file.
    /// - Parameter file: the open file. The reader closes it.
    init(_ file: Int32, _ path: String, in folder: Folder) {
        (self.file, self.path, self.folder) = (file, path, folder)
    }

    deinit { close(file) }

    /// The current stamp of the file.
    func stamp() throws -> FileStamp {
        var status = folder_file()
        guard folder_stat(file, "", &status) == 0 else { throw Folder.Failure(path: path, code: errno) }
        guard status.kind == folder_kind_file else { throw Folder.Failure(path: path, code: EINVAL) }
        return folder.stamp(status)
    }

    /// Reads the next piece of the file; nil at its end.
    func next() throws -> [UInt8]? {
        var count = 0
        var bytes = [UInt8](repeating: 0, count: FileReader.pieceBytes)
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes {
                systemRead(file, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            guard got >= 0 else { throw Folder.Failure(path: path, code: errno) }
            if got == 0 { break }
            count += got
        }
        bytes.removeSubrange(count...)
        return bytes.isEmpty ? nil : bytes
    }

    /// Reads the rest of the file.
    /// - Returns: the size and the hash of the bytes, and the stamp of the file after reading.
    func data() throws -> (AttachmentData, FileStamp) {
        var hasher = AttachmentHasher()
        while let bytes = try next() { bytes.withUnsafeBytes { hasher.update($0) } }
        return (hasher.data, try stamp())
    }
}
