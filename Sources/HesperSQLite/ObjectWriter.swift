import HesperModel
import HesperStore

/// Writes the objects and DeletedObjects of one push.
struct ObjectWriter {
    let transaction: SQLiteTransaction
    let scope: ScopeID
    let device: NodeID?
    let date: Timestamp

    func write(_ writing: RowChanges) throws {
        let insert = try transaction.prepare(PushStatements.insertObject)
        for object in writing.objects {
            try write(object, with: object.isNew ? insert : try transaction.prepare(PushStatements.updateObject))
        }
        for deleted in writing.deletions { try write(deleted) }
        try run(PushStatements.deleteMember, writing.lostMembers)
        try run(PushStatements.insertMember, writing.newMembers)
    }

    private func write(_ object: RowChanges.Object, with statement: PreparedStatement) throws {
        let entity = object.entity
        let body = entity.body
        statement.bind(1, scope)
        statement.bind(2, entity.uniqueID)
        statement.bind(3, entity.section.rawValue)
        statement.bind(4, entity.objectType?.name)
        statement.bind(5, object.sequence)
        statement.bind(6, body.count)
        statement.bind(7, object.digest)
        statement.bind(8, text: body)
        guard try statement.run() == 1 else {
            throw StoreError.failed("object \(entity.uniqueID) to update does not exist")
        }
    }

    private func write(_ write: RowChanges.Deleted) throws {
        let deleted = write.deleted
        if write.wasObject {
            let delete = try transaction.prepare(PushStatements.deleteObject)
            delete.bind(1, scope)
            delete.bind(2, deleted.uniqueID)
            try delete.run()
        }
        let put = try transaction.prepare(PushStatements.putTombstone)
        put.bind(1, scope)
        put.bind(2, deleted.uniqueID)
        put.bind(3, deleted.objectType.name)
        put.bind(4, write.target)
        put.bind(5, deleted.deletionDate)
        put.bind(6, write.sequence)
        put.bind(7, deleted.body.count)
        put.bind(8, device)
        put.bind(9, date)
        try put.run()
    }

    private func run(_ sql: String, _ members: [RowChanges.Member]) throws {
        guard !members.isEmpty else { return }
        let statement = try transaction.prepare(sql)
        statement.bind(1, scope)
        for member in members {
            statement.bind(2, member.member)
            statement.bind(3, member.note)
            try statement.run()
        }
    }
}
