import HesperModel
import HesperStore

extension PostgresTransaction {
    func updateUnheldDates(of attachments: [UniqueID], in scope: ScopeID, at date: Timestamp) throws {
        ScopeWriter(transaction: self, scope: scope, device: nil, date: date).holders(of: attachments)
    }

    func removeBlob(of attachment: UniqueID, in scope: ScopeID) throws {
        guard try lockRow(of: scope) else { return }
        connection.enqueue(PushStatements.removeBlobs, [.scope(scope), .uuidArray([attachment])])
    }
}
