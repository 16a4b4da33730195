import HesperModel
import HesperStore

extension StoreContract {
    private static func record(_ state: ImportRecord.State = .uploading, at date: Int64 = 5) -> ImportRecord {
        ImportRecord(
            uniqueID: .random(), name: "notes é.zip", byteCount: 1 << 33, creationDate: Client.date(date),
            requestedBy: NodeID(7), state: state)
    }

    static let importCases: [Case] = [
        Case("the import of a scope is stored durably with all its values") { (subject: Subject) in
            let client = try await Client(on: try await subject.open())
            let scope = client.scope
            var record = record(.ready)
            (record.done, record.total, record.preview) = (3, 9, #"{"notes":9}"#)
            try await client.store.write { [record] in try $0.insert(record, in: scope) }
            let reopened = try await subject.open()
            try expect(try await reopened.read { try $0.importRecord(of: scope) }, is: record)
            try await reopened.write { [record] in try $0.setImportAttempts(2, of: record.uniqueID, in: scope) }
            try expect(try await reopened.read { try $0.importRecord(of: scope)?.attempts }, is: 2)
            let before = record
            (record.state, record.report, record.problem) = (.failed, #"{"new":1}"#, "It is damaged.")
            record.requestedBy = NodeID(9)
            try expect(try await reopened.write { [record] in try $0.update(record, in: scope, from: .ready) })
            try expect(try await reopened.read { try $0.importRecord(of: scope) }, is: record)
            try expect(
                try await reopened.write { [before] in try $0.update(before, in: scope, from: .ready) }, is: false)
            let unnamed = ImportRecord(
                uniqueID: .random(), name: nil, byteCount: 1, creationDate: Client.date(1), requestedBy: NodeID(1))
            try await reopened.write { [record] transaction in
                try expect(try transaction.deleteImport(record.uniqueID, in: scope))
                try transaction.insert(unnamed, in: scope)
            }
            try expect(try await reopened.read { try $0.importRecord(of: scope) }, is: unnamed)
        },
        Case("the progress and the end of an import concern only its own scope") { (client: Client) in
            let other = try await Client(on: client.store, email: "bob@example.com")
            let (own, others) = (record(.writing), record(.writing))
            try await client.store.write { try $0.insert(own, in: client.scope) }
            try await client.store.write { try $0.insert(others, in: other.scope) }
            try await client.store.write { transaction in
                try transaction.setImportProgress(4, of: 8, own.uniqueID, in: client.scope)
                try transaction.setImportProgress(5, of: 8, own.uniqueID, in: other.scope)
                try expect(try transaction.deleteImport(own.uniqueID, in: other.scope), is: false)
                try expect(try transaction.update(own, in: other.scope, from: .writing), is: false)
            }
            try expect(try await client.read { try $0.importRecord(of: client.scope)?.done }, is: 4)
            try expect(try await client.read { try $0.importRecord(of: other.scope) }, is: others)
        },
        Case("unfinished imports are listed by their age, and are deleted with their account") { (client: Client) in
            let other = try await Client(on: client.store, email: "bob@example.com")
            let third = try await Client(on: client.store, email: "eve@example.com")
            let (own, others) = (record(.writing, at: 7), record(.uploading, at: 5))
            try await client.store.write { try $0.insert(own, in: client.scope) }
            try await client.store.write { try $0.insert(others, in: other.scope) }
            try await client.store.write { try $0.insert(record(.done, at: 3), in: third.scope) }
            func found(_ date: Int64) async throws -> [UniqueID] {
                try await client.read { try $0.unfinishedImports(before: Client.date(date), limit: 9).map(\.uniqueID) }
            }
            try expect(try await found(5), is: [])
            try expect(try await found(6), is: [others.uniqueID])
            try expect(try await found(8), is: [others.uniqueID, own.uniqueID])
            try await client.store.write { try $0.deleteAccount(other.account.uniqueID) }
            try expect(try await found(8), is: [own.uniqueID])
            try expect(try await client.read { try $0.importRecord(of: other.scope) }, is: nil)
        },
    ]
}
