import Foundation
import HesperBlobs
import HesperModel
import HesperSQLite
import HesperStore
import NIOConcurrencyHelpers
import Testing

@testable import HesperServer

/// Which events a webhook sends, when it repeats them and when it is paused, with a simulated clock and a receiver whose name
/// does not resolve while it is to fail.
@Suite struct WebhookDelivererTests {
    @Test("At most one note.changed a note in 60 s; other notes are not held up")
    func heldChanges() async throws {
        try await Desk.run(events: WebhookEvent.selectable) { desk in
            let (a, b) = (try await desk.note("a"), try await desk.note("b"))
            #expect(try await desk.deliver() == ["note.created a", "note.created b"])
            try await desk.change(a)
            #expect(try await desk.deliver() == ["note.changed a"])
            // Changes of a are held, b and a new note are not.
            for _ in 0..<3 { try await desk.change(a) }
            try await desk.change(b)
            _ = try await desk.note("c")
            #expect(try await desk.deliver() == ["note.changed b", "note.created c"])
            desk.pass(seconds: 59)
            try await desk.change(a)
            #expect(try await desk.deliver() == [])
            desk.pass(seconds: 1)
            #expect(try await desk.deliver() == ["note.changed a"])
            desk.pass(seconds: 600)
            #expect(try await desk.deliver() == [])
            // A deletion is not held, and the held change is not sent after it.
            try await desk.change(a)
            #expect(try await desk.deliver() == ["note.changed a"])
            try await desk.change(a)
            #expect(try await desk.deliver() == [])
            try await desk.delete(a)
            #expect(try await desk.deliver() == ["note.deleted a"])
            desk.pass(seconds: 61)
            #expect(try await desk.deliver() == [])
            #expect(try await desk.webhook().sequence == desk.head())
        }
    }

    @Test("After a restart, nothing is sent twice, and held changes are sent when they are due")
    func restarts() async throws {
        try await Desk.run(events: WebhookEvent.selectable) { desk in
            let a = try await desk.note("a")
            #expect(try await desk.deliver() == ["note.created a"])
            try await desk.change(a)
            #expect(try await desk.deliver() == ["note.changed a"])
            try await desk.change(a)
            _ = try await desk.note("b")
            let c = try await desk.note("c")
            try await desk.change(c)
            #expect(try await desk.deliver() == ["note.created b", "note.created c"])
            let stored = try await desk.webhook()
            #expect(try await stored.sequence < desk.head())
            #expect(try await stored.announcedSequence == desk.head())
            await desk.restart()
            #expect(try await desk.deliver() == [])
            // It is known that c was announced, although the stored position is before its creation.
            try await desk.change(c)
            #expect(try await desk.deliver() == ["note.changed c"])
            desk.pass(seconds: 61)
            await desk.restart()
            #expect(try await desk.deliver() == ["note.changed a"])
            #expect(try await desk.webhook().sequence == desk.head())
        }
    }

    @Test("A webhook without note.created gets note.changed for a note that was created and changed")
    func changesOnly() async throws {
        try await Desk.run(events: [.noteChanged]) { desk in
            let a = try await desk.note("a")
            #expect(try await desk.deliver() == [])
            try await desk.change(a)
            #expect(try await desk.deliver() == ["note.changed a"])
            let b = try await desk.note("b")
            try await desk.change(b)
            try await desk.delete(a)
            #expect(try await desk.deliver() == ["note.changed b"])
        }
    }

    @Test("A failure is repeated with back-off; afterwards all events arrive in order")
    func repetitions() async throws {
        try await Desk.run(events: WebhookEvent.selectable) { desk in
            let a = try await desk.note("a")
            _ = try await desk.note("b")
            desk.fails = true
            #expect(try await desk.deliver() == [])
            let failed = try await desk.webhook()
            #expect(failed.failures == 1)
            let wait = try #require(failed.nextAttemptDate).milliseconds - desk.now.milliseconds
            #expect((3_000...7_000).contains(wait))
            // Nothing is sent before the date of the next attempt.
            desk.fails = false
            #expect(try await desk.deliver() == [])
            desk.pass(seconds: 10)
            desk.fails = true
            #expect(try await desk.deliver() == [])
            #expect(try await desk.webhook().failures == 2)
            let log = try await desk.log()
            #expect(log.map(\.attempts) == [2])
            #expect(log[0].error == "The host name could not be resolved.")
            // The note that was created is changed before it could be announced: it is announced once, as created.
            try await desk.change(a)
            desk.fails = false
            desk.pass(seconds: 60)
            #expect(try await desk.deliver() == ["note.created b", "note.created a"])
            #expect(try await desk.webhook().failures == 0)
            #expect(try await desk.webhook().firstFailureDate == nil)
        }
    }

