import HesperModel
import NIOConcurrencyHelpers
import NIOCore

/// Who listens to which scope. It wakes them when something has committed there and carries what devices say to each other,
/// which it keeps nowhere (protocol.md, Events).
///
///     let listener = try hub.listen(to: scope, as: node, ping: 20)
///     let news = await listener.next()
public final class EventHub: Sendable {
    /// Streams of one account at once; whoever comes then is told to come again.
    public static let listenersOfScope = 2_000
    /// Streams of one device at once: of more, the oldest ends, as it is one whose end the network has not told.
    public static let listenersOfDevice = 8
    /// Scopes that are looked at in one snapshot.
    private static let scopesOfLook = 200
    /// What whoever comes too many is told to wait, in seconds.
    static let wait: Int64 = 30

    /// The listeners of one scope.
    private struct Room {
        /// The streams of each device, the oldest first.
        var devices: [NodeID: [Mailbox]] = [:]
        /// Whether somebody came or went since all were told how many others listen, and whether that was in this second.
        var (isStale, isTold) = (false, false)

        var mailboxes: some Sequence<Mailbox> { devices.values.joined() }
        var count: Int { devices.values.reduce(0) { $0 + $1.count } }

        /// Tells everybody how many others there are, once a second at most: when a thousand come at once, not a thousand
        /// times.
        mutating func tell() {
            isStale = isTold
            guard !isTold else { return }
            isTold = true
            for mailbox in mailboxes { mailbox.tell(others: devices.count - 1) }
        }
    }

    private let rooms = NIOLockedValueBox<[ScopeID: Room]>([:])

    public init() {}

    // MARK: Coming and going

    /// A place to hear of what happens in a scope, until nobody holds it any more.
    /// - Parameter ping: after how many seconds without news there is a sign of life.
    /// - Throws: ``Problem`` `too-many-requests`.
    public func listen(to scope: ScopeID, as device: NodeID, ping: Int) throws(Problem) -> Listener {
        let mailbox = Mailbox(ping: ping)
        let isFree = rooms.withLockedValue { rooms in
            var room = rooms[scope] ?? Room()
            guard room.count < EventHub.listenersOfScope else { return false }
            var mailboxes = room.devices[device] ?? []
            let isNew = mailboxes.isEmpty
            if mailboxes.count == EventHub.listenersOfDevice { mailboxes.removeFirst().end(.replaced) }
            mailboxes.append(mailbox)
            room.devices[device] = mailboxes
            mailbox.tell(others: room.devices.count - 1)
            if isNew, room.devices.count > 1 { room.tell() }
            rooms[scope] = room
            return true
        }
        guard isFree else {
            throw Problem(
                .tooManyRequests, "\(EventHub.listenersOfScope) streams of this account are open: close some.",
                context: ["retryAfter": .integer(EventHub.wait), "limit": .integer(Int64(EventHub.listenersOfScope))])
        }
        return Listener(mailbox, of: device, in: scope, hub: self)
    }

    fileprivate func remove(_ mailbox: Mailbox, of device: NodeID, in scope: ScopeID) {
        rooms.withLockedValue { rooms in
            guard var room = rooms[scope] else { return }
            room.devices[device]?.removeAll { $0 === mailbox }
            if room.devices[device]?.isEmpty == true {
                room.devices[device] = nil
                room.tell()
            }
            rooms[scope] = room.devices.isEmpty ? nil : room
        }
    }

    /// Whether nobody listens.
    public var isEmpty: Bool { rooms.withLockedValue(\.isEmpty) }

    // MARK: What happens

    /// Wakes the listeners of scopes that have moved on: once for each commit, however many pushes it has.
    public func announce(_ heads: [ScopeHead]) {
        rooms.withLockedValue { rooms in
            for head in heads {
                guard let room = rooms[head.scope] else { continue }
                for mailbox in room.mailboxes { mailbox.announce(head.sequence) }
            }
        }
    }

    /// Carries a message to the streams of all other devices.
    /// - Returns: how many devices that are.
    public func send(_ message: ByteBuffer, from device: NodeID, in scope: ScopeID) -> Int {
        rooms.withLockedValue { rooms in
            guard let room = rooms[scope] else { return 0 }
            let others = room.devices.filter { $0.key != device }
            for mailbox in others.values.joined() { mailbox.put(message) }
            return others.count
        }
    }

    /// Has a second pass: signs of life, and counts that were held back.
    public func tick() {
        rooms.withLockedValue { rooms in
            for (scope, var room) in rooms {
                for mailbox in room.mailboxes { mailbox.tick() }
                guard room.isTold || room.isStale else { continue }
                room.isTold = false
                if room.isStale { room.tell() }
                rooms[scope] = room
            }
        }
    }

    /// Looks at the store for what nobody announced: commits of other processes, devices and accounts that are gone.
    public func refresh(from store: any Store) async throws {
        // Whoever comes while the store is being looked at is not to be sought in it.
        let listening = rooms.withLockedValue { $0.mapValues { Set($0.devices.keys) } }
        var left = Array(listening.keys)[...]
        while !left.isEmpty {
            let scopes = left.prefix(EventHub.scopesOfLook)
            left = left.dropFirst(EventHub.scopesOfLook)
            let found = try await store.read { snapshot in
                try scopes.map { scope in
                    let devices = try snapshot.devices(of: scope, usedSince: Timestamp(clamping: .min))
                    return (scope, try snapshot.head(of: scope), Set(devices.map(\.node)))
                }
            }
            for (scope, head, devices) in found {
                if let head { announce([head]) }
                let known = head == nil ? [] : devices
                let gone = (listening[scope] ?? []).subtracting(known)
                signOut(of: scope) { gone.contains($0) }
            }
        }
    }

    /// Ends the streams of devices that are signed out.
    public func signOut(of scope: ScopeID, where isSignedOut: (NodeID) -> Bool) {
        rooms.withLockedValue { rooms in
            for (device, mailboxes) in rooms[scope]?.devices ?? [:] where isSignedOut(device) {
                for mailbox in mailboxes { mailbox.end(.signedOut) }
            }
        }
    }
}

/// One stream's place among the listeners of its scope. It is given up when nobody holds it any more.
public final class Listener: Sendable {
    private let mailbox: Mailbox
    private let device: NodeID
    private let scope: ScopeID
    private let hub: EventHub

    fileprivate init(_ mailbox: Mailbox, of device: NodeID, in scope: ScopeID, hub: EventHub) {
        self.mailbox = mailbox
        self.device = device
        self.scope = scope
        self.hub = hub
    }

    deinit { hub.remove(mailbox, of: device, in: scope) }

    /// Waits for whatever comes up, all of it together.
    public func next() async -> News { await mailbox.next() }

    /// Has ``next()`` say that it is over.
    public func end(_ end: News.End) { mailbox.end(end) }

    /// Why it is over, if it is.
    public var isOver: News.End? { mailbox.isOver }
}
