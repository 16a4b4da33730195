import CArchive
import Foundation
import HesperModel

/// Reads a zip from the disk, file by file; of each as much as is asked for.
///
///     let zip = try ZipReader("notes.zip")
///     while let entry = try zip.next() {
///         while let bytes = try zip.read() { … }
///     }
///
/// Whoever made the archive is not trusted: paths are names and nothing is ever written under them, bytes come in pieces,
/// and more of them than a file of its size can hold end the reading.
///
/// Unchecked: one task reads it, one call after another.
public final class ZipReader: @unchecked Sendable {
    /// A file in the archive.
    public struct Entry: Sendable, Equatable {
        /// In NFC, as the archive has it otherwise: nobody has checked it.
        public let path: String
        /// What the archive says; nil if it does not.
        public let byteCount: Int64?
        public let date: Timestamp
    }

    private let archive: OpaquePointer
    /// As the person named it.
    private let path: String
    /// What all files can come to.
    private let greatest: Int64
    private var unpacked: Int64 = 0
    /// How many bytes of the file were read.
    public private(set) var byteCount: Int64 = 0

    /// Deflate makes at most 1,032 bytes of one (zlib's technical details). Where there are more, files share their bytes, or
    /// another method was given nothing but zeros: no honest archive is like that.
    private static let greatestRatio: Int64 = 1_032
    private static let chunk = 128 << 10
    /// AE_IFREG, which Swift cannot read.
    static let regularFile: UInt32 = 0o100_000

    /// Whether a file begins as zips do: with a file in it, or, if there is none, with the end of the list.
    public static func isZip(_ path: String) -> Bool { [fileMark, endMark].contains(mark(of: path)) }

    private static let fileMark: [UInt8] = [0x50, 0x4b, 3, 4]
    private static let endMark: [UInt8] = [0x50, 0x4b, 5, 6]

    private static func mark(of path: String) -> [UInt8] {
        guard let file = FileHandle(forReadingAtPath: path) else { return [] }
        defer { try? file.close() }
        return Array((try? file.read(upToCount: 4)) ?? Data())
    }

    /// - Throws: ``ArchiveError`` if it is no whole zip; so does everything else here.
    public init(_ path: String) throws {
        self.path = path
        // libarchive does not know it for a zip.
        guard ZipReader.mark(of: path) != ZipReader.endMark else { throw ArchiveError("\(path) is an empty zip.") }
        guard let archive = archive_read_new() else { throw ArchiveError("There is no memory for an archive.") }
        self.archive = archive
        let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.int64Value ?? 0
        greatest = max(size, 1) * ZipReader.greatestRatio
        // From here on it is freed by `deinit`, also if this throws.
        try ZipLocale.with {
            // By the list at its end, and of nothing but zip: other formats are other people's bugs.
            try check(archive_read_support_format_zip_seekable(archive))
            try check(archive_read_open_filename(archive, path, ZipReader.chunk))
        }
    }

    deinit { archive_read_free(archive) }

    /// The next file, in the order in which they lie in the archive; folders, links and the like are passed over.
    public func next() throws -> Entry? {
        byteCount = 0
        return try ZipLocale.with {
            while true {
                var entry: OpaquePointer?
                let result = archive_read_next_header(archive, &entry)
                if result == ARCHIVE_EOF { return nil }
                // A warning is about a name that has no equivalent in UTF-8.
                guard result == ARCHIVE_OK || result == ARCHIVE_WARN, let entry else { throw broken }
                guard archive_entry_is_encrypted(entry) == 0 else {
                    throw ArchiveError("\(path) is encrypted: unpack it, and import the folder.")
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

    /// The next bytes of the file; nil after the last.
    public func read() throws -> [UInt8]? {
        let bytes = try [UInt8](unsafeUninitializedCapacity: ZipReader.chunk) { buffer, count in
            let read = archive_read_data(archive, buffer.baseAddress, buffer.count)
            guard read >= 0 else { throw broken }
            count = read
        }
        unpacked += Int64(bytes.count)
        byteCount += Int64(bytes.count)
        guard unpacked <= greatest else {
            throw ArchiveError("\(path) unpacks to more than a zip of its size can hold: it was made to do harm.")
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// All bytes of the file; nil if there are more than `limit`.
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
        let reason = archive_error_string(archive).map { String(cString: $0) } ?? "no reason is given"
        return ArchiveError("\(path) is broken: \(reason).")
    }

    private func check(_ result: Int32) throws {
        guard result == ARCHIVE_OK else { throw broken }
    }
}
