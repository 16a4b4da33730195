import HesperArchive
import HesperModel

/// The limits on what is read from a source.
public struct SourceLimits: Sendable {
    /// The maximum size of an attachment in bytes.
    public let attachmentBytes: Int64
    /// The maximum number of files in an archive, and of notes in a file.
    public let entries: Int
    /// The maximum number of bytes of the temporary files, such as those of an unpacked archive.
    public let temporaryBytes: Int64
    /// The free space that temporary files must leave on their disk, in bytes.
    public let freeBytes: Int64
    /// The folder for temporary files; nil for that of the system.
    public let temporaryFolder: String?

    public init(
        attachmentBytes: Int64, entries: Int = .max, temporaryBytes: Int64 = .max, freeBytes: Int64 = 0,
        temporaryFolder: String? = nil
    ) {
        self.attachmentBytes = attachmentBytes
        self.entries = entries
        self.temporaryBytes = temporaryBytes
        self.freeBytes = freeBytes
        self.temporaryFolder = temporaryFolder
    }

    /// The maximum size of a text file in bytes: the maximum size of a note's text, plus a byte order mark.
    static let textBytes = Limits.textBytes + byteOrderMark.count
    /// The byte order mark that some programs write at the start of a UTF-8 file. It is not part of the text.
    static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
    /// The maximum size of an HTML file, in bytes. It is larger than the maximum size of a text file, because the Markdown of a
    /// document is shorter than its HTML.
    static let documentBytes: Int64 = 32 << 20
    /// The maximum size of a file with many notes, in bytes. Such a file is read in pieces.
    static let collectionBytes: Int64 = 8 << 30

    /// Checks the number of files in an archive before it is opened, because libarchive reads the whole directory of a zip into
    /// memory.
    /// - Throws: ``MoveInError`` if there are too many.
    public func check(_ archive: String, _ format: ZipReader.Format) throws {
        guard entries < .max, format == .zip else { return }
        if try ZipReader.hasMoreEntries(than: entries, in: archive) { throw tooManyEntries }
    }

    var tooManyEntries: MoveInError {
        MoveInError("The source has more than the maximum of \(entries) files or notes. Split it.")
    }

    /// The maximum size of a file with this name, in bytes.
    func bytes(of name: String) -> Int64 {
        switch SourceFile.Kind(name) {
        case .text: Int64(SourceLimits.textBytes)
        case .document: SourceLimits.documentBytes
        case .collection: SourceLimits.collectionBytes
        case .other: attachmentBytes
        }
    }
}
