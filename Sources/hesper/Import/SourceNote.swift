import Foundation
import HesperModel

/// A note that is created from a file.
///
/// The ID and all values are derived from the file. Therefore, if the folder is imported again, even on another device, the edits
/// are the same (merge.md, Cases, 32).
struct SourceNote: Sendable {
    let file: SourceFile
    let uniqueID: UniqueID
    let text: String
    /// The names of the parent folders. If several names differ only in spelling, for example in case, only the first of them is
    /// kept.
    let tags: [String]
    /// The clock of the text. It is derived from the modification date: see ``clock(of:_:_:)``.
    let clock: Clock

    /// Creates a note from a file.
    /// - Parameters:
    ///   - folder: the name of the imported folder.
    ///   - now: the current time. It is used for the clock if the modification date is later.
    ///   - read: returns the contents of the file.
    /// - Throws: ``SourceFile/Rejected``, and errors of `read`.
    init(_ file: SourceFile, in folder: String, now: Timestamp, _ read: (SourceFile) throws -> Data) throws {
        self.file = file
        text = try file.text(read)
        uniqueID = ImportedNote.uniqueID(folder: folder, path: file.relativePath)
        clock = try SourceNote.clock(of: uniqueID, text, min(file.modification, now))
        var seen: Set<String> = []
        tags = file.folders.filter { name in
            guard case .success = FieldValue.tagName(.string(name)) else { return false }
            return seen.insert(TagName.fold(name)).inserted
        }
    }

    private static let texts = UniqueID(high: 0x2b90_e47c_15d8_4f03, low: 0xa8c6_3d9f_02b1_7e54)

    /// A clock for the text of a file. For the merge, each file is like a separate device: the clock's node is one half of the
    /// note's ID, and its time is the modification date of the file. Therefore, the merge recognizes that a text is unchanged. If
    /// both the file and the note have changed, the two texts are merged, based on their common ancestor. An older file never
    /// overwrites later changes of the note.
    ///
    /// The counter is derived from the text, so that different texts with the same date have different clocks.
    private static func clock(of id: UniqueID, _ text: String, _ date: Timestamp) throws -> Clock {
        let counter = UInt16(truncatingIfNeeded: UniqueID.derived(from: text, in: texts).low)
        guard
            let clock = Clock(
                milliseconds: UInt64(max(date.milliseconds, 0)), counter: counter, node: NodeID(id.low))
        else { throw SourceFile.Rejected(reason: "Its date, \(date), is out of range.") }
        return clock
    }
}
