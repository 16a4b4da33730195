import Foundation
import HesperModel
import HesperStore
import NIOConcurrencyHelpers

/// The pushes of one account do not delay those of others (storage.md, A transaction).
extension StoreContract {
    static let queueCases: [Case] = [
        Case("a push of another account waits for one large push only") { (client: Client) in
            let other = try await Client(on: client.store, email: "bob@example.com")
            let large = (1...4).map { QueuedJob("large \($0)", client, bytes: 2 << 20) }
            let order = try await QueuedJob.order(large + [QueuedJob("small", other)])
            try expect(order.firstIndex(of: "small").map { $0 <= 1 }, is: true, "\(order)")
            try expect(order.filter { $0 != "small" }.sorted(), is: large.map(\.name))
        },
        Case("pushes of several accounts are committed in round-robin order") { (client: Client) in
            let other = try await Client(on: client.store, email: "bob@example.com")
            let many = (1...8).map { QueuedJob("many \($0)", client, bytes: 600 << 10) }
            // With several writers, the push of the other account would have a commit of its own at once.
            let order = try await QueuedJob.order(many + [QueuedJob("one", other)], writers: 1)
            // The first was already being committed; the second shares a commit with that of the other account.
            try expect(order.firstIndex(of: "one").map { $0 <= 2 }, is: true, "\(order)")
            try expect(order.filter { $0 != "one" }, is: many.map(\.name))
        },
        Case("slow pushes with few bytes are treated as large") { (client: Client) in
            let other = try await Client(on: client.store, email: "bob@example.com")
            let slow = (1...4).map { QueuedJob("slow \($0)", client, work: .milliseconds(100)) }
            let order = try await QueuedJob.order(slow + [QueuedJob("small", other)])
            try expect(order.firstIndex(of: "small").map { $0 <= 1 }, is: true, "\(order)")
            try expect(order.count, is: 5)
        },
        Case("large texts are merged while the scope is not locked") { (client: Client) in
            let phone = NodeID.random()
            let lines = (0..<10_000).map { "line \($0)" }
            @Sendable func text(_ edits: [Int: String]) -> String {
                lines.indices.map { edits[$0] ?? lines[$0] }.joined(separator: "\n")
            }
            let note = UniqueID.random()
            let base = client.clock(1)
            @Sendable func change(_ text: String, _ clock: Clock, from base: Clock) -> Push.Element {
                .change(
                    Change(
                        uniqueID: note, section: .notes, edits: [Edit(.text, .string(text), at: clock)],
                        textBase: base, textAfter: []))
            }
            try await client.push(client.note(note, text([:]), at: 1))
            let first = client.clock(2, by: phone)
            try await client.push(change(text([10: "phone"]), first, from: base))
            let merges = NIOLockedValueBox(0)
            let queue = PushQueue(store: client.store)
            let scope = Scope(client.scope, queue: queue, installation: client.store.installation, now: { Client.now })
            let pushed = Push([change(text([5_000: "laptop"]), client.clock(3), from: base)])
            let result = try await scope.apply(pushed, by: client.device.node, since: nil, of: Feed(.all, limit: 10)) {
                inputs in
                // Another push is committed meanwhile, which invalidates the prepared merge.
                merges.withLockedValue { $0 += 1 }
                if merges.withLockedValue({ $0 }) == 1 {
                    let second = change(text([10: "phone", 20: "again"]), client.clock(4, by: phone), from: first)
                    try await client.push(second)
                }
                return inputs.map(\.outcome)
            }
            try expect(merges.withLockedValue { $0 }, is: 2)
            try expect(result.receipts.map(\.status), is: [.merged])
            try expect(try await client.note(note).text == text([10: "phone", 20: "again", 5_000: "laptop"]))
            try expect(try await client.inconsistencies(), is: [])
        },
    ]
}

/// The processor time of the current thread.
private func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

/// A named push in a queue.
private struct QueuedJob: Sendable {
    let name: String
    let client: Client
    var bytes = 0
    /// The processor time that it uses.
    var work = Duration.zero

    init(_ name: String, _ client: Client, bytes: Int = 0, work: Duration = .zero) {
        (self.name, self.client, self.bytes, self.work) = (name, client, bytes, work)
    }

    /// Submits jobs to one queue, in order, while their scopes are locked.
    /// - Returns: their names in the order of execution.
    static func order(_ jobs: [QueuedJob], writers: Int? = nil) async throws -> [String] {
        guard let store = jobs.first?.client.store else { return [] }
        let queue = PushQueue(store: store, writers: writers)
        let done = NIOLockedValueBox<[String]>([])
        let isHeld = NIOLockedValueBox(true)
        let scopes = Set(jobs.map(\.client.scope)).sorted()
        let (began, begin) = AsyncStream.makeStream(of: Void.self)
        async let held: Void = store.write { transaction in
            for scope in scopes { _ = try transaction.lock(scope) }
            begin.finish()
            for _ in 0..<60_000 where isHeld.withLockedValue({ $0 }) { Pause.millisecond() }
        }
        for await _ in began {}
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for (index, job) in jobs.enumerated() {
                tasks.addTask {
                    let scope = Scope(
                        job.client.scope, queue: queue, installation: store.installation, now: { Client.now })
                    _ = try await scope.write(by: job.client.device.node, bytes: job.bytes) { _, _, _ in
                        done.withLockedValue { $0.append(job.name) }
                        let end = processorTime() + job.work
                        while processorTime() < end {}
                        return Push([job.client.note(.random(), job.name, at: 1)])
                    }
                }
                // Wait, so that they arrive in this order.
                for _ in 0..<6_000 where queue.submissions <= index {
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            isHeld.withLockedValue { $0 = false }
            try await tasks.waitForAll()
        }
        try await held
        return done.withLockedValue { $0 }
    }
}
