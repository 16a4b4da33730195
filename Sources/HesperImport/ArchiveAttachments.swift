import HesperArchive
import HesperModel
import HesperStore

/// Imports the data of the attachments in an archive.
struct ArchiveAttachments: Sendable {
    let files: ImportedFiles

    /// Stores the data of the attachments in an archive. If the account already has the data of an attachment, it is not stored
    /// again. The archive is read once, from its beginning to its end.
    /// - Parameter done: called for each attachment of the archive.
    /// - Returns: the attachments that could not be stored, with the reasons.
    func add(
        from path: String, _ contents: ExportContents, done: () async throws -> Void
    ) async throws -> [UniqueID: String] {
        var missing = contents.attachments
        var refused: [UniqueID: String] = [:]
        let zip = try ZipReader(path)
        while !missing.isEmpty, let entry = try zip.next() {
            guard let attachment = missing.removeValue(forKey: entry.path) else { continue }
            do {
                let damaged = Problem(.immutable, "\(entry.path) is damaged. It differs from the exported file.")
                try await files.add(attachment.uniqueID, attachment.data, orThrow: damaged) { try zip.read() }
            } catch let problem as Problem {
                refused[attachment.uniqueID] = problem.detail
            }
            try await done()
        }
        for (path, attachment) in missing {
            refused[attachment.uniqueID] = "The archive does not contain \(path)."
            try await done()
        }
        return refused
    }
}
