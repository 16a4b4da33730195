import HesperModel
import NIOCore
import Testing

@testable import HesperStore

@Suite("Events on one server")
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

    /// A listener that has received the initial count of other devices.
    private func settled(_ device: NodeID, ping: Int = 20) async throws -> Listener {
        let listener = try listen(device, ping: ping)
        _ = await listener.next()
        return listener
    }

    // MARK: Commits

    @Test("A commit wakes the listeners of its scope only")
    func wakes() async throws {
        let listener = try await settled(desk)
        async let update = listener.next()
        hub.announce([head(7, of: ScopeID(2))])
        hub.announce([head(3)])
        #expect(await update.sequence == 3)
    }

    @Test("Commits while a listener is busy are combined, and older ones are ignored")
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

    @Test("A message is sent to all other devices in order, and the result is their number")
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

    @Test("A slow listener receives only the most recent messages, in order")
    func boundedMessages() async throws {
        let listener = try await settled(phone)
        for index in 0..<100 { _ = hub.send(ByteBuffer(string: "\(index)"), from: desk, in: scope) }
        let received = await listener.next().messages.map { String(buffer: $0) }
        #expect(received == (100 - Mailbox.messages..<100).map(String.init))
    }

    // MARK: Counts

    @Test("Listeners receive the number of other devices at first and when it changes")
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

    @Test("A second stream of a device does not change the count")
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

    @Test("When many devices begin to listen, the count is sent immediately and then at most once per second")
    func manyAtOnce() async throws {
        let first = try await settled(desk)
        var others: [Listener] = []
        for _ in 0..<100 { others.append(try listen(.random())) }
        #expect(await first.next().others == 1)
        hub.tick()
        #expect(await first.next().others == 100)
        // If the count does not change in a second, it is not sent.
        hub.tick()
        first.end(.disconnected)
        #expect(await first.next().others == nil)
        withExtendedLifetime(others) {}
    }

    // MARK: Pings

    @Test("A ping is due after the given number of seconds without events")
    func ping() async throws {
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

    @Test("Signing out a device ends only its own streams")
    func signedOut() async throws {
        let (first, second) = (try await settled(desk), try await settled(phone))
        hub.signOut(of: scope) { $0 == phone }
        #expect(await second.next().end == .signedOut)
        #expect(first.endReason == nil)
        #expect(second.endReason == .signedOut)
    }

    @Test("A released listener is removed")
    func removed() async throws {
        var listener: Listener? = try listen(desk)
        #expect(!hub.isEmpty)
        listener?.end(.disconnected)
        #expect(!hub.isEmpty)
        listener = nil
        #expect(hub.isEmpty)
    }

    @Test("The oldest stream of a device ends when it opens too many")
    func deviceLimit() async throws {
        var listeners: [Listener] = []
        for _ in 0..<EventHub.listenersPerDevice { listeners.append(try listen(desk)) }
        #expect(listeners.allSatisfy { $0.endReason == nil })
        listeners.append(try listen(desk))
        #expect(listeners.map(\.endReason) == [.replaced] + Array(repeating: nil, count: EventHub.listenersPerDevice))
        // Releasing the ended stream does not affect the others.
        listeners.removeFirst()
        #expect(hub.send(ByteBuffer(), from: phone, in: scope) == 1)
    }

    @Test("A stream beyond the limit per account is refused")
    func scopeLimit() throws {
        var listeners: [Listener] = []
        for _ in 0..<EventHub.listenersPerScope { listeners.append(try listen(.random())) }
        #expect(throws: Problem(.tooManyRequests, "")) { try listen(.random()) }
        listeners.removeLast()
        listeners.append(try listen(.random()))
        withExtendedLifetime(listeners) {}
    }
}
