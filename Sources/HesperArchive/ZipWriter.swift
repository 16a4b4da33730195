import CArchive
import HesperModel
import NIOCore

/// Makes a zip piece by piece: what is added comes out as the bytes of the archive, to be sent on before more is added.
///
///     let zip = try ZipWriter()
///     try zip.begin("Milk.md", byteCount: 4, date: .now)
///     try zip.add(Array("Milk".utf8))
///     try zip.end()
///     try zip.finish()
///     send(zip.takeOutput())
///
/// Names are UTF-8 and say so; sizes and places past 4 GiB are written as zip64 has them, where they occur.
final class ZipWriter {
    private let archive: OpaquePointer
    private let output = Output()

    /// Where libarchive puts what it makes: a class, as libarchive keeps a pointer to it.
    private final class Output {
        var buffer = ByteBuffer()
        /// Whether nobody wants what is still to come.
        var isDiscarded = false
    }

    /// - Throws: ``ArchiveError``, and so does everything else here, if there is no memory.
    init() throws {
        guard let archive = archive_write_new() else { throw ArchiveError("There is no memory for an archive.") }
        self.archive = archive
        // From here on it is freed by `deinit`, also if this throws.
        try ZipLocale.with {
            try check(archive_write_set_format_zip(archive))
            // Without padding, and each piece as soon as it is made.
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
        // What was left half done is finished into nothing: of an archive that has failed libarchive does not free all.
        output.isDiscarded = true
        ZipLocale.with { _ = archive_write_free(archive) }
    }

    /// Begins a file.
    /// - Parameters:
    ///   - byteCount: how many bytes will be added; nil if that is not known.
    ///   - isDeflated: whether they are compressed, or stored as they are.
    func begin(_ path: String, byteCount: Int64?, date: Timestamp, isDeflated: Bool = true) throws {
        guard let entry = archive_entry_new() else { throw ArchiveError("There is no memory for an archive.") }
        defer { archive_entry_free(entry) }
        try ZipLocale.with {
            archive_entry_set_pathname_utf8(entry, path)
            archive_entry_set_filetype(entry, ZipReader.regularFile)
            archive_entry_set_perm(entry, 0o644)
            // The 32 bits that zip has for a date.
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

    /// Adds a file that is at hand.
    func add(_ path: String, _ bytes: [UInt8], date: Timestamp) throws {
        try begin(path, byteCount: Int64(bytes.count), date: date)
        try add(bytes)
        try end()
    }

    /// Adds the list of all files, which is the end of the archive.
    func finish() throws {
        try ZipLocale.with { try check(archive_write_close(archive)) }
    }

    /// How much there is to send.
    var outputCount: Int { output.buffer.readableBytes }

    /// What was made since the last time.
    func takeOutput() -> ByteBuffer {
        defer { output.buffer = ByteBuffer() }
        return output.buffer
    }

    private var error: ArchiveError {
        let reason = archive_error_string(archive).map { String(cString: $0) } ?? "no reason is given"
        return ArchiveError("The archive cannot be made: \(reason).")
    }

    private func check(_ result: Int32) throws {
        guard result == ARCHIVE_OK else { throw error }
    }
}
