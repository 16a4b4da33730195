import Foundation

/// The IDs that an import of a folder gives to notes.
package enum ImportedNote {
    private static let notes = UniqueID(high: 0x6d1f_8a52_c3e0_4b7d, low: 0x9e24_51b0_7f6a_d318)

    /// The ID of the note of a file. It is derived from the name of the imported folder and the relative path of the file. The path
    /// of the folder is not used, because it differs between devices. The contents are not used, so that a changed file remains the
    /// same note.
    package static func uniqueID(folder: String, path: String) -> UniqueID {
        // Different file systems use different Unicode normalizations, so the path is normalized.
        .derived(from: "\(folder)/\(path)".precomposedStringWithCanonicalMapping, in: notes)
    }
}
