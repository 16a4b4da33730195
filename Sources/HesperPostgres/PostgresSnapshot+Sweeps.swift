import HesperModel
import HesperStore

extension PostgresSnapshot {
    func edits(
        of object: UniqueID, in scope: ScopeID, after position: Int64, limit: Int, bytes: Int
    ) throws -> (edits: [SweptEdit], isAll: Bool) {
        var (edits, read, last, batch): ([SweptEdit], Int, Int64, ScanBatch) = ([], 0, position, ScanBatch())
        let limit = max(limit, 1)
        // Read one row more than the limit, to find out whether there are more edits.
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

    /// The maximum number of edits in a batch. The total size of a batch is limited too, but the size of a body is known only
    /// after the body was read, and a body may be several megabytes.
    private static let editsAtOnce = 16

    /// Reads the edits of an object whose `number` is greater than a given one, ordered by `number`. The subquery reads `number`
    /// from an index, which is ordered by clock, and sorts the values. Parameters: scope, object, `number`, maximum number of
    /// rows.
    private static let editsAfter = """
        SELECT pushed_at, sequence, body, number, has_lost_words FROM edits
        WHERE scope = $1 AND number = ANY (ARRAY(
            SELECT number FROM edits WHERE scope = $1 AND object = $2 AND number > $3 ORDER BY number LIMIT $4))
        ORDER BY number
        """
}
