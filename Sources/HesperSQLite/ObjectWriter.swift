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
        statement.bind(
            scope, entity.uniqueID, entity.section.rawValue, entity.objectType?.name, object.sequence, body.count,
            object.digest, SQLiteText(body))
        guard try statement.run() == 1 else {
            throw StoreError.failed("object \(entity.uniqueID) cannot be updated, because it does not exist")
        }
    }

    private func write(_ write: RowChanges.Deleted) throws {
        let deleted = write.deleted
        if write.wasObject {
            let delete = try transaction.prepare(PushStatements.deleteObject)
            delete.bind(scope, deleted.uniqueID)
            try delete.run()
        }
        let put = try transaction.prepare(PushStatements.putTombstone)
        put.bind(
            scope, deleted.uniqueID, deleted.objectType.name, write.target, deleted.deletionDate, write.sequence,
            deleted.body.count, device, date)
        try put.run()
    }

    private func run(_ sql: String, _ members: [RowChanges.Member]) throws {
        guard !members.isEmpty else { return }
        let statement = try transaction.prepare(sql)
        for member in members {
            statement.bind(scope, member.member, member.object)
            try statement.run()
        }
    }
}
