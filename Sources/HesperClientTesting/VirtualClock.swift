public import Foundation
internal import HesperClient

/// A clock for tests. Its time changes only when a test advances it.
///
///     let clock = VirtualClock()
///     let server = MemoryServer(now: { clock.now })
///     clock.advance(by: 3_600)
public final class VirtualClock: Sendable {
    private let time: Locked<Date>

    /// Creates a clock. By default, it starts at the beginning of 2026 in UTC.
    public init(start: Date = Date(timeIntervalSince1970: 1_767_225_600)) { time = Locked(start) }

    /// The time of the clock.
    public var now: Date { time.withLock { $0 } }

    /// Advances the clock by a number of seconds.
    public func advance(by seconds: TimeInterval) { time.withLock { $0 += seconds } }
}
