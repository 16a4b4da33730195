import HesperModel
import HesperStore
import NIOConcurrencyHelpers

extension StoreContract {
    static let groupCases: [Case] = [
        Case("waiting jobs share a commit, in the order of arrival") { (client: Client) in
            let ids = (0..<20).map { _ in UniqueID.random() }
            let applied = try await client.group(ids.map { id in { _ in [client.note(id, "Milk", at: 1)] } })
            try expect(try applied.map { try $0.get().after.sequence }.sorted(), is: Array(1...20).map(Int64.init))
            try expect(Set(try await client.rows().map(\.id)), is: Set(ids))
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("a job that fails in a group undoes only its own changes") { (client: Client) in
            let ids = (0..<6).map { _ in UniqueID.random() }
            let applied = try await client.group(
                ids.enumerated().map { index, id in
                    { transaction in
                        guard index.isMultiple(of: 2) else {
                            try client.push([client.note(id, "Bread", at: 1)], in: transaction)
                            throw Deliberate()
                        }
                        return [client.note(id, "Milk", at: 1)]
                    }
                })
            for (index, result) in applied.enumerated() {
                let isRefused = if case .failure(is Deliberate) = result { true } else { false }
                try expect(isRefused, is: !index.isMultiple(of: 2), "whether job \(index) failed")
            }
            let rows = try await client.rows()
            try expect(Set(rows.map(\.id)), is: [ids[0], ids[2], ids[4]])
            try expect(rows.map(\.sequence), is: [1, 2, 3])
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("a job that fails without others is undone") { (client: Client) in
            let applied = try await client.group([
                { transaction in
                    try client.push([client.note(.random(), "Bread", at: 1)], in: transaction)
                    throw Deliberate()
                }
            ])
            try expect((try? applied[0].get()) == nil)
            try expect(try await client.rows().count, is: 0)
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("a commit is announced once with the new head, even if some of its jobs failed") { (client: Client) in
            let announced = Announced()
            let applied = try await client.group(
                (0..<6).map { index in
                    { _ in
                        guard index != 3 else { throw Deliberate() }
                        return [client.note(.random(), "Milk", at: 1)]
                    }
                }, committed: announced.add)
            let last = applied.compactMap { try? $0.get().after }.max { $0.sequence < $1.sequence }
            try expect(last?.sequence, is: 5)
            // The jobs return before their commit is announced.
            let end = ContinuousClock.now + .seconds(30)
            while announced.heads.last != last, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(1))
            }
            try expect(announced.heads.last, is: last)
            // The first job has a commit of its own, as no commit was running when it arrived.
            try expect(announced.heads.count <= 2)
            // A push that changes nothing is not announced.
            let count = announced.heads.count
            _ = try await client.group([{ _ in [] }], committed: announced.add)
            try expect(announced.heads.count, is: count)
        },
    ]
}

/// Collects the announcements of a push queue.
private final class Announced: Sendable {
    private let box = NIOLockedValueBox<[ScopeHead]>([])

    var heads: [ScopeHead] { box.withLockedValue { $0 } }

    @Sendable func add(_ heads: [ScopeHead]) { box.withLockedValue { $0 += heads } }
}

extension Client {
    typealias Job = @Sendable (any Transaction) throws -> [Push.Element]

    /// Submits jobs to a push queue while the scope is locked, so that they share a transaction.
    fileprivate func group(
        _ jobs: [Job], committed: @escaping @Sendable ([ScopeHead]) -> Void = { _ in }
    ) async throws -> [Result<Scope.PushResult, any Error>] {
        let queue = PushQueue(store: store, committed: committed)
        let scope = Scope(scope, queue: queue, installation: store.installation, now: { Client.date(1_000) })
        let node = device.node
        return try await withThrowingTaskGroup(of: (Int, Result<Scope.PushResult, any Error>).self) { tasks in
            let (began, begin) = AsyncStream.makeStream(of: Void.self)
            let isHeld = NIOLockedValueBox(true)
            async let held: Void = store.write { transaction in
                _ = try transaction.lock(account.scope)
                begin.finish()
                for _ in 0..<60_000 where isHeld.withLockedValue({ $0 }) { Pause.millisecond() }
            }
            for await _ in began {}
            for (index, job) in jobs.enumerated() {
                tasks.addTask {
                    do {
                        return (
                            index,
                            .success(
                                try await scope.write(by: node) { transaction, _, _ in
                                    var push = Push()
                                    push.elements = try job(transaction)
                                    return push
                                })
                        )
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            for _ in 0..<12_000 where queue.submissions < jobs.count { try await Task.sleep(for: .milliseconds(5)) }
            isHeld.withLockedValue { $0 = false }
            try await held
            var results: [(Int, Result<Scope.PushResult, any Error>)] = []
            for try await result in tasks { results.append(result) }
            return results.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
