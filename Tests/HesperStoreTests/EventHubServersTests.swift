import HesperModel
import NIOCore
import Testing

@testable import HesperStore

@Suite("Events with several servers")
struct EventHubServersTests {
    private let here = TestServer()
    private let there = TestServer()
    private let scope = ScopeID(1)
    private let desk = NodeID.random()
    private let phone = NodeID.random()
    private let laptop = NodeID.random()

    private func head(_ sequence: Int64, of scope: ScopeID? = nil) -> ScopeHead {
        ScopeHead(scope: scope ?? self.scope, sequence: sequence, digest: Digest())
    }

    private func listen(_ device: NodeID, on server: TestServer) throws -> Listener {
        try server.hub.listen(to: scope, as: device, ping: 100)
    }

    /// Delivers the pending signals of both servers.
    private func exchange() {
        here.deliver(to: there)
        there.deliver(to: here)
    }

    // MARK: Commits

    @Test("A commit wakes listeners on another server")
    func wakes() async throws {
        let listener = try listen(phone, on: there)
        exchange()
        here.hub.announce([head(7), head(9, of: ScopeID(2))])
        #expect(here.deliver(to: there) == [.committed(scope, 7)])
        #expect(await listener.next().sequence == 7)
        // The receiver does not forward it.
        #expect(there.signals.taken().isEmpty)
    }

    @Test("Commits are not signalled if other servers have no listeners of the scope")
    func silent() throws {
        let listener = try listen(phone, on: here)
        for number in 2...10_000 { here.hub.announce([head(1, of: ScopeID(Int64(number)))]) }
        // A listener on the committing server needs no signal.
        here.hub.announce([head(3)])
        #expect(here.signals.taken() == [.joined(scope, phone)])
        withExtendedLifetime(listener) {}
    }

    @Test("A listener is notified of a commit that took place before its announcement arrived")
    func crossing() async throws {
        let listener = try listen(phone, on: there)
        // The listener has read up to 3. The commits 4 and 5 take place before its announcement arrives.
        here.hub.announce([head(4)])
        here.hub.announce([head(5)])
        #expect(here.signals.taken().isEmpty)
        there.deliver(to: here)
        #expect(here.deliver(to: there) == [.committed(scope, 5)])
        #expect(await listener.next().sequence == 5)
        // The other server already has the commit, so a second listener there needs no signal.
        let second = try listen(laptop, on: there)
        there.deliver(to: here)
        #expect(here.signals.taken().isEmpty)
        withExtendedLifetime(second) {}
    }

    @Test("Recent commits expire and are limited in number")
    func recentCommitsExpire() {
        var commits = RecentCommits()
        commits.record(head(5))
        commits.record(head(4))
        commits.rotate()
        #expect(commits[scope] == 5)
        commits.record(head(6))
        #expect(commits[scope] == 6)
        commits.rotate()
        #expect(commits[scope] == 6)
        commits.rotate()
        #expect(commits[scope] == nil)
        commits.record(head(7))
        for number in 2...Int64(2 * RecentCommits.limit + 1) { commits.record(head(1, of: ScopeID(number))) }
        #expect(commits[scope] == nil)
        #expect(commits[ScopeID(2 * Int64(RecentCommits.limit))] == 1)
    }

    // MARK: Messages

    @Test("A message is sent to the devices on all servers in order, and each device counts once")
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
        #expect(here.signals.taken().isEmpty)
    }

    @Test("A message is not sent to other servers where only its sender listens")
    func ownMessages() throws {
        let own = try listen(desk, on: there)
        exchange()
        #expect(here.hub.send(ByteBuffer(string: "{}"), from: desk, in: scope) == 0)
        #expect(here.signals.taken().isEmpty)
        withExtendedLifetime(own) {}
    }

    // MARK: Counts

    @Test("The count includes devices on other servers, and a device on two servers only once")
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

    @Test("A presence request is answered; several simultaneous requests cause one answer per second")
    func presenceRequest() throws {
        let first = try listen(desk, on: here)
        _ = here.signals.taken()
        there.hub.exchangePresence()
        #expect(there.deliver(to: here, here, here) == [.presenceRequest])
        #expect(here.deliver(to: there) == [.presence(scope, [desk])])
        #expect(there.hub.send(ByteBuffer(string: "{}"), from: phone, in: scope) == 1)
        here.hub.tick()
        #expect(here.signals.taken() == [.presence(scope, [desk])])
        here.hub.tick()
        #expect(here.signals.taken().isEmpty)
        withExtendedLifetime(first) {}
    }

    @Test("Listeners of a killed server expire after a minute unless their announcement is repeated")
    func killed() async throws {
        let first = try listen(desk, on: here)
        let second = try listen(phone, on: there)
        exchange()
        #expect(await first.next().others == 1)
        for _ in 0..<2 * RemoteListeners.timeout {
            for server in [here, there] { server.hub.tick() }
            exchange()
        }
        #expect(here.hub.send(ByteBuffer(), from: desk, in: scope) == 1)
        for _ in 1..<RemoteListeners.timeout { here.hub.tick() }
        #expect(here.hub.send(ByteBuffer(), from: desk, in: scope) == 1)
        for _ in 0...EventHub.presenceInterval { here.hub.tick() }
        #expect(here.hub.send(ByteBuffer(), from: desk, in: scope) == 0)
        #expect(await first.next().others == 0)
        withExtendedLifetime(second) {}
    }

    @Test("A server's announcements do not affect the listeners of other servers")
    func third() throws {
        let another = TestServer()
        let (second, third) = (try listen(phone, on: there), try listen(laptop, on: another))
        there.deliver(to: here)
        another.deliver(to: here)
        #expect(here.hub.send(ByteBuffer(), from: desk, in: scope) == 2)
        here.hub.receive(.presence(scope, []), from: there.signals.server)
        #expect(here.hub.send(ByteBuffer(), from: desk, in: scope) == 1)
        here.hub.receive(.left(scope, phone), from: another.signals.server)
        #expect(here.hub.send(ByteBuffer(), from: desk, in: scope) == 1)
        withExtendedLifetime((second, third)) {}
    }

    // MARK: The end

    @Test("Signing out a device notifies all servers")
    func signedOut() throws {
        let (first, second) = (try listen(desk, on: here), try listen(phone, on: here))
        _ = here.signals.taken()
        here.hub.signOut(of: scope) { $0 == phone }
        #expect((first.endReason, second.endReason) == (nil, .signedOut))
        #expect(here.signals.taken() == [.sessionsChanged(scope)])
    }

    @Test("A hub without signals records no commits")
    func alone() {
        let hub = EventHub()
        hub.announce([head(1)])
        for _ in 0..<EventHub.presenceInterval { hub.tick() }
        #expect(hub.recentCommit(of: scope) == nil)
    }
}
