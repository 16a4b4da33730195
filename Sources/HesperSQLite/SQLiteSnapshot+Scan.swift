import HesperModel
import HesperStore

extension SQLiteSnapshot {
    func scan(_ scan: Scan, in scope: ScopeID, _ body: (ScanRow) throws -> Bool) throws {
        let (objects, deleted) = try reach(of: scan, in: scope)
        var cursors: [ScanCursor] = []
        defer { for cursor in cursors { cursor.rows.reset() } }
        func add(_ sql: String, _ type: String?, isDeleted: Bool) throws {
            let rows = try prepare(sql)
            rows.bind(scope, scan.sequences.lowerBound, scan.sequences.upperBound, type)
            // Advance to the first row immediately. Before its first step, a cached statement is not considered in use, so that
            // another cursor with the same SQL would get the same statement.
            if try rows.step() { cursors.append(ScanCursor(rows: rows, isDeleted: isDeleted)) }
        }
        func add(_ types: ScanFilter.Types, _ sql: String, isDeleted: Bool) throws {
            switch types {
            case .none: break
            case .all, .allButTags: try add(sql, nil, isDeleted: isDeleted)
            case .some(let names, _): for name in names { try add(sql, name, isDeleted: isDeleted) }
            }
        }
        try add(objects, ScanStatements.objects(objects, newestFirst: scan.newestFirst), isDeleted: false)
        try add(deleted, ScanStatements.deleted(deleted, newestFirst: scan.newestFirst), isDeleted: true)
        while let index = next(of: cursors, newestFirst: scan.newestFirst) {
            // Take rows of this cursor as long as they come before the current rows of all other cursors. If it is the only
            // cursor, take all its rows.
            let others = cursors.indices.filter { $0 != index }.map { cursors[$0].sequence }
            let limit = (scan.newestFirst ? others.max() : others.min())
            // A copy, because each access to an element of the array would retain and release its statement.
            var cursor = cursors[index]
            while true {
                guard try cursor.give(body, withID: scan.needsIDs) else { return }
                guard try cursor.advance() else {
                    cursors.remove(at: index)
                    break
                }
                guard let limit, scan.newestFirst ? cursor.sequence < limit : cursor.sequence > limit else { continue }
                cursors[index] = cursor
                break
            }
        }
    }

    private func reach(
        of scan: Scan, in scope: ScopeID
    ) throws -> (objects: ScanFilter.Types, deleted: ScanFilter.Types) {
        let reach = ScanFilter(scan)
        return (
            try named(reach.objects, in: scope, ScanStatements.nextObjectType),
            try named(reach.deleted, in: scope, ScanStatements.nextDeletedType)
        )
    }

    /// The index of the cursor whose current row comes next in the scan; nil if there is no cursor.
    private func next(of cursors: [ScanCursor], newestFirst: Bool) -> Int? {
        newestFirst
            ? cursors.indices.max { cursors[$0].sequence < cursors[$1].sequence }
            : cursors.indices.min { cursors[$0].sequence < cursors[$1].sequence }
    }

    func size(of scan: Scan, in scope: ScopeID) throws -> ScanSize {
        let (objects, deleted) = try reach(of: scan, in: scope)
        func amount(_ table: String, _ type: String? = nil) throws -> ScanSize {
            let row = try prepare(ScanStatements.amount(of: table, isOfType: type != nil))
            row.bind(scope, scan.sequences.lowerBound, scan.sequences.upperBound, type)
            return try row.first { ScanSize(objects: row.int(0), bytes: row.int(1)) } ?? .none
        }
        func amount(_ table: String, _ types: ScanFilter.Types) throws -> ScanSize {
            switch types {
            case .none: .none
            case .all: try amount(table)
            case .allButTags: try amount(table) - amount(table, "tag")
            case .some(let names, _): try names.reduce(.none) { $0 + (try amount(table, $1)) }
            }
        }
        return try amount("objects", objects) + amount("tombstones", deleted)
    }

    func usage(of scope: ScopeID) throws -> Usage {
        let everything = Scan(.all, rows: .all, sequences: 0...Int64.max, newestFirst: false)
        var reach = everything
        reach.selection = .deletedObjects
        let live = try size(of: everything, in: scope) - size(of: reach, in: scope)
        return Usage(objects: live.objects, bytes: live.bytes, storage: try storage(of: scope))
    }
}

extension ScanSize {
    fileprivate static func + (left: ScanSize, right: ScanSize) -> ScanSize {
        ScanSize(objects: left.objects + right.objects, bytes: left.bytes + right.bytes)
    }

    fileprivate static func - (left: ScanSize, right: ScanSize) -> ScanSize {
        ScanSize(objects: left.objects - right.objects, bytes: left.bytes - right.bytes)
    }
}

/// One of the statements of a scan, positioned at its current row.
private struct ScanCursor {
    let rows: PreparedStatement
    let isDeleted: Bool
    var sequence: Int64

    init(rows: PreparedStatement, isDeleted: Bool) {
        self.rows = rows
        self.isDeleted = isDeleted
        sequence = rows.integer(0)
    }

    mutating func advance() throws -> Bool {
        guard try rows.step() else { return false }
        sequence = rows.integer(0)
        return true
    }

    func give(_ body: (ScanRow) throws -> Bool, withID: Bool) throws -> Bool {
        guard isDeleted else {
            return try body(
                ScanRow(
                    kind: .object(try rows.section(1)), sequence: sequence,
                    idBytes: withID ? rows.bytes(2) : UnsafeRawBufferPointer(start: nil, count: 0),
                    body: rows.bytes(3)))
        }
        return try rows.deletedObject(id: try rows.id(1), from: 2).body.withUnsafeBytes {
            try body(ScanRow(kind: .deletedObject, sequence: sequence, idBytes: rows.bytes(1), body: $0))
        }
    }
}
