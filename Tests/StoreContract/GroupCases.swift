import HesperModel
import HesperStore
import NIOConcurrencyHelpers

extension StoreContract {
    static let groupCases: [Case] = [
        Case("commits what waits together, in the order of arrival") { (desk: Desk) in
            let ids = (0..<20).map { _ in UniqueID.random() }
            let applied = try await desk.group(ids.map { id in { _ in [desk.note(id, "Milk", at: 1)] } })
            try expect(try applied.map { try $0.get().after.sequence }.sorted(), is: Array(1...20).map(Int64.init))
            try expect(Set(try await desk.rows().map(\.id)), is: Set(ids))
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("lets one of a group fail alone, whatever it had done") { (desk: Desk) in
            let ids = (0..<6).map { _ in UniqueID.random() }
            let applied = try await desk.group(
                ids.enumerated().map { index, id in
                    { transaction in
                        guard index.isMultiple(of: 2) else {
                            try desk.push([desk.note(id, "Bread", at: 1)], in: transaction)
                            throw Deliberate()
                        }
                        return [desk.note(id, "Milk", at: 1)]
                    }
                })
            for (index, result) in applied.enumerated() {
                let isRefused = if case .failure(is Deliberate) = result { true } else { false }
                try expect(isRefused, is: !index.isMultiple(of: 2), "whether job \(index) failed")
            }
            let rows = try await desk.rows()
            try expect(Set(rows.map(\.id)), is: [ids[0], ids[2], ids[4]])
            try expect(rows.map(\.sequence), is: [1, 2, 3])
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("undoes one that fails alone in its group") { (desk: Desk) in
            let applied = try await desk.group([
                { transaction in
                    try desk.push([desk.note(.random(), "Bread", at: 1)], in: transaction)
                    throw Deliberate()
                }
            ])
            try expect((try? applied[0].get()) == nil)
            try expect(try await desk.rows().count, is: 0)
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("is announced once, with where its scope stands then, whatever of it failed") { (desk: Desk) in
            let announced = Announced()
            let applied = try await desk.group(
                (0..<6).map { index in
                    { _ in
                        guard index != 3 else { throw Deliberate() }
                        return [desk.note(.random(), "Milk", at: 1)]
                    }
                }, committed: announced.add)
            let last = applied.compactMap { try? $0.get().after }.max { $0.sequence < $1.sequence }
            try expect(last?.sequence, is: 5)
            try expect(announced.heads.last, is: last)
            // The first is a commit of its own, as nothing was under way when it came.
            try expect(announced.heads.count <= 2)
            // What changes nothing is no news.
            let count = announced.heads.count
            _ = try await desk.group([{ _ in [] }], committed: announced.add)
            try expect(announced.heads.count, is: count)
        },
    ]
}

/// What a queue of pushes has announced.
private final class Announced: Sendable {
    private let box = NIOLockedValueBox<[ScopeHead]>([])

    var heads: [ScopeHead] { box.withLockedValue { $0 } }

    @Sendable func add(_ heads: [ScopeHead]) { box.withLockedValue { $0 += heads } }
}

extension Desk {
    typealias Job = @Sendable (any Transaction) throws -> [Push.Element]

    /// Puts jobs through the queue of pushes while the scope is locked, so that they come into one transaction.
    fileprivate func group(
        _ jobs: [Job], committed: @escaping @Sendable ([ScopeHead]) -> Void = { _ in }
    ) async throws -> [Result<Scope.PushResult, any Error>] {
        let queue = PushQueue(store: store, committed: committed)
        let scope = Scope(scope, queue: queue, installation: store.installation, now: { Desk.date(1_000) })
        let node = device.node
        return try await withThrowingTaskGroup(of: (Int, Result<Scope.PushResult, any Error>).self) { tasks in
            let (began, begin) = AsyncStream.makeStream(of: Void.self)
            async let held: Void = store.write { transaction in
                _ = try transaction.lock(account.scope)
                begin.finish()
                for _ in 0..<100 { Pause.millisecond() }
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
            try await held
            var results: [(Int, Result<Scope.PushResult, any Error>)] = []
            for try await result in tasks { results.append(result) }
            return results.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
