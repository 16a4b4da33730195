import HesperModel
import HesperStore

/// All objects of a scope as they were at one moment, on the disk.
///
/// The store's snapshot is over as soon as they are copied, however slowly somebody takes the archive that is made of them.
struct ExportSnapshot: Sendable {
    /// Where the scope stood.
    let head: ScopeHead
    /// The bodies of its objects, as sync sends them.
    let notes: Spool
    let tags: Spool
    let attachments: Spool
    let objects: Spool
    let deletedObjects: Spool

    var count: Int { notes.count + tags.count + attachments.count + objects.count + deletedObjects.count }

    /// - Throws: ``Problem`` `unauthenticated` if the account is gone; ``StoreError``.
    static func take(of scope: ScopeID, in store: any Store) async throws -> ExportSnapshot {
        try await store.read { try ExportSnapshot(of: scope, in: $0) }
    }

    private init(of scope: ScopeID, in snapshot: any Snapshot) throws {
        guard let head = try snapshot.head(of: scope) else { throw Problem(.unauthenticated, "The account is gone.") }
        self.head = head
        var notes = try SpoolWriter()
        var tags = try SpoolWriter()
        var attachments = try SpoolWriter()
        var objects = try SpoolWriter()
        var deletedObjects = try SpoolWriter()
        // What was changed first comes first: so names go to those that have had them for longest.
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
