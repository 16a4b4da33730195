/// Makes the clocks of one node. Every tick is greater than every clock that it made or observed before.
///
///     var source = ClockSource(node: device)
///     source.observe(received)
///     let clock = source.tick(at: now)
public struct ClockSource: Sendable, Equatable {
    public let node: NodeID
    /// The greatest time made or observed: 48 bits of milliseconds, 16 of counter.
    public private(set) var time: UInt64

    /// - Parameter last: the last clock that this node made or observed, if it was stored.
    public init(node: NodeID, last: Clock? = nil) {
        self.node = node
        self.time = last?.time ?? 0
    }

    /// Makes the next tick greater than `clock`.
    public mutating func observe(_ clock: Clock) {
        time = max(time, clock.time)
    }

    /// A clock that is greater than all before: at `wall` milliseconds since 1970, or later by as little as necessary.
    ///
    /// A counter overflow carries into the milliseconds.
    public mutating func tick(at wall: UInt64) -> Clock {
        // The time does not increase beyond the year 9999. Clocks from then on differ only by node.
        let ceiling = Clock.greatestMilliseconds << 16 | 0xffff
        time = min(max(time + 1, min(wall, Clock.greatestMilliseconds) << 16), ceiling)
        return Clock(time: time, node: node)
    }
}
