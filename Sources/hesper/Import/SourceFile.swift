import Foundation
import HesperModel

/// A text file that is to be imported, before its contents are read.
struct SourceFile: Sendable {
    let path: String
    /// The names of the folders that lead from the source to the file.
    let folders: [String]
    let name: String
    let byteCount: Int
    /// The creation date of the file, or the modification date on systems that do not store creation dates.
    let creation: Timestamp
    let modification: Timestamp

    /// The path of the file relative to the source, for messages.
    var relativePath: String { (folders + [name]).joined(separator: "/") }

    /// The error of a file that cannot be imported. The reason is a sentence.
    struct Rejected: Error, Equatable {
        let reason: String
    }

    /// The maximum size of a file in bytes: the maximum size of a note's text, plus a byte order mark.
    static let maximumBytes = Limits.textBytes + byteOrderMark.count

    /// Reads and validates the text.
    /// - Parameter read: returns the contents of the file. It is not called if the file is too large.
    /// - Throws: ``Rejected`` if the file is not valid UTF-8 or its text is not allowed in a note; errors of `read`.
    func text(_ read: (SourceFile) throws -> Data) throws -> String {
        // The size is checked before the file is read, so that large files are not loaded into memory.
        guard byteCount <= SourceFile.maximumBytes else { throw tooLarge(byteCount) }
        let data = try read(self)
        let bytes = data.starts(with: SourceFile.byteOrderMark) ? data.dropFirst(SourceFile.byteOrderMark.count) : data
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Rejected(reason: "It is not valid UTF-8.")
        }
        switch FieldValue.text(.string(text)) {
        case .success: return text
        case .failure where bytes.count > Limits.textBytes: throw tooLarge(bytes.count)
        case .failure(let error): throw Rejected(reason: "The text \(error.requirement).")
        }
    }

    /// The byte order mark that some programs write at the start of a UTF-8 file. It is not part of the text.
    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    private func tooLarge(_ count: Int) -> Rejected {
        Rejected(reason: "It has \(count) bytes. The maximum is \(Limits.textBytes).")
    }

    static func reason(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileReadNoPermission?: "Permission denied."
        case .fileReadNoSuchFile?: "It does not exist."
        default: "Cannot read it: \(error.localizedDescription)"
        }
    }
}
