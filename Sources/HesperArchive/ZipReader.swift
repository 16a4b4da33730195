import CArchive
import Foundation
import HesperModel

/// Reads a zip file, or a tar file without compression, entry by entry and in bounded pieces.
///
///     let zip = try ZipReader("notes.zip")
///     while let entry = try zip.next() {
///         while let bytes = try zip.read() { … }
///     }
///
/// Archives are not trusted. Their paths are used only as names, and nothing is written to these paths. Reading fails if the total
/// unpacked size exceeds a limit that is proportional to the size of the archive.
///
/// `@unchecked Sendable` is safe because only one task reads the archive, and it makes one call at a time.
public final class ZipReader: @unchecked Sendable {
    /// The format of an archive.
    public enum Format: Sendable {
        case zip
        case tar

        /// The maximum ratio of the unpacked size to the size of the archive. For zip: Deflate achieves a ratio of at most 1,032
        /// (zlib technical details). Only zip bombs have a larger ratio, by means of overlapping files or another compression
        /// method. For tar: the files are not compressed, so the archive is at least as large as its files.
        fileprivate var maximumRatio: Int64 {
            switch self {
            case .zip: 1_032
            case .tar: 1
            }
        }

        /// The format of a file according to its first bytes; nil if the file is neither a zip nor a tar file. Zip files without
        /// entries have a different signature, which is also accepted.
        public init?(of path: String) {
            let bytes = ZipReader.beginning(of: path, 512)
            if [ZipReader.fileSignature, ZipReader.emptySignature].contains(Array(bytes.prefix(4))) {
                self = .zip
            } else if bytes.count == 512, bytes[257..<262].elementsEqual("ustar".utf8) {
                self = .tar
            } else {
                return nil
            }
        }
    }

    /// A file in the archive.
    public struct Entry: Sendable, Equatable {
        /// The path of the file in the archive, normalized to NFC. It has not been validated.
        public let path: String
        /// The size of the file according to the archive; nil if the archive does not state it.
        public let byteCount: Int64?
        public let date: Timestamp
    }

    private let archive: OpaquePointer
    /// The path of the archive as given by the caller, for error messages.
    private let path: String
    private let format: Format
    /// The maximum total size of all unpacked files, in bytes.
    private let maximumUnpackedBytes: Int64
    private var unpackedBytes: Int64 = 0
    /// The number of bytes that have been read from the current file.
    public private(set) var byteCount: Int64 = 0

    private static let chunk = 128 << 10
    /// The value of the macro AE_IFREG, which Swift cannot import.
    static let regularFile: UInt32 = 0o100_000

    /// Whether a file starts with the signature of a zip file.
    public static func isZip(_ path: String) -> Bool { Format(of: path) == .zip }

    private static let fileSignature: [UInt8] = [0x50, 0x4b, 3, 4]
    private static let emptySignature: [UInt8] = [0x50, 0x4b, 5, 6]

