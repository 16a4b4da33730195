import Foundation
import HesperModel

/// A note created from a file.
///
/// Everything is derived from the file, so that repeated imports of a folder, also on different devices, produce the same edits
/// (merge.md, Cases, 32).
struct SourceNote: Sendable {
    let file: SourceFile
    let uniqueID: UniqueID
    let text: String
    /// The names of the parent folders, without duplicates in different spelling.
    let tags: [String]
    /// The clock of the text, derived from the modification date: see ``clock(of:_:_:)``.
    let clock: Clock

    /// - Parameters:
    ///   - folder: the name of the imported folder.
    ///   - now: the upper bound for the clock.
    ///   - read: returns the contents of the file.
    /// - Throws: ``SourceFile/Rejected``, and errors of `read`.
    init(_ file: SourceFile, in folder: String, now: Timestamp, _ read: (SourceFile) throws -> Data) throws {
        self.file = file
        text = try file.text(read)
        uniqueID = SourceNote.uniqueID(of: file, in: folder)
        clock = try SourceNote.clock(of: uniqueID, text, min(file.modification, now))
        var seen: Set<String> = []
        tags = file.folders.filter { name in
            guard case .success = FieldValue.tagName(.string(name)) else { return false }
            return seen.insert(TagName.fold(name)).inserted
        }
    }

    private static let notes = UniqueID(high: 0x6d1f_8a52_c3e0_4b7d, low: 0x9e24_51b0_7f6a_d318)

    /// An ID derived from the name of the imported folder and the relative path. The path of the folder itself is not used,
    /// because it differs between devices. The contents are not used, so that a changed file remains the same note.
    static func uniqueID(of file: SourceFile, in folder: String) -> UniqueID {
        // File systems use different Unicode normalizations.
        let path = "\(folder)/\(file.relativePath)".precomposedStringWithCanonicalMapping
        return .derived(from: path, in: notes)
    }

    private static let texts = UniqueID(high: 0x2b90_e47c_15d8_4f03, low: 0xa8c6_3d9f_02b1_7e54)

    /// A clock that makes the file a device of its own for the merge: its node is half of the note's ID, and its time is the
    /// modification date of the file. An unchanged text is therefore recognized, a changed text is merged with changes of the
    /// note based on their common ancestor, and an older file never overwrites later changes of the note.
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
