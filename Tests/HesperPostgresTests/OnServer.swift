import Foundation
import HesperStore

@testable import HesperPostgres

/// Runs `body` with a connection to a new database of the shared server, on a separate thread.
func onConnection<T: Sendable>(
    _ change: (inout PostgresSettings) -> Void = { _ in }, _ body: @escaping @Sendable (Connection) throws -> T
) async throws -> T {
    let database = try await PostgresServer.running.database()
    var settings = database.settings
    change(&settings)
    return try await onThread { [settings] in
        defer { _ = database }
        return try body(try Connection(settings))
    }
}

/// Runs `body` on a separate thread, which may block.
func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { done in
        Thread.detachNewThread { done.resume(with: Result(catching: body)) }
    }
}

/// Whether the error is `unavailable`, so that a retry may succeed.
func isUnavailable(_ error: (any Error)?) -> Bool {
    if case .unavailable? = error as? StoreError { true } else { false }
}

/// The resident memory of this process in bytes.
func residentBytes() throws -> Int {
    let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * 4_096
}
