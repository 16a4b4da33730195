import HesperModel
import HesperSQL
import HesperStore

extension SQLiteTransaction {
    func updateUnheldDates(of attachments: [UniqueID], in scope: ScopeID, at date: Timestamp) throws {
        for attachment in attachments { try noteHolder(of: attachment, in: scope, at: date) }
    }

    private func noteHolder(of attachment: UniqueID, in scope: ScopeID, at date: Timestamp) throws {
        let note = try prepare(PushStatements.noteHolder)
        note.bind(scope, attachment, date)
        if try note.run() > 0 { try scheduleSweep(of: attachment, in: scope, at: date) }
    }

    func removeBlob(of attachment: UniqueID, in scope: ScopeID) throws {
        guard let blob = try blob(of: attachment, in: scope) else { return }
        try sql.enqueue("DELETE FROM blobs WHERE scope = $1 AND attachment = $2", [.scope(scope), .id(attachment)])
        try sql.enqueue(
            "INSERT INTO removed_blobs (scope, attachment, nonce) VALUES ($1, $2, $3)",
            [.scope(scope), .id(attachment), .integer(Int64(bitPattern: blob.name.nonce))])
        try addBlobBytes(-blob.data.byteCount, to: scope)
    }
}
