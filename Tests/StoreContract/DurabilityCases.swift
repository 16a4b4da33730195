import HesperModel
import HesperStore

extension StoreContract {
    static let durabilityCases: [Case] = [
        Case("has everything when it is opened again") { (subject: Subject) in
            let desk = try await Desk(on: try await subject.open())
            let (note, tag, dead) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
            try await desk.push(
                desk.tag(tag, "Paris", at: 1), desk.note(note, "Milk", at: 2, (.tag(tag), .bool(true))),
                desk.note(dead, "Bread", at: 3), desk.set(.random(), .text, .string("early"), at: 4))
            try await desk.push(desk.delete(dead))
            try await desk.index()
            let again = try await subject.open()
            try expect(again.installation, is: desk.store.installation)
            try expect(try await again.session(of: desk.token), is: try await desk.store.session(of: desk.token))
            let reopened = Desk(desk, on: again)
            try expect(try await reopened.rows(), is: try await desk.rows())
            try expect(try await reopened.found("milk"), is: [note])
            try expect(try await reopened.history(note), is: try await desk.history(note))
            try expect(try await reopened.inconsistencies(), is: [])
        },
        Case("begins every database with an epoch and a node of its own") { (subject: Subject) in
            let installation = try await subject.open().installation
            try expect(installation.epoch != 0)
            try expect(installation.node.rawValue != 0)
        },
        Case("lets two processes write in turn, each seeing the other at once") { (subject: Subject) in
            let here = try await Desk(on: try await subject.open())
            let there = Desk(here, on: try await subject.open())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for desk in [here, there] {
                    group.addTask {
                        for index in 0..<25 {
                            try await desk.push(desk.note(.random(), "Milk \(index)", at: UInt64(index + 1)))
                        }
                    }
                }
                try await group.waitForAll()
            }
            try expect(try await here.rows().map(\.sequence), is: Array(1...50))
            try expect(try await here.rows(), is: try await there.rows())
            // Each reads at once what the other has just committed.
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

extension Desk {
    /// The same account and device, seen through another opening of the database.
    init(_ desk: Desk, on store: any Store) {
        self.store = store
        account = desk.account
        device = desk.device
        token = desk.token
    }
}
