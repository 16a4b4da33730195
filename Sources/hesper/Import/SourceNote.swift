import Foundation
import HesperModel

/// A note as a file has it.
///
/// Everything is derived from the file: so two devices that import the same folder, or one that does it twice, say the
/// same of the same notes (merge.md, Cases, 32).
struct SourceNote: Sendable {
    let file: SourceFile
    let uniqueID: UniqueID
    let text: String
    /// The names of the folders that lead to it, each once, however it is written.
    let tags: [String]
    /// When the file was last changed, by the file itself: see ``clock(of:_:_:)``.
    let clock: Clock

    /// - Parameters:
    ///   - folder: the name of the folder that is imported.
    ///   - now: no clock is ahead of it.
    ///   - read: gives the file's bytes.
    /// - Throws: ``SourceFile/Unusable``; whatever `read` throws.
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

    /// From where the file lies: the name of the imported folder and the path in it, but not what leads to it, which
    /// differs between devices; and not what is in it, so that a file that was changed is the note that it was.
    static func uniqueID(of file: SourceFile, in folder: String) -> UniqueID {
        // File systems differ in how they write an accent.
        let path = "\(folder)/\(file.relativePath)".precomposedStringWithCanonicalMapping
        return .derived(from: path, in: notes)
    }

    private static let texts = UniqueID(high: 0x2b90_e47c_15d8_4f03, low: 0xa8c6_3d9f_02b1_7e54)

    /// To the merge, a file is a device of its own: its node is half of the note's ID, its clock says when the file was
    /// last changed. So a text that comes again is known already; one that was changed in the file is merged with what was
    /// changed in the note meanwhile, from the text that both had; and what was written in a note is never overruled by an
    /// older file.
    ///
    /// The counter is derived from the text: files that are different in one millisecond do not reuse a clock.
    private static func clock(of id: UniqueID, _ text: String, _ date: Timestamp) throws -> Clock {
        let counter = UInt16(truncatingIfNeeded: UniqueID.derived(from: text, in: texts).low)
        guard
            let clock = Clock(
                milliseconds: UInt64(max(date.milliseconds, 0)), counter: counter, node: NodeID(id.low))
        else { throw SourceFile.Unusable(reason: "Its date is \(date), which no clock can show.") }
        return clock
    }
}
