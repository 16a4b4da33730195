import HesperModel
import HesperStore

extension PostgresSnapshot {
    func hasSweeps(dueBy date: Timestamp, uploadsBefore uploads: Timestamp) throws -> Bool {
        try connection.first(
            """
            SELECT EXISTS (SELECT FROM sweeps WHERE due_date <= $1) OR EXISTS (SELECT FROM removed_blobs WHERE scope > 0)
                OR EXISTS (SELECT FROM uploads WHERE creation_date < $2)
            """, [.date(date), .date(uploads)]
        ) { $0.bool(0) } ?? false
    }

    func edits(
        of object: UniqueID, in scope: ScopeID, after position: Int64, limit: Int, bytes: Int
    ) throws -> (edits: [SweptEdit], isAll: Bool) {
        var (edits, read, last, batch): ([SweptEdit], Int, Int64, ScanBatch) = ([], 0, position, ScanBatch())
        let limit = max(limit, 1)
        // One row more than is wanted tells that there are more.
        while true {
            let count = min(batch.rows, PostgresSnapshot.editsAtOnce, limit - edits.count + 1)
            batch.begin()
            var isFull = false
            try connection.query(
                PostgresSnapshot.editsAfter, [.scope(scope), .id(object), .int8(last), .int(count)]
            ) { row in
                guard edits.count < limit, read < bytes else {
                    isFull = true
                    return false
                }
                let body = row.bytes(2)
                batch.count(body.count)
                read += body.count
                last = row.integer(3)
                edits.append(
                    SweptEdit(
                        try ParcelBody.read(body), position: last, pushedAt: row.timestamp(0),
                        sequence: row.integer(1), hasLostWords: row.bool(4)))
                return true
            }
            if isFull { return (edits, false) }
            if batch.count < count { return (edits, true) }
        }
    }

    /// However small those before were, each of the next may have some megabytes.
    private static let editsAtOnce = 16

    /// The numbers alone come from the index, which is in the order of clocks.
    private static let editsAfter = """
        SELECT pushed_at, sequence, body, number, has_lost_words FROM edits
        WHERE scope = $1 AND number = ANY (ARRAY(
            SELECT number FROM edits WHERE scope = $1 AND object = $2 AND number > $3 ORDER BY number LIMIT $4))
        ORDER BY number
        """

    func versions(of object: UniqueID, in scope: ScopeID) throws -> [StoredVersion] {
        try connection.all(
            """
            SELECT edit, attribute, clock, pushed_at, sequence, EXISTS (
                SELECT FROM edits e WHERE e.scope = $1 AND e.object = $2 AND e.has_lost_words AND e.number = v.edit)
            FROM versions v WHERE scope = $1 AND object = $2
            """, [.scope(scope), .id(object)]
        ) { row in
            guard let attribute = Attribute(row.string(1)), let clock = row.clockIfAny(2) else {
                throw StoreError.damaged("the table versions has a row of \(object) that cannot be read")
            }
            return StoredVersion(
                attribute,
                Thinning.Version(
                    clock: clock, pushedAt: row.timestamp(3), position: row.integer(0), sequence: row.integer(4),
                    hasLostWords: attribute == .text && row.bool(5)))
        }
    }

    func devices(of scope: ScopeID, usedSince date: Timestamp) throws -> [Thinning.Device] {
        try connection.all(
            """
            SELECT d.node, d.read_sequence, coalesce(d.read_date, d.last_use_date), d.last_use_date
            FROM memberships m JOIN devices d ON d.account = m.account WHERE m.scope = $1 AND d.last_use_date >= $2
            """, [.scope(scope), .date(date)]
        ) { row in
            Thinning.Device(
                node: try row.node(0), readSequence: row.integerIfAny(1), readDate: row.timestamp(2),
                lastUseDate: row.timestamp(3))
        }
    }

    func arrivalDate(ofDeleted id: UniqueID, in scope: ScopeID) throws -> Timestamp? {
        try connection.first(
            "SELECT arrival_date FROM tombstones WHERE scope = $1 AND id = $2", [.scope(scope), .id(id)]
        ) { $0.timestamp(0) }
    }

    func positions(
        of object: UniqueID, in scope: ScopeID, pushedUntil date: Timestamp, limit: Int
    ) throws -> [Int64] {
        try connection.all(
            "SELECT number FROM edits WHERE scope = $1 AND object = $2 AND pushed_at <= $3 LIMIT $4",
            [.scope(scope), .id(object), .date(date), .int(max(limit, 1))]
        ) { $0.integer(0) }
    }

    func firstArrival(of object: UniqueID, in scope: ScopeID) throws -> Timestamp? {
        try connection.first(
            "SELECT min(pushed_at) FROM edits WHERE scope = $1 AND object = $2", [.scope(scope), .id(object)]
        ) { $0.timestampIfAny(0) }
    }

    func unheldDate(of attachment: UniqueID, in scope: ScopeID) throws -> Timestamp? {
        try connection.first(PushStatements.blob, [.scope(scope), .id(attachment)]) { $0.timestampIfAny(4) }
    }

    func removedBlobs(limit: Int) throws -> [BlobName] {
        try connection.all(
            """
            SELECT scope, attachment, nonce FROM removed_blobs WHERE scope > 0
            ORDER BY scope, attachment, nonce LIMIT $1
            """, [.int(max(limit, 0))]
        ) { try $0.blobName() }
    }
}
