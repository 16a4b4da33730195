import HesperModel
import NIOCore
import Testing

@testable import HesperStore

@Suite("Who listens on several servers, and what they hear")
struct EventHubServersTests {
    private let here = HubOnWire()
    private let there = HubOnWire()
    private let scope = ScopeID(1)
    private let desk = NodeID.random()
    private let phone = NodeID.random()
    private let laptop = NodeID.random()

    private func head(_ sequence: Int64, of scope: ScopeID? = nil) -> ScopeHead {
        ScopeHead(scope: scope ?? self.scope, sequence: sequence, digest: Digest())
    }

    private func listen(_ device: NodeID, on server: HubOnWire) throws -> Listener {
        try server.hub.listen(to: scope, as: device, ping: 100)
    }

    /// Both servers hear what the other has said by now.
    private func exchange() {
        here.deliver(to: there)
        there.deliver(to: here)
    }

    // MARK: Commits

    @Test("A commit wakes who listens on another server")
    func wakes() async throws {
        let listener = try listen(phone, on: there)
        exchange()
        here.hub.announce([head(7), head(9, of: ScopeID(2))])
        #expect(here.deliver(to: there) == [.committed(scope, 7)])
        #expect(await listener.next().sequence == 7)
        // It is not told on and on.
        #expect(there.wire.taken().isEmpty)
    }

    @Test("Commits of scopes to which nobody listens are not told to anybody")
    func silent() throws {
        let listener = try listen(phone, on: here)
        for number in 2...10_000 { here.hub.announce([head(1, of: ScopeID(Int64(number)))]) }
        // Nor those of a scope to which somebody listens here alone.
        here.hub.announce([head(3)])
        #expect(here.wire.taken() == [.joined(scope, phone)])
        withExtendedLifetime(listener) {}
    }

    @Test("Who has begun to listen hears of a commit that came before the word of it")
    func crossing() async throws {
        let listener = try listen(phone, on: there)
        // What was read by now has 3; 4 and 5 commit, and nobody knows yet that somebody listens.
        here.hub.announce([head(4)])
        here.hub.announce([head(5)])
        #expect(here.wire.taken().isEmpty)
        there.deliver(to: here)
        #expect(here.deliver(to: there) == [.committed(scope, 5)])
        #expect(await listener.next().sequence == 5)
        // Another device there has heard what this one heard.
        let second = try listen(laptop, on: there)
        there.deliver(to: here)
        #expect(here.wire.taken().isEmpty)
        withExtendedLifetime(second) {}
    }

    @Test("What was committed is not remembered for ever, and not without a bound")
    func forgetful() {
        var moves = RecentMoves()
        moves.keep(head(5))
        moves.keep(head(4))
        moves.turn()
        #expect(moves[scope] == 5)
        moves.keep(head(6))
        #expect(moves[scope] == 6)
        moves.turn()
        #expect(moves[scope] == 6)
        moves.turn()
        #expect(moves[scope] == nil)
        moves.keep(head(7))
        for number in 2...Int64(2 * RecentMoves.limit + 1) { moves.keep(head(1, of: ScopeID(number))) }
        #expect(moves[scope] == nil)
        #expect(moves[ScopeID(2 * Int64(RecentMoves.limit))] == 1)
    }

    // MARK: Messages

    @Test("A message is carried to the devices on all servers, in order, and each device counts once")
    func messages() async throws {
        let listeners = [
            try listen(phone, on: here), try listen(phone, on: there), try listen(laptop, on: there),
        ]
        let own = try listen(desk, on: there)
        exchange()
        for text in ["one", "two"] {
            #expect(here.hub.send(ByteBuffer(string: text), from: desk, in: scope) == 2)
        }
        here.deliver(to: there)
        for listener in listeners {
            #expect(await listener.next().messages.map { String(buffer: $0) } == ["one", "two"])
        }
        #expect(await own.next().messages.isEmpty)
        #expect(here.hub.send(ByteBuffer(string: "{}"), from: desk, in: ScopeID(2)) == 0)
        #expect(here.wire.taken().isEmpty)
    }

