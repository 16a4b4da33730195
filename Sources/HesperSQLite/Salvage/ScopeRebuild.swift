import HesperModel
import HesperSQL
import HesperStore

/// Makes the rows of one scope consistent after they were copied from a damaged database: the scope's objects, digest and sequence
/// number, and the tables in which objects are looked up.
///
/// An object can be restored from its own row or from its edits. If the row contains values that are in none of the edits, new
/// edits with these values are added, so that folding the edits yields the same object.
struct ScopeRebuild {
    private let transaction: SQLiteTransaction
    private let scope: ScopeID
    private let date: Timestamp
    private let statements: Statements
    private var digest = Digest.zero
    private var greatestClock: Clock?
    private var sequence: Int64
    /// The sequence numbers that objects and DeletedObjects already have.
    private var sequences: Set<Int64> = []
    /// The objects of which some edits are lost.
    private(set) var incomplete: Set<UniqueID> = []

    private struct Statements {
        let object, tombstone, parcels, insertObject, updateObject, deleteObject, insertParcel,
            insertMember: PreparedStatement
        let tagNamed, claimTagName: PreparedStatement
    }

    init(_ transaction: SQLiteTransaction, _ scope: LockedScope, at date: Timestamp) throws {
        (self.transaction, self.scope, self.date) = (transaction, scope.head.scope, date)
        (sequence, greatestClock) = (scope.head.sequence, scope.greatestClock)
        statements = try Statements(
            object: transaction.prepare(PushStatements.object),
            tombstone: transaction.prepare(PushStatements.tombstone),
            parcels: transaction.prepare(
                """
                SELECT type, is_servers, text_origin, body FROM edits WHERE scope = ?1 AND object = ?2 ORDER BY number
                """),
            insertObject: transaction.prepare(PushStatements.insertObject),
            updateObject: transaction.prepare(PushStatements.updateObject),
            deleteObject: transaction.prepare(PushStatements.deleteObject),
            insertParcel: transaction.prepare(PushStatements.insertParcel),
            insertMember: transaction.prepare(PushStatements.insertMember),
            tagNamed: transaction.prepare(MergeStatements.tagNamed),
            claimTagName: transaction.prepare(PushStatements.claimTagName))
    }

    mutating func run() throws {
        try removeDamagedParcels()
        // Objects that have a row are rebuilt before objects that have only edits. If a tag with a row and a tag with only edits
        // have the same name, the tag with the row is kept, because the other tag was deleted or renamed.
        for sql in [
            "SELECT id FROM tombstones WHERE scope = ?1", "SELECT id FROM objects WHERE scope = ?1",
            """
            SELECT DISTINCT object FROM edits WHERE scope = ?1
                AND object NOT IN (SELECT id FROM objects WHERE scope = ?1 UNION SELECT id FROM tombstones WHERE scope = ?1)
            """,
        ] {
            let rows = try transaction.prepare(sql)
            rows.bind(scope)
            for id in try rows.all({ try rows.id(0) }) { try rebuild(id) }
        }
        try rebuildBlobs()
        let advance = try transaction.prepare(
            """
            UPDATE scopes SET sequence = ?2, digest = ?3, greatest_clock = ?4, indexed_sequence = 0,
                blob_bytes = (SELECT coalesce(sum(byte_count), 0) FROM blobs WHERE scope = ?1),
                parcel_bytes = (SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM edits WHERE scope = ?1)
            WHERE id = ?1
            """)
        advance.bind(scope, sequence, digest, greatestClock)
        try advance.run()
    }

    /// Removes parcels whose checksum is wrong.
    private mutating func removeDamagedParcels() throws {
        let rows = try transaction.prepare("SELECT \(ParcelChecksum.columns), number FROM edits WHERE scope = ?1")
        rows.bind(scope)
        var damaged: [Int64] = []
        try rows.eachRow {
            guard rows.parcelChecksum() != rows.integer(14) else { return }
            damaged.append(rows.integer(16))
            incomplete.insert(try rows.id(4))
        }
        let delete = try transaction.prepare("DELETE FROM edits WHERE number = ?1")
        for number in damaged {
            delete.bind(number)
            try delete.run()
        }
    }

    // MARK: One object

    /// The values of an object's row.
    private struct StoredObject {
        let entity: Entity
        let edits: [Edit]
        let sequence: Int64?
    }

    private mutating func rebuild(_ id: UniqueID) throws {
        if let (deleted, sequence) = try deletedObject(id) { return try rebuild(deleted, sequence) }
        let stored = try stored(id)
        let parcels = try parcels(of: id)
        let section = stored?.entity.section ?? parcels.compactMap(\.objectType).first.map(Section.init) ?? .objects
        var entity = section.empty(id)
        for edit in parcels.flatMap(\.edits) { entity.fold(edit) }
        let lacking = stored?.edits.filter { edit in
            var more = entity
            return more.fold(edit)
        }
        for edit in lacking ?? [] { entity.fold(edit) }
        if let name = entity.foldedTagName {
            statements.tagNamed.bind(scope, name)
            let taken = try statements.tagNamed.first { try statements.tagNamed.id(0) } != nil
            guard !taken else { return try remove(id) }
        }
        let sequence = entity.exists ? number(stored?.sequence) : nil
        if let lacking, !lacking.isEmpty {
            for edits in lacking.parcels {
                try append(
                    Parcel(object: id, objectType: entity.objectType, edits: edits), at: sequence ?? self.sequence)
            }
            incomplete.insert(id)
        }
        try write(entity, sequence, isNew: stored == nil)
        let clocks = parcels.map(\.lastClock) + [entity.lastClock, greatestClock]
        greatestClock = clocks.compactMap(\.self).max()
    }

