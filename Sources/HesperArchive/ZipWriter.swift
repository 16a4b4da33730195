import CArchive
import HesperModel
import NIOCore

/// Writes a zip archive in pieces. After each call, ``takeOutput()`` returns the new bytes of the archive.
///
///     let zip = try ZipWriter()
///     try zip.begin("Milk.md", byteCount: 4, date: .now)
///     try zip.add(Array("Milk".utf8))
///     try zip.end()
///     try zip.finish()
///     send(zip.takeOutput())
///
/// File names are marked as UTF-8. Sizes and offsets above 4 GiB use zip64.
final class ZipWriter {
    private let archive: OpaquePointer
    private let output = Output()

    /// Collects the bytes that libarchive writes. It is a class because libarchive holds a pointer to it.
    private final class Output {
        var buffer = ByteBuffer()
        /// Whether new output is discarded instead of being added to `buffer`.
        var isDiscarded = false
    }

    /// - Throws: ``ArchiveError`` if memory is exhausted. All methods throw this error if libarchive reports an error.
    init() throws {
        guard let archive = archive_write_new() else { throw ArchiveError("Out of memory.") }
        self.archive = archive
        // From here on, `deinit` frees the archive, even if this initializer throws.
        try ZipLocale.with {
            try check(archive_write_set_format_zip(archive))
            // With a block size of 0, libarchive adds no padding and does not buffer its output.
            try check(archive_write_set_bytes_per_block(archive, 0))
            try check(
                archive_write_open(
                    archive, Unmanaged.passUnretained(output).toOpaque(), nil,
                    { _, output, bytes, count in
                        guard let output, let bytes else { return -1 }
                        let out = Unmanaged<Output>.fromOpaque(output).takeUnretainedValue()
                        if !out.isDiscarded {
                            out.buffer.writeBytes(UnsafeRawBufferPointer(start: bytes, count: count))
                        }
                        return count
                    }, nil))
        }
    }

    deinit {
        // `archive_write_free` completes an unfinished archive, which produces more output. This output is discarded. The write
        // callback nevertheless reports success, because libarchive does not free all of its memory if a write fails.
        output.isDiscarded = true
        ZipLocale.with { _ = archive_write_free(archive) }
    }

    /// Begins a file of the archive.
    /// - Parameters:
    ///   - byteCount: the number of bytes that will be added; nil if it is unknown.
    ///   - isDeflated: whether the file is compressed. Otherwise, it is stored unchanged.
    func begin(_ path: String, byteCount: Int64?, date: Timestamp, isDeflated: Bool = true) throws {
        guard let entry = archive_entry_new() else { throw ArchiveError("Out of memory.") }
        defer { archive_entry_free(entry) }
        try ZipLocale.with {
            archive_entry_set_pathname_utf8(entry, path)
            archive_entry_set_filetype(entry, ZipReader.regularFile)
            archive_entry_set_perm(entry, 0o644)
            // The date is limited to 32 bits, because libarchive writes it as a 32-bit number of seconds since 1970.
            let seconds = min(max(date.milliseconds / 1_000, 0), Int64(Int32.max))
            archive_entry_set_mtime(entry, time_t(seconds), 0)
            if let byteCount { archive_entry_set_size(entry, byteCount) }
            try check(
                isDeflated
                    ? archive_write_zip_set_compression_deflate(archive)
                    : archive_write_zip_set_compression_store(archive))
            try check(archive_write_header(archive, entry))
        }
    }

    func add(_ bytes: UnsafeRawBufferPointer) throws {
        guard bytes.count > 0 else { return }
        guard archive_write_data(archive, bytes.baseAddress, bytes.count) == bytes.count else { throw error }
    }

    func add(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try add($0) } }

    func end() throws { try check(archive_write_finish_entry(archive)) }

    /// Adds a complete file.
    func add(_ path: String, _ bytes: [UInt8], date: Timestamp) throws {
        try begin(path, byteCount: Int64(bytes.count), date: date)
        try add(bytes)
        try end()
    }

    /// Writes the central directory of the archive. No files can be added afterwards.
    func finish() throws {
        try ZipLocale.with { try check(archive_write_close(archive)) }
    }

    /// The number of bytes that ``takeOutput()`` returns.
    var outputCount: Int { output.buffer.readableBytes }

    /// Returns the bytes that were written since the previous call.
    func takeOutput() -> ByteBuffer {
        defer { output.buffer = ByteBuffer() }
        return output.buffer
    }

    private var error: ArchiveError {
        let reason = archive_error_string(archive).map { String(cString: $0) } ?? "unknown error"
        return ArchiveError("The archive cannot be written: \(reason).")
    }

    private func check(_ result: Int32) throws {
        guard result == ARCHIVE_OK else { throw error }
    }
}
