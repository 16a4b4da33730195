/// Moves an installation from one database to another, row by row. Each batch of scopes is written in one transaction. In the
/// same transaction, all written rows are read back and compared with the source. An interrupted move can therefore be continued,
/// and the result of a finished move is complete.
public struct Move {
    private let source: any RowSource
    private let target: any RowTarget
    private let installation: Installation
    private let batches: [Batch]
    /// The total number of rows in all scopes of the source.
    public let rows: Int

    /// The scopes that are moved in one transaction.
    private struct Batch {
        var scopes: [ScopeID] = []
        var rows = 0
    }

    /// The result of a move.
    public struct Report: Sendable, Equatable {
        public var scopes = 0
        /// The number of scopes that an earlier run had already moved.
        public var found = 0
        public var rows = 0
    }

    /// The maximum number of rows in a batch. A batch with a single scope may have more rows.
    private static let rowsPerBatch = 10_000
    private static let scopesPerBatch = 500
    /// The number of rows that are copied between two progress reports.
    private static let rowsPerReport = 500

    /// Prepares the target for the move.
    /// - Throws: ``MoveRefusal`` if the move is not possible. In that case, nothing has been changed.
    public init(from source: any RowSource, to target: any RowTarget) throws {
        guard let installation = try source.installation() else { throw MoveRefusal.sourceIsUnfinished }
        (self.source, self.target, self.installation) = (source, target, installation)
        let counts = try source.rowCounts()
        batches = Move.batches(counts)
        rows = counts.values.reduce(0, +)
        try target.begin(for: installation)
    }

    private static func batches(_ counts: [ScopeID: Int]) -> [Batch] {
        var batches: [Batch] = []
        for (scope, rows) in counts.sorted(by: { $0.key < $1.key }) {
            let fits = batches.last.map { $0.rows + rows <= rowsPerBatch && $0.scopes.count < scopesPerBatch } ?? false
            if !fits { batches.append(Batch()) }
            batches[batches.count - 1].scopes.append(scope)
            batches[batches.count - 1].rows += rows
        }
        return batches
    }

    /// Moves all rows.
    /// - Parameter progress: called repeatedly with the number of rows that have been completed since the previous call.
    public func run(progress: (Int) -> Void) throws -> Report {
        var report = Report()
        let existing = try target.scopes()
        try removeErased(existing)
        for batch in batches {
            report.found += try move(batch, existing, progress)
            report.scopes += batch.scopes.count
            report.rows += batch.rows
        }
        try target.transaction {
            for table in MovedTable.shared { report.rows += try copy(table, of: nil) { _ in } }
            try target.finish(installation, lastScope: try source.lastScope())
        }
        return report
    }

    /// Removes from the target the scopes that an earlier run moved and that were deleted from the source afterwards.
    private func removeErased(_ existing: Set<ScopeID>) throws {
        let erased = existing.subtracting(batches.flatMap(\.scopes)).sorted()
        guard !erased.isEmpty else { return }
        try target.transaction { try target.remove(erased) }
    }

    /// Moves a batch of scopes in one transaction.
    /// - Returns: the number of scopes in the batch that an earlier run had already moved and that have not changed since.
    private func move(_ batch: Batch, _ existing: Set<ScopeID>, _ progress: (Int) -> Void) throws -> Int {
        let known = batch.scopes.filter(existing.contains)
        let isUnchanged = try MovedTable.ofScopes.allSatisfy { try isSame($0, of: known) }
        let missing = isUnchanged ? batch.scopes.filter { !existing.contains($0) } : batch.scopes
        var done = 0
        if !missing.isEmpty {
            try target.transaction {
                if !isUnchanged { try target.remove(known) }
                for table in MovedTable.ofScopes { done += try copy(table, of: missing, progress) }
                try target.complete(missing)
            }
        }
        progress(batch.rows - done)
        return isUnchanged ? known.count : 0
    }

    /// Copies the rows of a table and compares the copies with the source.
    /// - Returns: the number of copied rows.
    private func copy(_ table: MovedTable, of scopes: [ScopeID]?, _ progress: (Int) -> Void) throws -> Int {
        var sent = MovedRows()
        try target.insert(into: table) { append in
            try source.read(table, of: scopes) { row in
                sent.add(row)
                try append(row)
                if sent.count.isMultiple(of: Move.rowsPerReport) { progress(Move.rowsPerReport) }
            }
        }
        progress(sent.count % Move.rowsPerReport)
        guard try rows(of: table, of: scopes, in: target) == sent else {
            throw MoveRefusal.differs(table: table.name, scopes: scopes.flatMap(ClosedRange.init(ofSorted:)))
        }
        return sent.count
    }

    private func isSame(_ table: MovedTable, of scopes: [ScopeID]) throws -> Bool {
        try scopes.isEmpty || rows(of: table, of: scopes, in: source) == rows(of: table, of: scopes, in: target)
    }

    private func rows(of table: MovedTable, of scopes: [ScopeID]?, in database: any RowSource) throws -> MovedRows {
        var rows = MovedRows()
        try database.read(table, of: scopes) { rows.add($0) }
        return rows
    }
}

extension ClosedRange where Bound == ScopeID {
    /// The range from the first to the last of these scopes; nil if the array is empty.
    fileprivate init?(ofSorted scopes: [ScopeID]) {
        guard let first = scopes.first, let last = scopes.last else { return nil }
        self = first...last
    }
}
