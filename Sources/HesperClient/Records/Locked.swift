internal import Foundation

/// A value that a lock protects.
///
/// The standard library's `Mutex` is not used, because ThreadSanitizer does not detect its lock (docs/decisions, record 49).
// `lock` protects every access to `value`.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) { self.value = value }

    /// Calls `body` with exclusive access to the value.
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&value) }
    }
}