    @Test("After three days of failures a webhook is paused; resumed, it continues")
    func threeDays() async throws {
        try await Desk.run(events: WebhookEvent.selectable) { desk in
            _ = try await desk.note("a")
            desk.fails = true
            var attempts = 0
            while try await desk.webhook().storedPauseReason == nil, attempts < 100 {
                _ = try await desk.deliver()
                attempts += 1
                if let next = try await desk.webhook().nextAttemptDate { desk.now = next }
            }
            let webhook = try await desk.webhook()
            #expect(webhook.storedPauseReason == .failing)
            #expect(webhook.nextAttemptDate == nil)
            #expect((20...40).contains(attempts), "\(attempts)")
            let elapsed = desk.now.milliseconds - (webhook.firstFailureDate?.milliseconds ?? 0)
            #expect((Webhook.retryPeriod...Webhook.retryPeriod + 6 * Timestamp.hour).contains(elapsed))
            desk.fails = false
            desk.pass(seconds: 86_400)
            #expect(try await desk.deliver() == [])
            try await desk.resume()
            #expect(try await desk.deliver() == ["note.created a"])
        }
    }

    @Test("More changes than a batch, and more events than the log has entries")
    func manyChanges() async throws {
        try await Desk.run(events: [.noteCreated, .noteDeleted]) { desk in
            var expected: [String] = []
            for index in 0..<320 {
                _ = try await desk.note("\(index)")
                expected.append("note.created \(index)")
            }
            #expect(try await desk.deliver() == expected)
            #expect(try await desk.log().count == Webhook.loggedDeliveries)
            #expect(try await desk.webhook().announcedSequence == desk.head())
            #expect(try await desk.deliver() == [])
        }
    }

    @Test("A restore pauses the webhooks; another server does not send while this one has the lease")
    func restoresAndLeases() async throws {
        try await Desk.run(events: WebhookEvent.selectable) { desk in
            _ = try await desk.note("a")
            let other = desk.makeDeliverer()
            #expect(try await desk.deliver() == ["note.created a"])
            _ = try await desk.note("b")
            #expect(try await desk.deliver(with: other) == [])
            // The first one is killed, so its lease expires.
            desk.pass(seconds: 61)
            #expect(try await desk.deliver(with: other) == ["note.created b"])
            _ = try await desk.note("c")
            #expect(try await desk.deliver() == [])
            await other.end()
            desk.pass(seconds: 6)
            #expect(try await desk.deliver() == ["note.created c"])
            try await desk.change { $0.epoch &+= 1 }
            _ = try await desk.note("d")
            #expect(try await desk.deliver() == [])
            #expect(try await desk.webhook().pauseReason(in: desk.store.installation.epoch) == .restored)
            try await desk.resume()
            #expect(try await desk.deliver() == ["note.created d"])
        }
    }

    @Test("Webhooks are paused if the attachments belong to another copy of the database")
    func contested() async throws {
        try await Desk.run(events: WebhookEvent.selectable) { desk in
            let marker = BlobMarker(installation: desk.store.installation.node, nonce: 4_711)
            try await desk.blobs.setMarker(marker.bytes)
            _ = try await desk.note("a")
            #expect(try await desk.deliver() == [])
            #expect(try await desk.webhook().storedPauseReason == .contested)
            // Resuming does not help as long as the attachments are contested.
            try await desk.resume()
            #expect(try await desk.deliver() == [])
            #expect(try await desk.webhook().storedPauseReason == .contested)
            try await BlobClaim(store: desk.store, blobs: desk.blobs).adopt(acceptingUnknown: 0)
            try await desk.resume()
            #expect(try await desk.deliver() == ["note.created a"])
        }
    }

    @Test("A disabled account sends nothing")
    func disabled() async throws {
        try await Desk.run(events: WebhookEvent.selectable) { desk in
            _ = try await desk.note("a")
            try await desk.setDisabled(since: desk.now)
            #expect(try await desk.deliver() == [])
            try await desk.setDisabled(since: nil)
            #expect(try await desk.deliver() == ["note.created a"])
        }
    }
}

/// A store with an account and a webhook, a deliverer with a simulated clock, and a receiver.
private final class Desk: Sendable {
    let store: SQLiteStore
    let blobs: FolderBlobs
    private let backend: Backend
    private let account: Account
    private let id = UniqueID.random()
    private let receiver: EventReceiver
    private let time = NIOLockedValueBox(Timestamp(clamping: 1_800_000_000_000))
    private let isFailing = NIOLockedValueBox(false)
    private let names = NIOLockedValueBox<[UniqueID: String]>([:])
    private let current: NIOLockedValueBox<WebhookDeliverer?> = NIOLockedValueBox(nil)

    static func run(events: [WebhookEvent], _ body: (Desk) async throws -> Void) async throws {
        let folder = URL(filePath: ".build/server-tests").appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let receiver = try await EventReceiver()
        let desk = try await Desk(folder, events, receiver)
        try await body(desk)
        await desk.deliverer.end()
        try await receiver.close()
    }

