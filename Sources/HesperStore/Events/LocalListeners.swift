import HesperModel

/// The listeners of one scope on this server.
struct LocalListeners {
    /// The streams of each device, the oldest first.
    var devices: [NodeID: [Mailbox]] = [:]
    /// Whether the number of devices has changed since it was sent.
    private var isCountStale = false
    /// Whether the count was sent during the current second.
    private var isCountSent = false

    var mailboxes: some Sequence<Mailbox> { devices.values.joined() }
    var count: Int { devices.values.reduce(0) { $0 + $1.count } }

    /// The number of listening devices on all servers, not counting the device that it is sent to.
    /// - Parameter remote: the devices that listen on other servers.
    func others(_ remote: Set<NodeID>) -> Int {
        devices.count - 1 + (remote.isEmpty ? 0 : remote.count { devices[$0] == nil })
    }

    /// Sends the number of other devices to all listeners, at most once per second, so that a thousand devices that start to
    /// listen simultaneously do not cause a million updates.
    mutating func notifyCount(_ remote: Set<NodeID>) {
        isCountStale = isCountSent
        guard !isCountSent else { return }
        isCountSent = true
        let others = others(remote)
        for mailbox in mailboxes { mailbox.setOthers(others) }
    }

    /// Sends due pings and a delayed count. To be called every second.
    mutating func tick(_ remote: @autoclosure () -> Set<NodeID>) {
        for mailbox in mailboxes { mailbox.tick() }
        isCountSent = false
        if isCountStale { notifyCount(remote()) }
    }
}
