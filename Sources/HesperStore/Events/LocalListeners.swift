import HesperModel

/// The listeners of one scope on this server.
struct LocalListeners {
    /// The streams of each device, ordered from the oldest to the newest.
    var devices: [NodeID: [Mailbox]] = [:]
    /// Whether the number of listening devices has changed since it was last sent.
    private var isCountStale = false
    /// Whether the number of listening devices was sent during the current second.
    private var isCountSent = false

    var mailboxes: some Sequence<Mailbox> { devices.values.joined() }
    var count: Int { devices.values.reduce(0) { $0 + $1.count } }

    /// The number of listening devices on all servers, without the device that receives this number.
    /// - Parameter remote: the devices that listen on other servers.
    func others(_ remote: Set<NodeID>) -> Int {
        devices.count - 1 + (remote.isEmpty ? 0 : remote.count { devices[$0] == nil })
    }

    /// Sends the number of other devices to all listeners, at most once per second. Without this limit, a thousand devices that
    /// start to listen simultaneously would cause a million updates.
    mutating func notifyCount(_ remote: Set<NodeID>) {
        isCountStale = isCountSent
        guard !isCountSent else { return }
        isCountSent = true
        let others = others(remote)
        for mailbox in mailboxes { mailbox.setOthers(others) }
    }

    /// Sends the pings that are due. Also sends the number of listening devices if ``notifyCount(_:)`` did not send it because of
    /// the limit. Must be called every second.
    mutating func tick(_ remote: @autoclosure () -> Set<NodeID>) {
        for mailbox in mailboxes { mailbox.tick() }
        isCountSent = false
        if isCountStale { notifyCount(remote()) }
    }
}
