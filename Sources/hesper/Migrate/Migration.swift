import Foundation
import HesperPostgres
import HesperSQLite
import HesperStore

/// Migrates a data folder to a PostgreSQL database. Errors have messages for the operator.
struct Migration {
    let folder: String
    /// The connection URI of the target database. It may contain a password.
    let target: String

    /// Runs the migration. The function blocks, so it must be called on a separate thread.
    func run() throws -> Move.Report {
        try open { source, target in
            let move: Move
            do { move = try Move(from: source, to: target) } catch let refusal as MoveRefusal {
                throw Failure(text(refusal))
            }
            var bar = ProgressBar(total: move.rows, label: "rows migrated")
            do {
                let report = try move.run { bar.advance(by: $0) }
                bar.end()
                return report
            } catch {
                bar.clear()
                throw Failure(
                    "\((error as? MoveRefusal).map(text) ?? "\(error).") Run the same command again to continue."
                )
            }
        }
    }

    private func open<T>(_ body: (any RowSource, any RowTarget) throws -> T) throws -> T {
        do {
            return try SQLiteRows.whileOpen(folder: URL(filePath: folder)) { source in
                do {
                    return try PostgresRows.whileOpen(target) { try body(source, $0) }
                } catch MoveRefusal.inUse {
                    throw Failure("Another hesper migrate-data is writing to the target.")
                } catch StoreError.unavailable(let reason) {
                    throw Failure("Cannot connect to the target database set with --to or HESPER_DATABASE: \(reason)")
                }
            }
        } catch MoveRefusal.inUse {
            throw Failure("\(folder) is in use. Stop hesper serve and all other programs that have its database open.")
        }
    }

    private func text(_ refusal: MoveRefusal) -> String {
        switch refusal {
        case .inUse: "A server is using the target database. Stop it."
        case .sourceIsUnfinished: "\(folder) is incomplete because another migration into it was interrupted."
        case .alreadyMoved: "The target already contains this installation completely. Nothing was changed."
        case .targetNotEmpty:
            "The target contains another installation, or part of one. Use an empty database. Nothing was changed."
        case .differs(let table, let scopes):
            "Rows of the table \(table)\(scopes.map { " in scopes \($0.lowerBound.rawValue) to \($0.upperBound.rawValue)" } ?? "")"
                + " differ from the source. Their copies were rolled back."
        }
    }
}

/// Runs blocking code on a new thread, because threads of Swift's concurrency pool must not block.
func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { done in
        Thread.detachNewThread { done.resume(with: Result(catching: body)) }
    }
}
