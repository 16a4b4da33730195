import HesperModel

/// The maximum sizes of files that are read from a source.
public struct SourceLimits: Sendable {
    /// The maximum size of an attachment in bytes.
    public let attachmentBytes: Int64

    public init(attachmentBytes: Int64) { self.attachmentBytes = attachmentBytes }

    /// The maximum size of a text file in bytes: the maximum size of a note's text, plus a byte order mark.
    static let textBytes = Limits.textBytes + byteOrderMark.count
    /// The byte order mark that some programs write at the start of a UTF-8 file. It is not part of the text.
    static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
    /// The maximum size of an HTML file, in bytes. It is larger than the maximum size of a text file, because the Markdown of a
    /// document is shorter than its HTML.
    static let documentBytes: Int64 = 32 << 20
    /// The maximum size of a file with many notes, in bytes. Such a file is read in pieces.
    static let collectionBytes: Int64 = 8 << 30

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
