/// Moves an installation from one database to another, row by row. What is under way is in one transaction for some scopes;
/// each row is read back and compared before that ends. So a move that was broken off goes on where it was, and one that has
/// finished has lost nothing.
public struct Move {
    private let source: any RowSource
    private let target: any RowTarget
    private let installation: Installation
    private let turns: [Turn]
    /// How many rows there are in all scopes.
    public let rows: Int

    /// What moves in one transaction.
    private struct Turn {
        var scopes: [ScopeID] = []
        var rows = 0
    }

    /// What was done.
    public struct Report: Sendable, Equatable {
        public var scopes = 0
        /// Of these scopes, those that an earlier run had moved.
        public var found = 0
        public var rows = 0
    }

    /// Rows that are moved in one transaction, unless one scope has more.
    private static let rowsOfTurn = 10_000
    private static let scopesOfTurn = 500
    /// Rows between two reports of progress.
    private static let rowsOfReport = 500

    /// - Throws: ``MoveRefusal``, having changed nothing.
    public init(from source: any RowSource, to target: any RowTarget) throws {
        guard let installation = try source.installation() else { throw MoveRefusal.sourceIsUnfinished }
        (self.source, self.target, self.installation) = (source, target, installation)
        let counts = try source.rowCounts()
        turns = Move.turns(counts)
        rows = counts.values.reduce(0, +)
        try target.begin(for: installation)
    }

    private static func turns(_ counts: [ScopeID: Int]) -> [Turn] {
        var turns: [Turn] = []
        for (scope, rows) in counts.sorted(by: { $0.key < $1.key }) {
            let hasRoom = turns.last.map { $0.rows + rows <= rowsOfTurn && $0.scopes.count < scopesOfTurn } ?? false
            if !hasRoom { turns.append(Turn()) }
            turns[turns.count - 1].scopes.append(scope)
            turns[turns.count - 1].rows += rows
        }
        return turns
    }

    /// - Parameter progress: told how many more of the ``rows`` are there.
    public func run(progress: (Int) -> Void) throws -> Report {
        var report = Report()
        let there = try target.scopes()
        try removeErased(there)
        for turn in turns {
            report.found += try move(turn, there, progress)
            report.scopes += turn.scopes.count
            report.rows += turn.rows
        }
        try target.transaction {
            for table in MovedTable.shared { report.rows += try copy(table, of: nil) { _ in } }
            try target.finish(installation, lastScope: try source.lastScope())
        }
        return report
    }

    /// What an earlier run moved of accounts that are gone since.
    private func removeErased(_ there: Set<ScopeID>) throws {
        let erased = there.subtracting(turns.flatMap(\.scopes)).sorted()
        guard !erased.isEmpty else { return }
        try target.transaction { try target.remove(erased) }
    }

    /// - Returns: how many of its scopes were there.
    private func move(_ turn: Turn, _ there: Set<ScopeID>, _ progress: (Int) -> Void) throws -> Int {
        let known = turn.scopes.filter(there.contains)
        let isGood = try MovedTable.ofScopes.allSatisfy { try isSame($0, of: known) }
        let missing = isGood ? turn.scopes.filter { !there.contains($0) } : turn.scopes
        var done = 0
        if !missing.isEmpty {
            try target.transaction {
                if !isGood { try target.remove(known) }
                for table in MovedTable.ofScopes { done += try copy(table, of: missing, progress) }
                try target.complete(missing)
            }
        }
        progress(turn.rows - done)
        return isGood ? known.count : 0
    }

    /// - Returns: how many rows there were.
    private func copy(_ table: MovedTable, of scopes: [ScopeID]?, _ progress: (Int) -> Void) throws -> Int {
        var sent = MovedRows()
        try target.insert(into: table) { append in
            try source.read(table, of: scopes) { row in
                sent.add(row)
                try append(row)
                if sent.count.isMultiple(of: Move.rowsOfReport) { progress(Move.rowsOfReport) }
            }
        }
        progress(sent.count % Move.rowsOfReport)
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
    /// From the first to the last of them; nil if there is none.
    fileprivate init?(ofSorted scopes: [ScopeID]) {
        guard let first = scopes.first, let last = scopes.last else { return nil }
        self = first...last
    }
}
