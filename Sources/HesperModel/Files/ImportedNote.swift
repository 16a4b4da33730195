import Foundation

/// The IDs and clocks that an import gives to notes and attachments. They are derived from the source, so that a repeated import,
/// even on another device, makes the same edits (merge.md, Cases, 32).
package enum ImportedNote {
    private static let notes = UniqueID(high: 0x6d1f_8a52_c3e0_4b7d, low: 0x9e24_51b0_7f6a_d318)
    private static let appNotes = UniqueID(high: 0x1f5b_77d9_42ac_4e06, low: 0x8d3b_60c9_e2f7_15a4)
    private static let attachments = UniqueID(high: 0x90c2_3ae8_5b17_4d6f, low: 0xa1e4_7f08_d95c_2b36)
    private static let texts = UniqueID(high: 0x2b90_e47c_15d8_4f03, low: 0xa8c6_3d9f_02b1_7e54)

    /// The ID of the note that is imported from a file. It is derived from the name of the imported folder and the relative path of
    /// the file. The path of the folder is not used, because it differs between devices. The contents are not used, so that a
    /// changed file remains the same note.
    package static func uniqueID(folder: String, path: String) -> UniqueID {
        // Different file systems use different Unicode normalizations, so the path is normalized.
        .derived(from: "\(folder)/\(path)".precomposedStringWithCanonicalMapping, in: notes)
    }

    /// The ID of the note that is imported from a single file, without a folder. It is derived from the name and the contents of
    /// the file, because another file can have the same name.
    package static func uniqueID(file: String, text: String) -> UniqueID {
        .derived(from: "\(file)\n\(text)".precomposedStringWithCanonicalMapping, in: notes)
    }

    /// The ID of a note that is imported from another app. It is derived from the name of the app and the ID of the note in that
    /// app.
    package static func uniqueID(app: String, id: String) -> UniqueID {
        .derived(from: "\(app)/\(id)".precomposedStringWithCanonicalMapping, in: appNotes)
    }

    /// The ID of an attachment. It is derived from its note, because an attachment belongs to at most one note, and from its bytes,
    /// because the bytes of an attachment never change.
    package static func attachment(of note: UniqueID, sha256: String) -> UniqueID {
        .derived(from: "\(note)/\(sha256)", in: attachments)
    }

    /// The node that makes the clocks of an imported note. Each imported note has its own node, so the merge treats it like a note
    /// from a separate device.
    package static func node(of note: UniqueID) -> NodeID { NodeID(note.low) }

    /// The clock that an import gives to the text of a note. Its time is the date of the text in the source. An unchanged text
    /// therefore gets the same clock in the next import, and the merge recognizes that the text is unchanged.
    ///
    /// If both the source and the note have changed, the two texts are merged, based on their common ancestor. An older source
    /// never overwrites later changes of the note.
    ///
    /// The counter is derived from the text, so that different texts with the same date have different clocks.
    /// - Returns: nil if the date is out of range.
    package static func clock(of note: UniqueID, _ text: String, _ date: Timestamp) -> Clock? {
        let counter = UInt16(truncatingIfNeeded: UniqueID.derived(from: text, in: texts).low)
        return Clock(milliseconds: UInt64(max(date.milliseconds, 0)), counter: counter, node: node(of: note))
    }
}
