import HesperModel
import HesperStore

extension SQLiteSnapshot {
    func hasSweeps(dueBy date: Timestamp, uploadsBefore uploads: Timestamp) throws -> Bool {
        let row = try prepare(
            """
            SELECT EXISTS (SELECT 1 FROM sweeps WHERE due_date <= ?1)
                OR EXISTS (SELECT 1 FROM removed_blobs WHERE scope > 0)
                OR EXISTS (SELECT 1 FROM uploads WHERE creation_date < ?2)
            """)
        row.bind(1, date)
        row.bind(2, uploads)
        return try row.first { row.integer(0) != 0 } ?? false
    }

    func edits(
        of object: UniqueID, in scope: ScopeID, after position: Int64, limit: Int, bytes: Int
    ) throws -> (edits: [SweptEdit], isAll: Bool) {
        // The numbers alone come from the index, which is in the order of clocks.
        let numbers = try prepare("SELECT number FROM edits WHERE scope = ?1 AND object = ?2 AND number > ?3")
        numbers.bind(1, scope)
        numbers.bind(2, object)
        numbers.bind(3, position)
        let all = try numbers.all { numbers.integer(0) }.sorted()
        guard !all.isEmpty else { return ([], true) }
        let lost = try positionsOfLostTexts(of: object, in: scope)
        let row = try prepare("SELECT pushed_at, sequence, body FROM edits WHERE number = ?1")
        var (edits, read): ([SweptEdit], Int) = ([], 0)
        for (index, number) in all.enumerated() {
            guard index < max(limit, 1), read < bytes else { return (edits, false) }
            row.bind(1, number)
            let edit = try row.first {
                let body = row.bytes(2)
                read += body.count
                return SweptEdit(
                    try ParcelBody.read(body), position: number, pushedAt: row.timestamp(0),
                    sequence: row.integer(1), hasLostWords: lost.contains(number))
            }
            if let edit { edits.append(edit) }
        }
        return (edits, true)
    }

    /// By this index, or each body would be walked past to reach the column behind it.
    private func positionsOfLostTexts(of object: UniqueID, in scope: ScopeID) throws -> Set<Int64> {
        let row = try prepare(
            """
            SELECT number FROM edits INDEXED BY edits_lost_words
            WHERE scope = ?1 AND object = ?2 AND has_lost_words = 1
            """)
        row.bind(1, scope)
        row.bind(2, object)
        return Set(try row.all { row.integer(0) })
    }

    func versions(of object: UniqueID, in scope: ScopeID) throws -> [StoredVersion] {
        let lost = try positionsOfLostTexts(of: object, in: scope)
        let row = try prepare(
            "SELECT edit, attribute, clock, pushed_at, sequence FROM versions WHERE scope = ?1 AND object = ?2")
        row.bind(1, scope)
        row.bind(2, object)
        return try row.all {
            guard let attribute = Attribute(row.string(1)), let clock = row.clockIfAny(2) else {
                throw StoreError.damaged("the table versions has a row of \(object) that cannot be read")
            }
            let position = row.integer(0)
            return StoredVersion(
                attribute,
                Thinning.Version(
                    clock: clock, pushedAt: row.timestamp(3), position: position, sequence: row.integer(4),
                    hasLostWords: attribute == .text && lost.contains(position)))
        }
    }

    func devices(of scope: ScopeID, usedSince date: Timestamp) throws -> [Thinning.Device] {
        let row = try prepare(
            """
            SELECT d.node, d.read_sequence, coalesce(d.read_date, d.last_use_date), d.last_use_date
            FROM memberships m JOIN devices d ON d.account = m.account WHERE m.scope = ?1 AND d.last_use_date >= ?2
            """)
        row.bind(1, scope)
        row.bind(2, date)
        return try row.all {
            Thinning.Device(
                node: try row.node(0), readSequence: row.integerIfAny(1), readDate: row.timestamp(2),
                lastUseDate: row.timestamp(3))
        }
    }

    func arrivalDate(ofDeleted id: UniqueID, in scope: ScopeID) throws -> Timestamp? {
        let row = try prepare("SELECT arrival_date FROM tombstones WHERE scope = ?1 AND id = ?2")
        row.bind(1, scope)
        row.bind(2, id)
        return try row.first { row.timestamp(0) }
    }

    func positions(
        of object: UniqueID, in scope: ScopeID, pushedUntil date: Timestamp, limit: Int
    ) throws -> [Int64] {
        let row = try prepare(
            "SELECT number FROM edits WHERE scope = ?1 AND object = ?2 AND pushed_at <= ?3 LIMIT ?4")
        row.bind(1, scope)
        row.bind(2, object)
        row.bind(3, date)
        row.bind(4, max(limit, 1))
        return try row.all { row.integer(0) }
    }

    func firstArrival(of object: UniqueID, in scope: ScopeID) throws -> Timestamp? {
        let row = try prepare("SELECT min(pushed_at) FROM edits WHERE scope = ?1 AND object = ?2")
        row.bind(1, scope)
        row.bind(2, object)
        return try row.first { row.timestampIfAny(0) }
    }

    func unheldDate(of attachment: UniqueID, in scope: ScopeID) throws -> Timestamp? {
        let row = try prepare(PushStatements.blob)
        row.bind(1, scope)
        row.bind(2, attachment)
        return try row.first { row.timestampIfAny(4) }
    }

    func removedBlobs(limit: Int) throws -> [BlobName] {
        let row = try prepare("SELECT scope, attachment, nonce FROM removed_blobs WHERE scope > 0 LIMIT ?1")
        row.bind(1, max(limit, 0))
        return try row.all { try row.blobName() }
    }
}
