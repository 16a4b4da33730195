import HesperModel
import HesperStore

extension StoreContract {
    static let durabilityCases: [Case] = [
        Case("all data is present after reopening") { (subject: Subject) in
            let client = try await Client(on: try await subject.open())
            let (note, tag, deleted) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
            try await client.push(
                client.tag(tag, "Paris", at: 1), client.note(note, "Milk", at: 2, (.tag(tag), .bool(true))),
                client.note(deleted, "Bread", at: 3), client.set(.random(), .text, .string("early"), at: 4))
            try await client.push(client.delete(deleted))
            try await client.index()
            let again = try await subject.open()
            try expect(again.installation, is: client.store.installation)
            try expect(try await again.session(of: client.token), is: try await client.store.session(of: client.token))
            let reopened = Client(client, on: again)
            try expect(try await reopened.rows(), is: try await client.rows())
            try expect(try await reopened.found("milk"), is: [note])
            try expect(try await reopened.history(note), is: try await client.history(note))
            try expect(try await reopened.inconsistencies(), is: [])
        },
        Case("every new database has its own epoch and node") { (subject: Subject) in
            let installation = try await subject.open().installation
            try expect(installation.epoch != 0)
            try expect(installation.node.rawValue != 0)
        },
        Case("two processes can write alternately, and each sees the other's commits immediately") {
            (subject: Subject) in
            let here = try await Client(on: try await subject.open())
            let there = Client(here, on: try await subject.open())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in [here, there] {
                    group.addTask {
                        for index in 0..<25 {
                            try await client.push(client.note(.random(), "Milk \(index)", at: UInt64(index + 1)))
                        }
                    }
                }
                try await group.waitForAll()
            }
            try expect(try await here.rows().map(\.sequence), is: Array(1...50))
            try expect(try await here.rows(), is: try await there.rows())
            // Each immediately reads what the other has committed.
            for round in 1...20 {
                let (writer, reader) = round.isMultiple(of: 2) ? (here, there) : (there, here)
                let id = UniqueID.random()
                try await writer.push(writer.note(id, "Bread", at: 100))
                try expect(try await reader.note(id).text, is: "Bread")
            }
            try expect(try await here.inconsistencies(), is: [])
        },
    ]
}

extension Client {
    /// The same account and device in another opening of the database.
    init(_ client: Client, on store: any Store) {
        self.store = store
        account = client.account
        device = client.device
        token = client.token
    }
}
