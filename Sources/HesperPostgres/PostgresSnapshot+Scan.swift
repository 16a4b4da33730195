import HesperModel
import HesperStore

extension PostgresSnapshot {
    /// Reads the rows of a scan in batches of about a megabyte until `body` returns false. Each batch starts where the previous
    /// batch ended. When the bodies of a batch together reach the maximum size of a result, the statement returns the remaining
    /// rows without their bodies. In this case, the next batch starts with the first row that has no body.
    func scan(_ scan: Scan, in scope: ScopeID, _ body: (ScanRow) throws -> Bool) throws {
        let statements = ScanStatements(scan)
        guard let sql = statements.rows(newestFirst: scan.newestFirst) else { return }
        var (first, last) = (scan.sequences.lowerBound, scan.sequences.upperBound)
        var (left, batch) = (scan.limit, ScanBatch())
        while first <= last, left > 0 {
            let limit = min(batch.rows, left)
            batch.begin()
            var (isOver, isCut) = (false, false)
            try connection.query(
                sql, [.scope(scope), .int8(first), .int8(last), .int(limit)] + statements.arguments
            ) { row in
                isCut = row.lacksBody
                guard !isCut else { return false }
                let sequence = row.integer(0)
                if scan.newestFirst { last = sequence - 1 } else { first = sequence + 1 }
                let goesOn = try row.give(at: sequence, counting: &batch, body)
                isOver = !goesOn
                return goesOn
            }
            guard !isOver, isCut || batch.count == limit else { return }
            left -= batch.count
        }
    }

    func size(of scan: Scan, in scope: ScopeID) throws -> ScanSize {
        let statements = ScanStatements(scan)
        guard let sql = statements.amount else { return .none }
        let (first, last) = (scan.sequences.lowerBound, scan.sequences.upperBound)
        return try connection.first(
            sql, [.scope(scope), .int8(first), .int8(last), .int8(0)] + statements.arguments
        ) { row in ScanSize(objects: row.int(0), bytes: row.int(1)) } ?? .none
    }

    func usage(of scope: ScopeID) throws -> Usage {
        let usage = try connection.first(
            """
            SELECT o.*, s.parcel_bytes, s.blob_bytes, s.quota
            FROM (SELECT count(*), coalesce(sum(bytes), 0)::bigint
                FROM objects WHERE scope = $1 AND sequence IS NOT NULL) o, scopes s WHERE s.id = $1
            """, [.scope(scope)]
        ) { row in Usage(objects: row.int(0), bytes: row.int(1), storage: row.storage(from: 2)) }
        return usage ?? Usage(objects: 0, bytes: 0)
    }
}

/// Computes the number of rows of the next batch from the average size of the bodies in the previous batch. Most bodies are smaller
/// than a kilobyte, but some are several megabytes, so the first batch is small.
struct ScanBatch {
    private(set) var rows = 4
    private(set) var count = 0
    private var bytes = 0

    private static let greatest = 4_096
    private static let targetBytes = 1 << 20

    mutating func begin() {
        if count > 0 { rows = min(max(ScanBatch.targetBytes / max(bytes / count, 1), 1), ScanBatch.greatest) }
        (count, bytes) = (0, 0)
    }

    mutating func count(_ bytes: Int) {
        count += 1
        self.bytes += bytes
    }
}

extension Row {
    /// Whether this is the row of an object whose body was omitted because the result would be too large.
    fileprivate var lacksBody: Bool { !isNull(2) && isNull(3) }

    /// Passes the row, which ``ScanStatements/rows(newestFirst:)`` returned, to `body`.
    /// - Returns: the result of `body`, which is false to end the scan.
    fileprivate func give(
        at sequence: Int64, counting batch: inout ScanBatch, _ body: (ScanRow) throws -> Bool
    ) throws -> Bool {
        guard isNull(2) else {
            let bytes = bytes(3)
            batch.count(bytes.count)
            return try body(
                ScanRow(kind: .object(try section(2)), sequence: sequence, idBytes: self.bytes(1), body: bytes))
        }
        return try deletedObject(id: try id(1), from: 4).body.withUnsafeBytes { bytes in
            batch.count(bytes.count)
            return try body(
                ScanRow(kind: .deletedObject, sequence: sequence, idBytes: self.bytes(1), body: bytes))
        }
    }
}
