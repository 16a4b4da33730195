import HesperModel
import HesperStore
import NIOConcurrencyHelpers

extension StoreContract {
    static let transactionCases: [Case] = [
        Case("a transaction that throws is rolled back completely") { (client: Client) in
            let id = UniqueID.random()
            let before = try await client.read { try $0.head(of: client.scope) }
            do {
                try await client.store.write { transaction in
                    try client.push([client.note(id, "Milk", at: 1)], in: transaction)
                    throw Deliberate()
                }
                throw Violation(description: "an error was ignored")
            } catch is Deliberate {}
            try expect(try await client.state(id), is: nil)
            try expect(try await client.read { try $0.head(of: client.scope) }, is: before)
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("a savepoint that throws undoes only its own changes") { (client: Client) in
            let ids = (0..<3).map { _ in UniqueID.random() }
            let failures = try await client.store.write { transaction in
                var failures = 0
                for (index, id) in ids.enumerated() {
                    do {
                        try transaction.savepoint {
                            try client.push([client.note(id, "Milk", at: 1)], in: transaction)
                            if index == 1 { throw Deliberate() }
                        }
                    } catch is Deliberate {
                        failures += 1
                    }
                }
                return failures
            }
            try expect(failures, is: 1)
            try expect(try await client.rows().map(\.id), is: [ids[0], ids[2]])
            try expect(try await client.rows().map(\.sequence), is: [1, 2])
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("a transaction sees its own changes without those of failed nested savepoints") { (client: Client) in
            let (outer, inner) = (UniqueID.random(), UniqueID.random())
            try await client.store.write { transaction in
                try transaction.savepoint {
                    try client.push([client.note(outer, "Milk", at: 1)], in: transaction)
                    try? transaction.savepoint {
                        try client.push([client.note(inner, "Bread", at: 1)], in: transaction)
                        try expect(try transaction.state(of: inner, in: client.scope)?.sequence, is: 2)
                        throw Deliberate()
                    }
                    try expect(try transaction.state(of: inner, in: client.scope), is: nil)
                    try expect(try transaction.state(of: outer, in: client.scope)?.sequence, is: 1)
                }
            }
            try expect(try await client.rows().map(\.id), is: [outer])
        },
        Case("a snapshot does not change when a writer commits") { (client: Client) in
            let first = try await client.push(client.note(.random(), "Milk", at: 1)).head
            let (began, begin) = AsyncStream.makeStream(of: Void.self)
            let isCommitted = NIOLockedValueBox(false)
            async let seen = client.store.read { snapshot in
                let before = try snapshot.head(of: client.scope)
                begin.finish()
                // The limit is generous: the writer needs milliseconds, and a free thread, which other tests may occupy for a
                // long time.
                for _ in 0..<60_000 where !isCommitted.withLockedValue({ $0 }) { Pause.millisecond() }
                try expect(isCommitted.withLockedValue { $0 }, "the reader blocks the writer")
                return [before, try snapshot.head(of: client.scope)]
            }
            for await _ in began {}
            let second = try await client.push(client.note(.random(), "Bread", at: 2)).head
            isCommitted.withLockedValue { $0 = true }
            try expect(try await seen, is: [first, first])
            try expect(try await client.read { try $0.head(of: client.scope) }, is: second)
        },
        Case("concurrent transactions of one scope are serialized without losses") { (client: Client) in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<40 {
                    group.addTask { try await client.push(client.note(.random(), "Note \(index)", at: 1)) }
                }
                try await group.waitForAll()
            }
            try expect(try await client.rows().map(\.sequence), is: Array(1...40))
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("a transaction is completed even if its task is cancelled") { (client: Client) in
            let id = UniqueID.random()
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await client.push(client.note(id, "Milk", at: 1)).head.sequence
            }
            try expect(try await task.value, is: 1)
            try expect(try await client.note(id).text, is: "Milk")
        },
        Case("scopes are isolated: IDs of other scopes are unknown") { (client: Client) in
            let other = try await Client(on: client.store, email: "bob@example.com")
            let (note, tag) = (UniqueID.random(), UniqueID.random())
            try await client.push(
                client.tag(tag, "Paris", at: 1), client.note(note, "Milk", at: 2, (.tag(tag), .bool(true))))
            try await client.index()
            for id in [note, tag] { try expect(try await other.state(id), is: nil) }
            try expect(try await other.rows(), is: [])
            try expect(try await other.read { try $0.tag(named: "paris", in: other.scope) }, is: nil)
            try expect(
                try await other.read { try $0.history(of: note, in: other.scope, before: nil, limit: 9) }, is: [])
            try expect(try await other.found("milk"), is: [])
            try expect(try await other.digests(), is: [])
            // The same IDs and names in the other scope are separate objects.
            try await other.push(other.tag(tag, "paris", at: 5), other.note(note, "Bread", at: 6))
            try await other.push(other.delete(note))
            try expect(try await client.note(note).text, is: "Milk")
            try expect(try await client.found("milk"), is: [note])
            try expect(try await client.inconsistencies() + other.inconsistencies(), is: [])
        },
    ]
}
