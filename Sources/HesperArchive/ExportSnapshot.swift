import HesperModel
import HesperStore

/// All objects of a scope at a single point in time, stored in temporary files.
///
/// The snapshot of the store ends as soon as the objects have been copied. Therefore a slow download of the export does not keep
/// the snapshot of the store open.
struct ExportSnapshot: Sendable {
    /// The sequence number and the digest of the scope.
    let head: ScopeHead
    /// The stored bodies of the notes, in the format of sync.
    let notes: Spool
    /// The stored bodies of the tags, in the format of sync.
    let tags: Spool
    /// The stored bodies of the attachments, in the format of sync.
    let attachments: Spool
    /// The stored bodies of the objects of app-defined types, in the format of sync.
    let objects: Spool
    /// The bodies of the DeletedObjects, in the format of sync.
    let deletedObjects: Spool

    var count: Int { notes.count + tags.count + attachments.count + objects.count + deletedObjects.count }

    /// Copies all objects of a scope to temporary files.
    /// - Throws: ``Problem`` `unauthenticated` if the account does not exist, or ``StoreError``.
    static func take(of scope: ScopeID, in store: any Store) async throws -> ExportSnapshot {
        try await store.read { try ExportSnapshot(of: scope, in: $0) }
    }

    private init(of scope: ScopeID, in snapshot: any Snapshot) throws {
        guard let head = try snapshot.head(of: scope) else {
            throw Problem(.unauthenticated, "The account does not exist.")
        }
        self.head = head
        var notes = try SpoolWriter()
        var tags = try SpoolWriter()
        var attachments = try SpoolWriter()
        var objects = try SpoolWriter()
        var deletedObjects = try SpoolWriter()
        // The oldest objects are read first, so that in a later export, new notes do not change the file names of older notes.
        let scan = Scan(.all, rows: .all, sequences: 0...head.sequence, newestFirst: false)
        try snapshot.scan(scan, in: scope) { row in
            switch row.kind {
            case .object(.notes): try notes.append(row.body)
            case .object(.tags): try tags.append(row.body)
            case .object(.attachments): try attachments.append(row.body)
            case .object(.objects): try objects.append(row.body)
            case .deletedObject: try deletedObjects.append(row.body)
            }
            return true
        }
        self.notes = try notes.finish()
        self.tags = try tags.finish()
        self.attachments = try attachments.finish()
        self.objects = try objects.finish()
        self.deletedObjects = try deletedObjects.finish()
    }
}
