import Foundation
import HesperModel

/// A text in a folder, before it is read.
struct SourceFile: Sendable {
    let path: String
    /// The folders that lead to it, from the one that is imported.
    let folders: [String]
    let name: String
    let byteCount: Int
    /// When it was born; where the system does not tell, its last change.
    let creation: Timestamp
    let modification: Timestamp

    /// For people.
    var relativePath: String { (folders + [name]).joined(separator: "/") }

    /// Why a file became no note, in a sentence.
    struct Unusable: Error, Equatable {
        let reason: String
    }

    /// The most bytes that a note's text comes from.
    static let greatest = Limits.textBytes + mark.count

    /// - Parameter read: gives its bytes; not asked if there are too many.
    /// - Throws: ``Unusable`` if it is not UTF-8, or no note can have this text; whatever `read` throws.
    func text(_ read: (SourceFile) throws -> Data) throws -> String {
        // Before it is read: nobody wants a gigabyte in memory to be told that it is too much.
        guard byteCount <= SourceFile.greatest else { throw tooLarge(byteCount) }
        let data = try read(self)
        let bytes = data.starts(with: SourceFile.mark) ? data.dropFirst(SourceFile.mark.count) : data
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Unusable(reason: "It is not UTF-8.") }
        switch FieldValue.text(.string(text)) {
        case .success: return text
        case .failure where bytes.count > Limits.textBytes: throw tooLarge(bytes.count)
        case .failure(let error): throw Unusable(reason: "The text \(error.requirement).")
        }
    }

    /// The byte order mark with which some programs begin UTF-8: it says how the text is written and is no part of it.
    private static let mark: [UInt8] = [0xef, 0xbb, 0xbf]

    private func tooLarge(_ count: Int) -> Unusable {
        Unusable(reason: "It has \(count) bytes, a note at most \(Limits.textBytes).")
    }

    static func reason(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileReadNoPermission?: "It may not be read by this user."
        case .fileReadNoSuchFile?: "It is not there."
        default: "It cannot be read: \(error.localizedDescription)"
        }
    }
}
