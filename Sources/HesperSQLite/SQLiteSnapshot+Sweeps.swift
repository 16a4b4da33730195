import HesperModel
import HesperSQL
import HesperStore

extension SQLiteSnapshot {
    func edits(
        of object: UniqueID, in scope: ScopeID, after position: Int64, limit: Int, bytes: Int
    ) throws -> (edits: [SweptEdit], isAll: Bool) {
        // Reads the column `number` from an index, so that no table rows are read. The index is ordered by clock. Therefore the
        // numbers are sorted below.
        let numbers = try sql.all(
            "SELECT number FROM edits WHERE scope = $1 AND object = $2 AND number > $3",
            [.scope(scope), .id(object), .integer(position)]
        ) { $0.integer(0) }
        guard !numbers.isEmpty else { return ([], true) }
        // The index `edits_lost_words` contains the rows whose texts lost words. The table stores the column `has_lost_words` after
        // the body, so reading the column from the table would also read the body.
        let lost = Set(
            try sql.all(
                """
                SELECT number FROM edits INDEXED BY edits_lost_words
                WHERE scope = $1 AND object = $2 AND has_lost_words = 1
                """, [.scope(scope), .id(object)]
            ) { $0.integer(0) })
        var (edits, read): ([SweptEdit], Int) = ([], 0)
        for number in numbers.sorted() {
            guard edits.count < max(limit, 1), read < bytes else { return (edits, false) }
            let edit = try sql.first(
                "SELECT pushed_at, sequence, body FROM edits WHERE number = $1", [.integer(number)]
            ) { row in
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
}
