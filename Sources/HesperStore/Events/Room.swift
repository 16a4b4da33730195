import HesperModel

/// The listeners of one scope on this server.
struct Room {
    /// The streams of each device, the oldest first.
    var devices: [NodeID: [Mailbox]] = [:]
    /// Whether somebody came or went since all were told how many others listen, and whether that was in this second.
    private var (isStale, isTold) = (false, false)

    var mailboxes: some Sequence<Mailbox> { devices.values.joined() }
    var count: Int { devices.values.reduce(0) { $0 + $1.count } }

    /// How many devices listen besides one of these, here or on other servers.
    func others(_ elsewhere: Set<NodeID>) -> Int {
        devices.count - 1 + (elsewhere.isEmpty ? 0 : elsewhere.count { devices[$0] == nil })
    }

    /// Tells everybody how many others there are, once a second at most: when a thousand come at once, not a thousand
    /// times.
    mutating func tell(_ elsewhere: Set<NodeID>) {
        isStale = isTold
        guard !isTold else { return }
        isTold = true
        let others = others(elsewhere)
        for mailbox in mailboxes { mailbox.tell(others: others) }
    }

    /// Has a second pass: signs of life, and counts that were held back.
    mutating func tick(_ elsewhere: @autoclosure () -> Set<NodeID>) {
        for mailbox in mailboxes { mailbox.tick() }
        isTold = false
        if isStale { tell(elsewhere()) }
    }
}
