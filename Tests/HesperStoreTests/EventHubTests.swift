import HesperModel
import NIOCore
import Testing

@testable import HesperStore

@Suite("Who listens, and what they hear")
struct EventHubTests {
    private let hub = EventHub()
    private let scope = ScopeID(1)
    private let desk = NodeID.random()
    private let phone = NodeID.random()
    private let laptop = NodeID.random()

    private func head(_ sequence: Int64, of scope: ScopeID? = nil) -> ScopeHead {
        ScopeHead(scope: scope ?? self.scope, sequence: sequence, digest: Digest())
    }

    private func listen(_ device: NodeID, to scope: ScopeID? = nil, ping: Int = 20) throws -> Listener {
        try hub.listen(to: scope ?? self.scope, as: device, ping: ping)
    }

    /// A listener that has heard how many others there are.
    private func settled(_ device: NodeID, ping: Int = 20) async throws -> Listener {
        let listener = try listen(device, ping: ping)
        _ = await listener.next()
        return listener
    }

    // MARK: Commits

    @Test("A commit wakes whoever waits, and nobody else")
    func wakes() async throws {
        let listener = try await settled(desk)
        async let news = listener.next()
        hub.announce([head(7, of: ScopeID(2))])
        hub.announce([head(3)])
        #expect(await news.sequence == 3)
    }

    @Test("Commits that come while a listener is busy are one piece of news; an older one is none")
    func coalesces() async throws {
        let listener = try await settled(desk)
        for sequence in [1, 2, 5, 4] as [Int64] { hub.announce([head(sequence)]) }
        #expect(await listener.next().sequence == 5)
        hub.announce([head(5)])
        hub.announce([head(2)])
        listener.end(.disconnected)
        let last = await listener.next()
        #expect(last.sequence == 5)
        #expect(last.end == .disconnected)
    }

    // MARK: Messages

    @Test("A message is carried to all other devices, in order, and counted by devices")
    func messages() async throws {
        let (own, first, again, second) = (
            try await settled(desk), try await settled(phone), try await settled(phone), try await settled(laptop)
        )
        #expect(hub.send(ByteBuffer(string: "one"), from: desk, in: scope) == 2)
        #expect(hub.send(ByteBuffer(string: "two"), from: desk, in: scope) == 2)
        for listener in [first, again, second] {
            #expect(await listener.next().messages.map { String(buffer: $0) } == ["one", "two"])
        }
        own.end(.disconnected)
        #expect(await own.next().messages.isEmpty)
        #expect(hub.send(ByteBuffer(string: "three"), from: desk, in: ScopeID(2)) == 0)
    }

    @Test("Of more messages than are kept for a slow reader, the last stay, in order")
    func boundedMessages() async throws {
        let listener = try await settled(phone)
        for index in 0..<100 { _ = hub.send(ByteBuffer(string: "\(index)"), from: desk, in: scope) }
        let heard = await listener.next().messages.map { String(buffer: $0) }
        #expect(heard == (100 - Mailbox.messages..<100).map(String.init))
    }

    // MARK: Counts

    @Test("Whoever comes is told how many others listen; the others are, too, and when one goes")
    func counts() async throws {
        let first = try listen(desk)
        #expect(await first.next().others == 0)
        var second: Listener? = try listen(phone)
        #expect(await second?.next().others == 1)
        #expect(await first.next().others == 1)
        hub.tick()
        second = nil
        #expect(await first.next().others == 0)
    }

    @Test("A second stream of a device changes no count")
    func sameDevice() async throws {
        let first = try await settled(desk)
        let second = try listen(phone)
        #expect(await first.next().others == 1)
        let again = try listen(phone)
        #expect(await again.next().others == 1)
        hub.tick()
        first.end(.disconnected)
        #expect(await first.next().others == nil)
        withExtendedLifetime(second) {}
    }

    @Test("When many come at once, all are told at first and once a second, not each time")
    func manyAtOnce() async throws {
        let first = try await settled(desk)
        var others: [Listener] = []
        for _ in 0..<100 { others.append(try listen(.random())) }
        #expect(await first.next().others == 1)
        hub.tick()
        #expect(await first.next().others == 100)
        // A second in which nobody comes or goes has no news.
        hub.tick()
        first.end(.disconnected)
        #expect(await first.next().others == nil)
        withExtendedLifetime(others) {}
    }

    // MARK: Signs of life

    @Test("There is a sign of life after so many seconds without news")
    func quiet() async throws {
        let listener = try await settled(desk, ping: 3)
        hub.tick()
        hub.tick()
        hub.announce([head(1)])
        #expect(await listener.next().isPingDue == false)
        for _ in 0..<3 { hub.tick() }
        #expect(await listener.next().isPingDue)
        hub.tick()
        listener.end(.disconnected)
        #expect(await listener.next().isPingDue == false)
    }

    // MARK: The end

    @Test("Who is signed out hears no more; the others do")
    func signedOut() async throws {
        let (first, second) = (try await settled(desk), try await settled(phone))
        hub.signOut(of: scope) { $0 == phone }
        #expect(await second.next().end == .signedOut)
        #expect(first.isOver == nil)
        #expect(second.isOver == .signedOut)
    }

    @Test("Whoever does not listen any more is forgotten")
    func forgotten() async throws {
        var listener: Listener? = try listen(desk)
        #expect(!hub.isEmpty)
        listener?.end(.disconnected)
        #expect(!hub.isEmpty)
        listener = nil
        #expect(hub.isEmpty)
    }

    @Test("Of more streams of a device than it may have, the oldest ends")
    func deviceLimit() async throws {
        var listeners: [Listener] = []
        for _ in 0..<EventHub.listenersPerDevice { listeners.append(try listen(desk)) }
        #expect(listeners.allSatisfy { $0.isOver == nil })
        listeners.append(try listen(desk))
        #expect(listeners.map(\.isOver) == [.replaced] + Array(repeating: nil, count: EventHub.listenersPerDevice))
        // That the first goes at last takes no place from the others.
        listeners.removeFirst()
        #expect(hub.send(ByteBuffer(), from: phone, in: scope) == 1)
    }

    @Test("Of more streams of an account than it may have, the last is refused")
    func scopeLimit() throws {
        var listeners: [Listener] = []
        for _ in 0..<EventHub.listenersPerScope { listeners.append(try listen(.random())) }
        #expect(throws: Problem(.tooManyRequests, "")) { try listen(.random()) }
        listeners.removeLast()
        listeners.append(try listen(.random()))
        withExtendedLifetime(listeners) {}
    }
}