    @Test("What only the sender's own device would hear elsewhere is not carried")
    func ownMessages() throws {
        let own = try listen(desk, on: there)
        exchange()
        #expect(here.hub.send(ByteBuffer(string: "{}"), from: desk, in: scope) == 0)
        #expect(here.wire.taken().isEmpty)
        withExtendedLifetime(own) {}
    }

    // MARK: Counts

    @Test("Devices that come and go on another server are counted; one on two servers is one")
    func counts() async throws {
        let first = try listen(desk, on: here)
        #expect(await first.next().others == 0)
        var second: Listener? = try listen(phone, on: there)
        exchange()
        #expect(await first.next().others == 1)
        #expect(await second?.next().others == 1)
        let again = try listen(desk, on: there)
        exchange()
        second = nil
        exchange()
        here.hub.tick()
        #expect(await first.next().others == 0)
        withExtendedLifetime(again) {}
    }

    @Test("Who was there before is told when asked; many who ask at once are answered once a second")
    func asked() throws {
        let first = try listen(desk, on: here)
        _ = here.wire.taken()
        there.hub.exchangePresence()
        #expect(there.deliver(to: here, here, here) == [.presenceRequest])
        #expect(here.deliver(to: there) == [.presence(scope, [desk])])
        #expect(there.hub.send(ByteBuffer(string: "{}"), from: phone, in: scope) == 1)
        here.hub.tick()
        #expect(here.wire.taken() == [.presence(scope, [desk])])
        here.hub.tick()
        #expect(here.wire.taken().isEmpty)
        withExtendedLifetime(first) {}
    }

    @Test("Who is named again stays; a server that is killed is forgotten after a minute")
    func killed() async throws {
        let first = try listen(desk, on: here)
        let second = try listen(phone, on: there)
        exchange()
        #expect(await first.next().others == 1)
        for _ in 0..<2 * Elsewhere.timeout {
            for server in [here, there] { server.hub.tick() }
            exchange()
        }
        #expect(here.hub.send(ByteBuffer(), from: desk, in: scope) == 1)
        for _ in 1..<Elsewhere.timeout { here.hub.tick() }
        #expect(here.hub.send(ByteBuffer(), from: desk, in: scope) == 1)
        for _ in 0...EventHub.beat { here.hub.tick() }
        #expect(here.hub.send(ByteBuffer(), from: desk, in: scope) == 0)
        #expect(await first.next().others == 0)
        withExtendedLifetime(second) {}
    }

    @Test("What one server says of its listeners changes nothing of another's")
    func third() throws {
        let another = HubOnWire()
        let (second, third) = (try listen(phone, on: there), try listen(laptop, on: another))
        there.deliver(to: here)
        another.deliver(to: here)
        #expect(here.hub.send(ByteBuffer(), from: desk, in: scope) == 2)
        here.hub.receive(.presence(scope, []), from: there.wire.server)
        #expect(here.hub.send(ByteBuffer(), from: desk, in: scope) == 1)
        here.hub.receive(.left(scope, phone), from: another.wire.server)
        #expect(here.hub.send(ByteBuffer(), from: desk, in: scope) == 1)
        withExtendedLifetime((second, third)) {}
    }

    // MARK: The end

    @Test("Who is signed out is so on all servers: these are told to look")
    func signedOut() throws {
        let (first, second) = (try listen(desk, on: here), try listen(phone, on: here))
        _ = here.wire.taken()
        here.hub.signOut(of: scope) { $0 == phone }
        #expect((first.isOver, second.isOver) == (nil, .signedOut))
        #expect(here.wire.taken() == [.sessionsChanged(scope)])
    }

    @Test("A hub without others keeps nothing for them")
    func alone() {
        let hub = EventHub()
        hub.announce([head(1)])
        for _ in 0..<EventHub.beat { hub.tick() }
        #expect(hub.recentMove(of: scope) == nil)
    }
}
