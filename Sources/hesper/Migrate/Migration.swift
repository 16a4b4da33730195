import Foundation
import HesperPostgres
import HesperSQLite
import HesperStore

/// A move from a folder to a database of a server, with what a person has to know of it.
struct Migration {
    let folder: String
    /// An address, which may hold a password.
    let target: String

    /// To be run on a thread that may wait.
    func run() throws -> Move.Report {
        try open { source, target in
            let move: Move
            do { move = try Move(from: source, to: target) } catch let refusal as MoveRefusal {
                throw Failure(text(refusal))
            }
            var bar = ProgressBar(total: move.rows, what: "rows moved")
            do {
                let report = try move.run { bar.advance(by: $0) }
                bar.end()
                return report
            } catch {
                bar.clear()
                throw Failure(
                    "\((error as? MoveRefusal).map(text) ?? "\(error).") Do the same again to go on where it broke off."
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
                    throw Failure("Another hesper migrate-data is at work on the target.")
                } catch StoreError.unavailable(let why) {
                    throw Failure("The target (--to or HESPER_DATABASE names it) is not to be had: \(why)")
                }
            }
        } catch MoveRefusal.inUse {
            throw Failure("\(folder) is in use: stop hesper serve, and what else has its database open.")
        }
    }

    private func text(_ refusal: MoveRefusal) -> String {
        switch refusal {
        case .inUse: "A server has the target open: stop it."
        case .sourceIsUnfinished: "\(folder) is itself only partly filled by another move."
        case .alreadyMoved: "This installation is in the target already, and whole. Nothing was changed."
        case .targetNotEmpty:
            "The target holds another installation, or a part of one: name an empty database. Nothing was changed."
        case .differs(let table, let scopes):
            "What the table \(table) holds\(scopes.map { " of the scopes \($0.lowerBound.rawValue) to \($0.upperBound.rawValue)" } ?? "")"
                + " is not what was sent to it; these rows were taken back."
        }
    }
}

/// Does what waits on a thread of its own: those of Swift's pool never wait.
func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { done in
        Thread.detachNewThread { done.resume(with: Result(catching: body)) }
    }
}
