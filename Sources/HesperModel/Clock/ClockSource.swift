/// Ticks the clocks of one node: every tick is greater than every clock it ticked or observed before.
///
///     var source = ClockSource(node: device)
///     source.observe(received)
///     let clock = source.tick(at: now)
public struct ClockSource: Sendable, Equatable {
    public let node: NodeID
    /// The greatest time ticked or observed: 48 bits of milliseconds, 16 of counter.
    public private(set) var time: UInt64

    /// - Parameter last: what this node ticked or observed last, if it kept it.
    public init(node: NodeID, last: Clock? = nil) {
        self.node = node
        self.time = last?.time ?? 0
    }

    /// Makes the next tick greater than `clock`.
    public mutating func observe(_ clock: Clock) {
        time = max(time, clock.time)
    }

    /// A clock greater than all before, at `wall` milliseconds since 1970 or as little later as it must be.
    ///
    /// A counter that would overflow carries into the milliseconds.
    public mutating func tick(at wall: UInt64) -> Clock {
        // At the end of the year 9999 time stands still; clocks from there on differ by node alone.
        let ceiling = Clock.greatestMilliseconds << 16 | 0xffff
        time = min(max(time + 1, min(wall, Clock.greatestMilliseconds) << 16), ceiling)
        return Clock(time: time, node: node)
    }
}
