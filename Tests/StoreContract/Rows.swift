import HesperModel
import HesperStore

/// A copy of a row of a scan.
struct Row: Sendable, Equatable {
    let isDeleted: Bool
    let sequence: Int64
    let id: UniqueID
    let body: [UInt8]
}

extension Client {
    /// The rows of a scan, by default of everything.
    func rows(
        _ selection: Selection = .all, _ rows: Scan.Rows = .all, in sequences: ClosedRange<Int64> = 0...Int64.max,
        newestFirst: Bool = false, limit: Int = .max
    ) async throws -> [Row] {
        let scan = Scan(selection, rows: rows, sequences: sequences, newestFirst: newestFirst)
        return try await store.read { snapshot in
            var found: [Row] = []
            try snapshot.scan(scan, in: scope) { row in
                guard found.count < limit else { return false }
                found.append(
                    Row(
                        isDeleted: row.kind == .deletedObject, sequence: row.sequence,
                        id: try unwrap(row.id(), "an ID"),
                        body: Array(row.body)))
                return true
            }
            return found
        }
    }

    func size(
        _ selection: Selection = .all, _ rows: Scan.Rows = .all, in sequences: ClosedRange<Int64> = 0...Int64.max
    ) async throws -> ScanSize {
        let scan = Scan(selection, rows: rows, sequences: sequences, newestFirst: false)
        return try await store.read { try $0.size(of: scan, in: scope) }
    }
}
