package import HesperModel

/// Makes the clocks of the edits in this local copy. A transaction that makes clocks also saves this state in the database, so that
/// two processes never make the same clock.
package struct DeviceClock: Sendable, Equatable {
    private var source: ClockSource
    /// The greatest clock that the server accepted or sent. After the server has refused clocks, new clocks follow this clock.
    package private(set) var agreed: Clock?
    /// An estimate of the server's time minus this device's time, in milliseconds.
    package private(set) var offset: Int64

    package init(node: NodeID) {
        source = ClockSource(node: node)
        offset = 0
    }

    package var node: NodeID { source.node }

    /// An estimate of the server's time at the moment at which this device's time is `wall`.
    package func now(_ wall: Timestamp) -> Timestamp { Timestamp(clamping: wall.milliseconds + offset) }

    /// Makes a clock that is greater than all clocks that were made or observed before.
    package mutating func tick(_ wall: Timestamp) -> Clock {
        source.tick(at: UInt64(max(0, now(wall).milliseconds)))
    }

    /// Records a clock that the server accepted or sent.
    package mutating func observe(_ clock: Clock) {
        source.observe(clock)
        agreed = max(agreed ?? clock, clock)
    }

    /// Records the server's current clock, and corrects the offset between this device's time and the server's (merge.md, Clocks).
    /// - Parameters:
    ///   - sent: this device's time when the request was sent; nil for an event.
    ///   - received: this device's time when the server's clock arrived.
    mutating func learn(_ serverClock: Clock, sent: Timestamp?, received: Timestamp) {
        let server = Int64(serverClock.milliseconds)
        let least = server - received.milliseconds
        // If this device's time was set back during the request, `sent` may be later than `received`.
        let greatest = sent.map { max(least, server - $0.milliseconds) } ?? .max
        offset = min(max(offset, least), greatest)
        observe(serverClock)
    }

    /// Forgets clocks that the server refused, and continues from `agreed` (merge.md, Clock skew).
    mutating func setBack() { source = ClockSource(node: node, last: agreed) }

    /// Returns a device clock for another node. The clocks that it makes are greater than all clocks that this one made or
    /// observed.
    func continued(by node: NodeID) -> DeviceClock {
        var other = self
        other.source = ClockSource(
            node: node,
            last: Clock(milliseconds: source.time >> 16, counter: UInt16(truncatingIfNeeded: source.time), node: node))
        return other
    }
}

extension DeviceClock {
    var json: JSON {
        JSON(members: [
            ("node", .string(node.description)), ("time", .string(String(source.time, radix: 16))),
            ("agreed", agreed.map { .string($0.description) }), ("offset", .integer(offset)),
        ])
    }

    init?(json: JSON) {
        guard let node = json["node"]?.string.flatMap(NodeID.init),
            let time = json["time"]?.string.flatMap({ UInt64($0, radix: 16) })
        else { return nil }
        let last = Clock(milliseconds: time >> 16, counter: UInt16(truncatingIfNeeded: time), node: node)
        source = ClockSource(node: node, last: last)
        agreed = json["agreed"]?.clock
        offset = json["offset"]?.integer ?? 0
    }
}
