import Foundation
import HesperModel
import HesperStore
import NIOConcurrencyHelpers

/// One account's pushes do not keep another's waiting (storage.md, A transaction).
extension StoreContract {
    static let queueCases: [Case] = [
        Case("commits another account's push after one large push") { (desk: Desk) in
            let other = try await Desk(on: desk.store, email: "bob@example.com")
            let large = (1...4).map { QueuedJob("large \($0)", desk, bytes: 2 << 20) }
            let order = try await QueuedJob.order(large + [QueuedJob("small", other)])
            try expect(order.firstIndex(of: "small").map { $0 <= 1 }, is: true, "\(order)")
            try expect(order.filter { $0 != "small" }.sorted(), is: large.map(\.name))
        },
        Case("takes a push of each account in turn") { (desk: Desk) in
            let other = try await Desk(on: desk.store, email: "bob@example.com")
            let many = (1...8).map { QueuedJob("many \($0)", desk, bytes: 600 << 10) }
            let order = try await QueuedJob.order(many + [QueuedJob("one", other)])
            // The first was under way already; the second shares a commit with that of the other account.
            try expect(order.firstIndex(of: "one").map { $0 <= 2 }, is: true, "\(order)")
            try expect(order.filter { $0 != "one" }, is: many.map(\.name))
        },
        Case("takes pushes for large that have few bytes and are much work") { (desk: Desk) in
            let other = try await Desk(on: desk.store, email: "bob@example.com")
            let slow = (1...4).map { QueuedJob("slow \($0)", desk, work: .milliseconds(100)) }
            let order = try await QueuedJob.order(slow + [QueuedJob("small", other)])
            try expect(order.firstIndex(of: "small").map { $0 <= 1 }, is: true, "\(order)")
            try expect(order.count, is: 5)
        },
        Case("merges large texts while the scope is free") { (desk: Desk) in
            let phone = NodeID.random()
            let lines = (0..<10_000).map { "line \($0)" }
            @Sendable func text(_ edits: [Int: String]) -> String {
                lines.indices.map { edits[$0] ?? lines[$0] }.joined(separator: "\n")
            }
            let note = UniqueID.random()
            let base = desk.clock(1)
            @Sendable func change(_ text: String, _ clock: Clock, from base: Clock) -> Push.Element {
                .change(
                    Change(
                        uniqueID: note, section: .notes, edits: [Edit(.text, .string(text), at: clock)],
                        textBase: base, textAfter: []))
            }
            try await desk.push(desk.note(note, text([:]), at: 1))
            let first = desk.clock(2, by: phone)
            try await desk.push(change(text([10: "phone"]), first, from: base))
            let merges = NIOLockedValueBox(0)
            let queue = PushQueue(store: desk.store)
            let scope = Scope(desk.scope, queue: queue, installation: desk.store.installation, now: { Desk.now })
            let pushed = Push([change(text([5_000: "laptop"]), desk.clock(3), from: base)])
            let applied = try await scope.apply(pushed, by: desk.device.node, since: nil, of: Feed(.all, limit: 10)) {
                inputs in
                // Another push is not kept waiting, and what was prepared does not hold any more after it.
                merges.withLockedValue { $0 += 1 }
                if merges.withLockedValue({ $0 }) == 1 {
                    let second = change(text([10: "phone", 20: "again"]), desk.clock(4, by: phone), from: first)
                    try await desk.push(second)
                }
                return inputs.map(\.outcome)
            }
            try expect(merges.withLockedValue { $0 }, is: 2)
            try expect(applied.receipts.map(\.status), is: [.merged])
            try expect(try await desk.note(note).text == text([10: "phone", 20: "again", 5_000: "laptop"]))
            try expect(try await desk.inconsistencies(), is: [])
        },
    ]
}

/// Of the current thread.
private func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

/// A push in a queue, by name.
private struct QueuedJob: Sendable {
    let name: String
    let desk: Desk
    var bytes = 0
    /// The processor time that it takes.
    var work = Duration.zero

    init(_ name: String, _ desk: Desk, bytes: Int = 0, work: Duration = .zero) {
        (self.name, self.desk, self.bytes, self.work) = (name, desk, bytes, work)
    }

    /// Puts jobs into one queue, in their order, while their scopes are locked.
    /// - Returns: their names in the order in which they were done.
    static func order(_ jobs: [QueuedJob]) async throws -> [String] {
        guard let store = jobs.first?.desk.store else { return [] }
        let queue = PushQueue(store: store)
        let done = NIOLockedValueBox<[String]>([])
        let isHeld = NIOLockedValueBox(true)
        let scopes = Set(jobs.map(\.desk.scope)).sorted()
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
                        job.desk.scope, queue: queue, installation: store.installation, now: { Desk.now })
                    _ = try await scope.write(by: job.desk.device.node, bytes: job.bytes) { _, _, _ in
                        done.withLockedValue { $0.append(job.name) }
                        let end = processorTime() + job.work
                        while processorTime() < end {}
                        return Push([job.desk.note(.random(), job.name, at: 1)])
                    }
                }
                // So that they arrive in this order.
                for _ in 0..<6_000 where await queue.submissions <= index {
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
