import HesperModel
import HesperStore

extension SQLSnapshot {
    public func idempotencyRecord(_ keyHash: [UInt8], in scope: ScopeID) throws -> IdempotencyRecord? {
        try sql.first(
            """
            SELECT body_hash, object, is_creation, creation_date FROM idempotency_keys
            WHERE scope = $1 AND key_hash = $2
            """, [.scope(scope), .bytes(keyHash)]
        ) { row in
            IdempotencyRecord(
                keyHash: keyHash, bodyHash: Array(row.bytes(0)), object: try row.id(1), isCreation: row.bool(2),
                date: row.timestamp(3))
        }
    }
}

extension SQLTransaction {
    public func insert(_ record: IdempotencyRecord, in scope: ScopeID, limit: Int) throws {
        // Each record gets the next `number` of its scope. After an insertion, at most one record exceeds the limit: the record
        // whose `number` is the greatest `number` minus the limit.
        let last = "(SELECT number FROM idempotency_keys WHERE scope = $1 ORDER BY number DESC LIMIT 1)"
        try sql.enqueue(
            """
            INSERT INTO idempotency_keys (scope, key_hash, body_hash, object, is_creation, creation_date, number)
            VALUES ($1, $2, $3, $4, $5, $6, coalesce(\(last), 0) + 1)
            ON CONFLICT (scope, key_hash) DO UPDATE SET body_hash = excluded.body_hash, object = excluded.object,
                is_creation = excluded.is_creation, creation_date = excluded.creation_date, number = excluded.number
            """,
            [
                .scope(scope), .bytes(record.keyHash), .bytes(record.bodyHash), .id(record.object),
                .bool(record.isCreation), .date(record.date),
            ], expecting: 1)
        try sql.enqueue(
            "DELETE FROM idempotency_keys WHERE scope = $1 AND number = \(last) - $2", [.scope(scope), .int(limit)])
    }

    public func deleteIdempotencyRecords(until date: Timestamp, limit: Int) throws -> Int {
        // Records that another transaction has locked are skipped, so that the deletion does not wait. The next sweep deletes
        // them.
        let expired = try sql.all(
            """
            SELECT scope, key_hash FROM idempotency_keys WHERE creation_date <= $1 ORDER BY creation_date LIMIT $2
            \(sql.dialect.skipsLocked)
            """, [.date(date), .limit(limit)]
        ) { ($0.scope(0), Array($0.bytes(1))) }
        for (scope, keyHash) in expired {
            try sql.enqueue(
                "DELETE FROM idempotency_keys WHERE scope = $1 AND key_hash = $2", [.scope(scope), .bytes(keyHash)])
        }
        return expired.count
    }
}
