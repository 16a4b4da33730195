import HesperModel
import HesperStore

/// Writes the objects and DeletedObjects of one push.
struct ObjectWriter {
    private let transaction: SQLiteTransaction
    private let scope: ScopeID
    private let device: NodeID?
    private let date: Timestamp
    private let insert: Prepared

    init(_ transaction: SQLiteTransaction, scope: ScopeID, device: NodeID?, date: Timestamp) throws {
        self.transaction = transaction
        self.scope = scope
        self.device = device
        self.date = date
        insert = try transaction.prepare(PushStatements.insertObject)
    }

    /// - Parameter sequence: nil while the object waits.
    func write(_ entity: Entity, digest: Digest, sequence: Int64?, before: ObjectState?) throws {
        let isNew: Bool
        switch before {
        case nil: isNew = true
        case .entity?: isNew = false
        case .deleted?: throw StoreError.failed("an object came back from the dead: \(entity.uniqueID)")
        }
        let body = entity.body
        let statement = isNew ? insert : try transaction.prepare(PushStatements.updateObject)
        statement.bind(1, scope)
        statement.bind(2, entity.uniqueID)
        statement.bind(3, entity.section.rawValue)
        statement.bind(4, entity.objectType?.name)
        statement.bind(5, sequence)
        statement.bind(6, body.count)
        statement.bind(7, digest)
        statement.bind(8, text: body)
        guard try statement.run() == 1 else {
            throw StoreError.failed("\(entity.uniqueID) is gone while it is changed")
        }
        try writeMembers(of: entity.uniqueID, before: before, after: entity)
    }

    func write(_ deleted: DeletedObject, sequence: Int64, before: ObjectState?) throws {
        if case .entity? = before {
            let delete = try transaction.prepare(PushStatements.deleteObject)
            delete.bind(1, scope)
            delete.bind(2, deleted.uniqueID)
            try delete.run()
            try writeMembers(of: deleted.uniqueID, before: before, after: nil)
        }
        let put = try transaction.prepare(PushStatements.putTombstone)
        put.bind(1, scope)
        put.bind(2, deleted.uniqueID)
        put.bind(3, deleted.objectType.name)
        put.bind(4, deleted.mergedInto)
        put.bind(5, deleted.deletionDate)
        put.bind(6, sequence)
        put.bind(7, deleted.body.count)
        put.bind(8, device)
        put.bind(9, date)
        try put.run()
    }

    /// Members have rows from when their note is first heard of until it is deleted.
    private func writeMembers(of note: UniqueID, before: ObjectState?, after: Entity?) throws {
        var entityBefore: Entity?
        if case .entity(let entity, _)? = before { entityBefore = entity }
        let old = entityBefore?.heldMembers ?? []
        let new = after?.heldMembers ?? []
        guard old != new else { return }
        try run(PushStatements.deleteMember, old.subtracting(new), of: note)
        try run(PushStatements.insertMember, new.subtracting(old), of: note)
    }

    private func run(_ sql: String, _ members: Set<UniqueID>, of note: UniqueID) throws {
        guard !members.isEmpty else { return }
        let statement = try transaction.prepare(sql)
        statement.bind(1, scope)
        statement.bind(3, note)
        for member in members {
            statement.bind(2, member)
            try statement.run()
        }
    }
}

extension Entity {
    /// The tags and attachments that a note's own registers say it holds, also while it waits.
    var heldMembers: Set<UniqueID> {
        guard case .note(let note) = self, note.tags.count + note.attachments.count > 0 else { return [] }
        return Set(note.tags.raw).union(note.attachments.raw)
    }

    /// The attachments among them.
    var heldAttachments: Set<UniqueID> {
        guard case .note(let note) = self, note.attachments.count > 0 else { return [] }
        return Set(note.attachments.raw)
    }
}
