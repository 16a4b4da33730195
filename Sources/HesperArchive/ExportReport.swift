import HesperModel

/// The result of an export.
public struct ExportReport: Sendable, Equatable {
    /// The number of exported notes. Each is a file.
    public internal(set) var notes = 0
    /// The number of complete attachments in the archive.
    public internal(set) var attachments = 0
    /// Attachments that are missing or damaged.
    public internal(set) var missing: [Missing] = []

    public struct Missing: Sendable, Equatable {
        public let uniqueID: UniqueID
        /// The filename stored in the attachment.
        public let filename: String?
        /// The path in the archive. Nil if the archive has no file for this attachment.
        public let path: String?

        /// A sentence that describes the problem.
        public var description: String {
            let name = filename.map { "\(uniqueID) (\($0))" } ?? "\(uniqueID)"
            guard let path else { return "Attachment \(name) is missing. The server has no data for it." }
            return "Attachment \(name) is damaged. \(path) differs from the uploaded file."
        }
    }

    /// The text of `MISSING.txt`.
    var missingText: String {
        """
        This archive is incomplete. The attachments below are missing or damaged.
        Run `hesper check` on the server. Devices that still have these attachments can upload them again.


        """ + missing.map { $0.description + "\n" }.joined()
    }
}
