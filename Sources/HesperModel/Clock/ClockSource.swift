/// Makes the clocks of one node. Each new clock is greater than all clocks that were made or observed before.
///
///     var source = ClockSource(node: device)
///     source.observe(received)
///     let clock = source.tick(at: now)
public struct ClockSource: Sendable, Equatable {
    public let node: NodeID
    /// The greatest ``Clock/time`` that was made or observed so far.
    public private(set) var time: UInt64

    /// Creates the source of a node's clocks.
    /// - Parameter last: the greatest clock that the node is known to have made or observed; nil if none is known.
    public init(node: NodeID, last: Clock? = nil) {
        self.node = node
        self.time = last?.time ?? 0
    }

    /// Ensures that the next clock is greater than `clock`.
    public mutating func observe(_ clock: Clock) {
        time = max(time, clock.time)
    }

    /// Makes a clock that is greater than all clocks made or observed before.
    ///
    /// - Parameter wall: the current time, in milliseconds since 1970. If an earlier clock has the same or a later time, the new
    ///   clock has the milliseconds of the greatest earlier clock, and the next counter. If the counter overflows, the milliseconds
    ///   increase by one.
    public mutating func tick(at wall: UInt64) -> Clock {
        // The time does not increase beyond the year 9999. When this limit is reached, all further clocks of this source are equal.
        let ceiling = Clock.greatestMilliseconds << 16 | 0xffff
        time = min(max(time + 1, min(wall, Clock.greatestMilliseconds) << 16), ceiling)
        return Clock(time: time, node: node)
    }
}