    private func stored(_ id: UniqueID) throws -> StoredObject? {
        let row = statements.object
        row.bind(scope, id)
        return try row.first {
            let section = try row.section(0)
            return StoredObject(
                entity: try Entity.read(row.bytes(2), id: id, section: section),
                edits: try Entity.edits(in: row.bytes(2), id: id, section: section), sequence: row.integerIfAny(1))
        }
    }

    private func parcels(of id: UniqueID) throws -> [Parcel] {
        statements.parcels.bind(scope, id)
        return try statements.parcels.all { try statements.parcels.parcel(of: id) }
    }

    /// Removes a tag whose name another tag already has. A device that has the removed tag pushes it again.
    private func remove(_ id: UniqueID) throws {
        for sql in [
            "DELETE FROM objects WHERE scope = ?1 AND id = ?2", "DELETE FROM edits WHERE scope = ?1 AND object = ?2",
        ] {
            let delete = try transaction.prepare(sql)
            delete.bind(scope, id)
            try delete.run()
        }
    }

    private mutating func write(_ entity: Entity, _ sequence: Int64?, isNew: Bool) throws {
        let (id, body, digest) = (entity.uniqueID, entity.body, entity.digest)
        let row = isNew ? statements.insertObject : statements.updateObject
        row.bind(
            scope, id, entity.section.rawValue, entity.objectType?.name, sequence, body.count, digest, SQLiteText(body))
        try row.run()
        self.digest ^= digest
        for member in entity.heldMembers {
            statements.insertMember.bind(scope, member, id)
            try statements.insertMember.run()
        }
        guard let name = entity.foldedTagName else { return }
        statements.claimTagName.bind(scope, name, id)
        try statements.claimTagName.run()
    }

    private func append(_ parcel: Parcel, at sequence: Int64) throws {
        let insert = statements.insertParcel
        let numbered = RowChanges.NumberedParcel(parcel: parcel, sequence: sequence, hasLostWords: false)
        let body = ParcelBody.write(parcel.edits)
        insert.bind(
            scope, parcel.object, sequence, NodeID?.none, date, parcel.objectType?.name, parcel.isServerMade,
            parcel.firstClock, parcel.lastClock, parcel.textClock, Clock?.none, SQLiteText(body), false, [UInt8]?.none,
            ParcelChecksum.of(numbered, body: body, in: scope, by: nil, at: date), parcel.text?.textName)
        try insert.run()
    }

    // MARK: One DeletedObject

    private func deletedObject(_ id: UniqueID) throws -> (DeletedObject, Int64)? {
        let row = statements.tombstone
        row.bind(scope, id)
        return try row.first { (try row.deletedObject(id: id), row.integer(3)) }
    }

    private mutating func rebuild(_ deleted: DeletedObject, _ found: Int64) throws {
        statements.deleteObject.bind(scope, deleted.uniqueID)
        try statements.deleteObject.run()
        let update = try transaction.prepare(
            "UPDATE tombstones SET sequence = ?3, bytes = ?4, merged_into = ?5 WHERE scope = ?1 AND id = ?2")
        // The ID of the object with the saved words is computed, because the stored ID may be damaged.
        let target = deleted.mergedInto ?? deleted.rescuedInto.map { _ in deleted.uniqueID.rescue }
        update.bind(scope, deleted.uniqueID, number(found), deleted.body.count, target)
        try update.run()
        digest ^= deleted.digest
    }

    /// Returns the sequence number that was stored for an object, if it is valid and no other object has it. Otherwise returns
    /// the next sequence number of the scope.
    private mutating func number(_ found: Int64?) -> Int64 {
        if let found, (1...max(sequence, 1)).contains(found), sequences.insert(found).inserted { return found }
        sequence += 1
        sequences.insert(sequence)
        return sequence
    }

    // MARK: Bytes of attachments

    /// Ensures that every attachment has a row in `blobs`, with the size and the SHA-256 hash from the attachment's fields.
    private func rebuildBlobs() throws {
        let known = try transaction.prepare(
            "SELECT id, body FROM objects WHERE scope = ?1 AND section = ?2 AND sequence IS NOT NULL")
        known.bind(scope, Section.attachments.rawValue)
        let put = try transaction.prepare(
            """
            INSERT INTO blobs (scope, attachment, nonce, byte_count, sha256, arrival_date) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (scope, attachment) DO UPDATE SET byte_count = ?4, sha256 = ?5
            """)
        try known.eachRow {
            let id = try known.id(0)
            let entity = try Entity.read(known.bytes(1), id: id, section: .attachments)
            guard case .attachment(let attachment) = entity,
                case .integer(let byteCount)? = attachment[.byteCount],
                case .string(let sha256)? = attachment[.sha256]
            else { return }
            put.bind(scope, id, Int64(bitPattern: .random(in: 0 ... .max)), byteCount, sha256, date)
            try put.run()
        }
        for sql in [
            """
            DELETE FROM blobs WHERE scope = ?1 AND attachment IN (SELECT id FROM tombstones WHERE scope = ?1)
            """,
            """
            UPDATE blobs SET unheld_since = CASE
                WHEN EXISTS (SELECT 1 FROM members WHERE scope = ?1 AND member = attachment) THEN NULL
                ELSE coalesce(unheld_since, ?2) END
            WHERE scope = ?1
            """,
        ] {
            let statement = try transaction.prepare(sql)
            statement.bind(scope, sql.contains("?2") ? date : nil)
            try statement.run()
        }
    }
}

extension [Edit] {
    /// The edits of an object, divided into parcels. Each parcel has at most one text.
    fileprivate var parcels: [[Edit]] {
        let texts = filter(\.attribute.isText)
        let first = filter { !$0.attribute.isText } + texts.prefix(1)
        return [first] + texts.dropFirst().map { [$0] }
    }
}
