import HesperModel

/// What became of an export.
public struct ExportReport: Sendable, Equatable {
    /// Notes, each a file.
    public internal(set) var notes = 0
    /// Attachments that are in the archive.
    public internal(set) var attachments = 0
    /// Attachments that are not, or not as they were.
    public internal(set) var missing: [Missing] = []

    public struct Missing: Sendable, Equatable {
        public let uniqueID: UniqueID
        /// What it says of itself.
        public let filename: String?
        /// Its path in the archive, if something of it is there.
        public let path: String?

        /// What is wrong, in a sentence.
        public var description: String {
            let name = filename.map { "\(uniqueID) (\($0))" } ?? "\(uniqueID)"
            guard let path else { return "Attachment \(name) is missing: the server has no bytes of it." }
            return "Attachment \(name) is damaged: what \(path) has is not what was uploaded."
        }
    }

    /// The file `MISSING.txt`.
    var missingText: String {
        """
        This archive does not have everything that the account has.
        Run `hesper check` on the server; devices that still hold these attachments can upload them again.


        """ + missing.map { $0.description + "\n" }.joined()
    }
}
