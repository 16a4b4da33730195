extension Mirror {
    /// The result of a round. Notes are counted in `created`, `edited` and `deleted`. Files are counted in `adopted` (matched with
    /// existing notes or attachments), `made` (created), `written` (updated), `moved` and `trashed`. Attachments are counted in
    /// `attached` (to a note) and `detached` (from a note).
    struct Report: Equatable, Sendable {
        var created = 0
        var edited = 0
        var adopted = 0
        var written = 0
        var made = 0
        var moved = 0
        var trashed = 0
        var deleted = 0
        var attached = 0
        var detached = 0
        var skipped: [SkippedFile] = []
        var questions: [MirrorPlan.Question] = []
        /// The paths of missing files whose notes or attachments may be deleted in a later round.
        var waiting: [String] = []
        /// Whether another round should follow at once.
        var isIncomplete = false
        /// Whether bytes of attachments must be downloaded.
        var isFetching = false
        /// Whether some files were changed a moment ago. Another round should follow after ``FolderScanner/quietTime``.
        var isSettling = false
        /// The time of the earliest change, in nanoseconds since 1970, among the files that were changed a moment ago; nil if it is
        /// not known.
        var settlingSince: Int64?

        /// The number of all changes, in the store and in the folder.
        var changes: Int {
            created + edited + adopted + written + made + moved + trashed + deleted + attached + detached
        }
    }
}