    private init(_ folder: URL, _ events: [WebhookEvent], _ receiver: EventReceiver) async throws {
        store = try SQLiteStore(folder: folder)
        blobs = try FolderBlobs(path: folder.appending(path: "attachments").path)
        self.receiver = receiver
        let time = time
        backend = Backend(store: store, blobs: blobs, now: { time.withLockedValue { $0 } })
        let account = try await store.write {
            try $0.insertAccount(
                .random(), email: "ada@example.org", passwordHash: "none", creationDate: Timestamp(clamping: 0))
        }
        self.account = try #require(account)
        let webhook = Webhook(
            uniqueID: id, scope: self.account.scope, url: "http://hook.example:\(receiver.port)/", events: Set(events),
            tag: nil, secret: [1, 2, 3], creationDate: backend.now(), epoch: store.installation.epoch, sequence: 0,
            announcedSequence: 0)
        try await store.write { try $0.insert(webhook) }
        let deliverer = makeDeliverer()
        current.withLockedValue { $0 = deliverer }
    }

    func makeDeliverer() -> WebhookDeliverer {
        let isFailing = isFailing
        let sender = WebhookSender(
            network: WebhookNetwork(allowed: [AddressRange("127.0.0.1")].compactMap(\.self)), version: "1",
            resolve: { _ in
                if isFailing.withLockedValue({ $0 }) { throw WebhookFailure.unresolved }
                return [IPAddress("127.0.0.1")].compactMap(\.self)
            }, limits: WebhookSender.Limits(seconds: 300))
        return WebhookDeliverer(backend: backend, sender: sender, logger: TestServer.silent)
    }

    var deliverer: WebhookDeliverer {
        current.withLockedValue { $0 } ?? makeDeliverer()
    }

    /// Replaces the deliverer by a new one, as a restart does.
    func restart() async {
        await deliverer.end()
        let deliverer = makeDeliverer()
        current.withLockedValue { $0 = deliverer }
    }

    var now: Timestamp {
        get { time.withLockedValue { $0 } }
        set { time.withLockedValue { $0 = newValue } }
    }

    var fails: Bool {
        get { isFailing.withLockedValue { $0 } }
        set { isFailing.withLockedValue { $0 = newValue } }
    }

    func pass(seconds: Int64) { now = now.adding(seconds * 1_000) }

    /// Sends what is due, and returns the events that the receiver got.
    func deliver(with other: WebhookDeliverer? = nil) async throws -> [String] {
        let deliverer = other ?? deliverer
        // A run sends a limited number of batches.
        for _ in 0..<3 {
            backend.webhookCommits.pending.add(.all)
            try await deliverer.step()
            await deliverer.finish()
        }
        return try receiver.take().map { body in
            let json = try JSONReader.read(Array(body.utf8))
            let object = try #require(UniqueID(json.member("data").member("uniqueID").string))
            let name = names.withLockedValue { $0[object] } ?? "?"
            return "\(try json.member("type").string) \(name)"
        }
    }

    // MARK: Changes

    private func push(_ elements: [Push.Element]) async throws {
        let scope = Scope(
            account.scope, queue: backend.queue, installation: store.installation, now: backend.now)
        let feed = Feed(.all)
        let result = try await scope.apply(Push(elements), by: node, since: nil, of: feed)
        #expect(result.receipts.count == elements.count)
    }

    private let node = NodeID.random()
    private let clocks = NIOLockedValueBox<UInt64>(0)

    private func clock() -> Clock {
        let tick = clocks.withLockedValue { clocks in
            clocks += 1
            return clocks
        }
        var source = ClockSource(node: node)
        return source.tick(at: 1_700_000_000_000 + tick)
    }

    func note(_ name: String) async throws -> UniqueID {
        let id = UniqueID.random()
        names.withLockedValue { $0[id] = name }
        let edits = [Edit(.creationDate, .date(now), at: nil), Edit(.text, .string(name), at: clock())]
        try await push([.change(Change(uniqueID: id, section: .notes, edits: edits))])
        return id
    }

    func change(_ note: UniqueID) async throws {
        let edit = Edit(.archived, .bool(Bool.random()), at: clock())
        try await push([.change(Change(uniqueID: note, section: .notes, edits: [edit]))])
    }

    func delete(_ note: UniqueID) async throws {
        try await push([
            .deletion(Deletion(uniqueID: note, objectType: .note, mergedInto: nil, deletionDate: now))
        ])
    }

    func setDisabled(since date: Timestamp?) async throws {
        let id = account.uniqueID
        try await store.write { try $0.setDisabled(since: date, id) }
    }

    // MARK: The webhook

    func webhook() async throws -> Webhook {
        let (id, scope) = (id, account.scope)
        return try #require(try await store.read { try $0.webhook(id, in: scope) })
    }

    func log() async throws -> [WebhookDelivery] {
        let (id, scope) = (id, account.scope)
        return try await store.read { try $0.webhookDeliveries(of: id, in: scope, limit: 1_000) }
    }

    func head() async throws -> Int64 {
        let scope = account.scope
        return try await store.read { try $0.head(of: scope)?.sequence } ?? 0
    }

    func change(_ body: @escaping @Sendable (inout Webhook) -> Void) async throws {
        let (id, scope) = (id, account.scope)
        try await store.write { transaction in
            guard var webhook = try transaction.webhook(id, in: scope) else { return }
            body(&webhook)
            try transaction.update(webhook)
        }
    }

    func resume() async throws {
        let (epoch, head) = (store.installation.epoch, try await head())
        try await change { $0.resume(in: epoch, head: head) }
    }
}
