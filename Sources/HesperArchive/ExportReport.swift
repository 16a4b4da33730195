import HesperModel

/// The result of an export.
public struct ExportReport: Sendable, Equatable {
    /// The number of exported notes. There is one file per note.
    public internal(set) var notes = 0
    /// The number of attachments in the archive that are complete.
    public internal(set) var attachments = 0
    /// The attachments that are missing or damaged.
    public internal(set) var missing: [Missing] = []

    public struct Missing: Sendable, Equatable {
        public let uniqueID: UniqueID
        /// The filename that is stored in the attachment; nil if there is none.
        public let filename: String?
        /// The path of the damaged file in the archive; nil if the archive contains no file for this attachment.
        public let path: String?

        /// A sentence for the user that describes the problem.
        public var description: String {
            let name = filename.map { "\(uniqueID) (\($0))" } ?? "\(uniqueID)"
            guard let path else { return "Attachment \(name) is missing. The server has no data for it." }
            return "Attachment \(name) is damaged. \(path) differs from the uploaded file."
        }
    }

    /// The contents of the file `MISSING.txt`.
    var missingText: String {
        """
        This archive is incomplete. The attachments below are missing or damaged.
        Run `hesper check` on the server. Devices that still have these attachments can upload them again.


        """ + missing.map { $0.description + "\n" }.joined()
    }
}
