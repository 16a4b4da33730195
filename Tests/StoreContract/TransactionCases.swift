import HesperModel
import HesperStore
import NIOConcurrencyHelpers

extension StoreContract {
    static let transactionCases: [Case] = [
        Case("undoes a transaction that throws, all of it") { (desk: Desk) in
            let id = UniqueID.random()
            let before = try await desk.read { try $0.head(of: desk.scope) }
            do {
                try await desk.store.write { transaction in
                    try desk.push([desk.note(id, "Milk", at: 1)], in: transaction)
                    throw Deliberate()
                }
                throw Violation(description: "an error was swallowed")
            } catch is Deliberate {}
            try expect(try await desk.state(id), is: nil)
            try expect(try await desk.read { try $0.head(of: desk.scope) }, is: before)
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("lets a savepoint fail alone") { (desk: Desk) in
            let ids = (0..<3).map { _ in UniqueID.random() }
            let failures = try await desk.store.write { transaction in
                var failures = 0
                for (index, id) in ids.enumerated() {
                    do {
                        try transaction.savepoint {
                            try desk.push([desk.note(id, "Milk", at: 1)], in: transaction)
                            if index == 1 { throw Deliberate() }
                        }
                    } catch is Deliberate {
                        failures += 1
                    }
                }
                return failures
            }
            try expect(failures, is: 1)
            try expect(try await desk.rows().map(\.id), is: [ids[0], ids[2]])
            try expect(try await desk.rows().map(\.sequence), is: [1, 2])
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("sees within a transaction what it wrote before, nested savepoints undone") { (desk: Desk) in
            let (outer, inner) = (UniqueID.random(), UniqueID.random())
            try await desk.store.write { transaction in
                try transaction.savepoint {
                    try desk.push([desk.note(outer, "Milk", at: 1)], in: transaction)
                    try? transaction.savepoint {
                        try desk.push([desk.note(inner, "Bread", at: 1)], in: transaction)
                        try expect(try transaction.state(of: inner, in: desk.scope)?.sequence, is: 2)
                        throw Deliberate()
                    }
                    try expect(try transaction.state(of: inner, in: desk.scope), is: nil)
                    try expect(try transaction.state(of: outer, in: desk.scope)?.sequence, is: 1)
                }
            }
            try expect(try await desk.rows().map(\.id), is: [outer])
        },
        Case("shows a reader one moment, whatever is committed meanwhile") { (desk: Desk) in
            let first = try await desk.push(desk.note(.random(), "Milk", at: 1)).head
            let (began, begin) = AsyncStream.makeStream(of: Void.self)
            let isCommitted = NIOLockedValueBox(false)
            async let seen = desk.store.read { snapshot in
                let before = try snapshot.head(of: desk.scope)
                begin.finish()
                // Bounded: the writer needs milliseconds, and a free thread, which other tests may hold for long.
                for _ in 0..<60_000 where !isCommitted.withLockedValue({ $0 }) { Pause.millisecond() }
                try expect(isCommitted.withLockedValue { $0 }, "the writer waits for the reader")
                return [before, try snapshot.head(of: desk.scope)]
            }
            for await _ in began {}
            let second = try await desk.push(desk.note(.random(), "Bread", at: 2)).head
            isCommitted.withLockedValue { $0 = true }
            try expect(try await seen, is: [first, first])
            try expect(try await desk.read { try $0.head(of: desk.scope) }, is: second)
        },
        Case("writes one transaction at a time, none lost") { (desk: Desk) in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<40 {
                    group.addTask { try await desk.push(desk.note(.random(), "Note \(index)", at: 1)) }
                }
                try await group.waitForAll()
            }
            try expect(try await desk.rows().map(\.sequence), is: Array(1...40))
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("writes on when the task that asked is cancelled") { (desk: Desk) in
            let id = UniqueID.random()
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await desk.push(desk.note(id, "Milk", at: 1)).head.sequence
            }
            try expect(try await task.value, is: 1)
            try expect(try await desk.note(id).text, is: "Milk")
        },
        Case("keeps scopes apart: another's IDs are unknown IDs") { (desk: Desk) in
            let other = try await Desk(on: desk.store, email: "bob@example.com")
            let (note, tag) = (UniqueID.random(), UniqueID.random())
            try await desk.push(desk.tag(tag, "Paris", at: 1), desk.note(note, "Milk", at: 2, (.tag(tag), .bool(true))))
            try await desk.index()
            for id in [note, tag] { try expect(try await other.state(id), is: nil) }
            try expect(try await other.rows(), is: [])
            try expect(try await other.read { try $0.tag(named: "paris", in: other.scope) }, is: nil)
            try expect(
                try await other.read { try $0.history(of: note, in: other.scope, before: nil, limit: 9) }, is: [])
            try expect(try await other.found("milk"), is: [])
            try expect(try await other.digests(), is: [])
            // The same IDs and names, pushed by the other, are objects of their own.
            try await other.push(other.tag(tag, "paris", at: 5), other.note(note, "Bread", at: 6))
            try await other.push(other.delete(note))
            try expect(try await desk.note(note).text, is: "Milk")
            try expect(try await desk.found("milk"), is: [note])
            try expect(try await desk.inconsistencies() + other.inconsistencies(), is: [])
        },
    ]
}