    /// Returns true if a zip file has more than `limit` files. This function counts the signatures of directory entries in the
    /// whole file. If the file contains another zip file that is stored without compression, the entries of that zip file are
    /// counted too. The result may therefore be true for fewer files.
    public static func hasMoreEntries(than limit: Int, in path: String) throws -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return false }
        defer { try? file.close() }
        var count = 0
        var rest: [UInt8] = []
        while let chunk = try file.read(upToCount: 1 << 20), !chunk.isEmpty {
            try Task.checkCancellation()
            let bytes = rest + chunk
            count += bytes.withUnsafeBytes { ZipReader.count(of: directoryEntry, in: $0) }
            guard count <= limit else { return true }
            rest = Array(bytes.suffix(directoryEntry.count - 1))
        }
        return false
    }

    private static let directoryEntry: [UInt8] = [0x50, 0x4b, 1, 2]

    private static func count(of signature: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int {
        var (count, position) = (0, 0)
        while position + signature.count <= bytes.count, let start = bytes.baseAddress?.advanced(by: position),
            let found = memchr(start, Int32(signature[0]), bytes.count - position)
        {
            position += UnsafeRawPointer(found) - start
            if bytes[position...].starts(with: signature) { count += 1 }
            position += 1
        }
        return count
    }

    private static func beginning(of path: String, _ count: Int) -> [UInt8] {
        guard let file = FileHandle(forReadingAtPath: path) else { return [] }
        defer { try? file.close() }
        return Array((try? file.read(upToCount: count)) ?? Data())
    }

    /// Opens an archive.
    /// - Throws: ``ArchiveError`` if the file is not a valid archive. All methods throw this error if the file is damaged.
    public init(_ path: String, _ format: Format = .zip) throws {
        (self.path, self.format) = (path, format)
        // libarchive does not recognize a zip file without entries.
        guard ZipReader.beginning(of: path, 4) != ZipReader.emptySignature else {
            throw ArchiveError("\(path) is an empty zip.")
        }
        guard let archive = archive_read_new() else { throw ArchiveError("Out of memory.") }
        self.archive = archive
        let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.int64Value ?? 0
        maximumUnpackedBytes = max(size, 1) * format.maximumRatio
        // From here on, `deinit` frees the archive, even if this initializer throws.
        try ZipLocale.with {
            // Zip files are read through their central directory. Other formats and all filters are disabled to reduce the attack
            // surface.
            switch format {
            case .zip: try check(archive_read_support_format_zip_seekable(archive))
            case .tar: try check(archive_read_support_format_tar(archive))
            }
            try check(archive_read_open_filename(archive, path, ZipReader.chunk))
        }
    }

    deinit { archive_read_free(archive) }

    /// Reads the next file, in the order of the archive; nil after the last file. Folders, links and other entries are skipped.
    public func next() throws -> Entry? {
        byteCount = 0
        return try ZipLocale.with {
            while true {
                var entry: OpaquePointer?
                let result = archive_read_next_header(archive, &entry)
                if result == ARCHIVE_EOF { return nil }
                // ARCHIVE_WARN means that a name could not be converted to UTF-8. The entry is used nevertheless.
                guard result == ARCHIVE_OK || result == ARCHIVE_WARN, let entry else { throw broken }
                guard archive_entry_is_encrypted(entry) == 0 else {
                    throw ArchiveError("\(path) is encrypted. Unpack it and import the folder.")
                }
                guard archive_entry_filetype(entry) == ZipReader.regularFile else { continue }
                let seconds = min(max(Int64(archive_entry_mtime(entry)), -1 << 40), 1 << 40)
                return Entry(
                    path: CanonicalForm.composed(name(of: entry)),
                    byteCount: archive_entry_size_is_set(entry) != 0 ? archive_entry_size(entry) : nil,
                    date: Timestamp(clamping: seconds * 1_000))
            }
        }
    }

    /// The next bytes of the current file; nil at the end of the file.
    public func read() throws -> [UInt8]? {
        let bytes = try [UInt8](unsafeUninitializedCapacity: ZipReader.chunk) { buffer, count in
            let read = archive_read_data(archive, buffer.baseAddress, buffer.count)
            guard read >= 0 else { throw ArchiveError(broken.message, isOneFile: true) }
            count = read
        }
        unpackedBytes += Int64(bytes.count)
        byteCount += Int64(bytes.count)
        guard unpackedBytes <= maximumUnpackedBytes else {
            throw ArchiveError("\(path) unpacks to more data than a \(format) file of its size can contain (zip bomb).")
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// All remaining bytes of the current file; nil if there are more than `limit`.
    public func readAll(limit: Int) throws -> [UInt8]? {
        var all: [UInt8] = []
        while let bytes = try read() {
            guard all.count + bytes.count <= limit else { return nil }
            all += bytes
        }
        return all
    }

    private func name(of entry: OpaquePointer) -> String {
        let name = archive_entry_pathname_utf8(entry) ?? archive_entry_pathname(entry)
        return name.map { String(cString: $0) } ?? ""
    }

    private var broken: ArchiveError {
        if archive_errno(archive) == ENOENT { return ArchiveError("\(path): No such file or directory.") }
        let reason = archive_error_string(archive).map { String(cString: $0) } ?? "unknown error"
        return ArchiveError("\(path) is damaged: \(reason).")
    }

    private func check(_ result: Int32) throws {
        guard result == ARCHIVE_OK else { throw broken }
    }
}
