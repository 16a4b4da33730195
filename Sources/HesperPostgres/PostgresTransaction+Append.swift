import HesperModel
import HesperStore

extension PostgresTransaction {
    /// Adds the rows of a push to ``pendingRows``, and enqueues the statements for all other changes. Does not wait for results. The
    /// statements are completed by the next query or by COMMIT.
    func append(
        _ outcome: MergeOutcome, to scope: LockedScope, by device: NodeID?, at date: Timestamp
    ) throws -> (head: ScopeHead, sequences: [UniqueID: Int64]) {
        let writing = try RowChanges(outcome, to: scope)
        let id = writing.head.scope
        guard let last = lockedScopes[id]?.lastEdit else {
            throw StoreError.failed("scope \(id.rawValue) is not locked")
        }
        let write = ScopeWriter(transaction: self, scope: id, device: device, date: date)
        write.names(writing.releasedNames, PushStatements.releaseTagNames)
        write.deletions(writing.deletions)
        write.members(writing.lostMembers, PushStatements.deleteMembers)
        write.members(writing.newMembers, PushStatements.insertMembers)
        write.names(writing.claimedNames, PushStatements.claimTagNames)
        // Remove the bytes of deleted attachments, because no object can hold these attachments any more. The bytes may exist even
        // if the attachment object does not, because they may arrive first.
        write.removeBlobs(writing.deletions.map(\.deleted.uniqueID))
        write.holders(of: writing.touchedAttachments)
        // Mark the already stored texts that lost words in this merge. The texts of this push are marked when they are inserted.
        write.lostTexts(writing.lostTexts)
        let bytes = pendingRows.add(writing, after: last, by: device, at: date)
        let lastEdit = last + Int64(writing.parcels.count)
        lockedScopes[id]?.advance(to: writing, lastEdit: lastEdit, parcelBytes: bytes)
        if pendingRows.isLarge { sendPendingRows() }
        return (writing.head, writing.sequences)
    }
}

/// Writes the changes of one push that are not in ``PendingRows``. Each table is written by one statement.
struct ScopeWriter {
    let transaction: PostgresTransaction
    let scope: ScopeID
    let device: NodeID?
    let date: Timestamp

    private func enqueue(_ sql: String, _ arguments: [PostgresValue], expecting rows: Int? = nil) {
        transaction.connection.enqueue(sql, arguments, expecting: rows)
    }

    func deletions(_ deletions: [RowChanges.Deleted]) {
        guard !deletions.isEmpty else { return }
        let objects = deletions.filter(\.wasObject).map(\.deleted.uniqueID)
        if !objects.isEmpty {
            enqueue(PushStatements.deleteObjects, [.scope(scope), .uuidArray(objects)], expecting: objects.count)
        }
        let deleted = deletions.map(\.deleted)
        enqueue(
            PushStatements.putTombstones,
            [
                .scope(scope), .uuidArray(deleted.map(\.uniqueID)), .textArray(deleted.map(\.objectType.name)),
                .array(.uuid, deletions.map { .id($0.target) }),
                .array(.date, deleted.map { .date($0.deletionDate) }), .int8Array(deletions.map(\.sequence)),
                .array(.int8, deleted.map { .int($0.body.count) }), .node(device), .date(date),
            ], expecting: deleted.count)
    }

    func members(_ members: [RowChanges.Member], _ sql: String) {
        guard !members.isEmpty else { return }
        enqueue(sql, [.scope(scope), .uuidArray(members.map(\.member)), .uuidArray(members.map(\.object))])
    }

    func names(_ names: [RowChanges.NamedTag], _ sql: String) {
        guard !names.isEmpty else { return }
        enqueue(sql, [.scope(scope), .bytesArray(names.map { Array($0.name.utf8) }), .uuidArray(names.map(\.tag))])
    }

    func removeBlobs(_ attachments: [UniqueID]) {
        guard !attachments.isEmpty else { return }
        enqueue(PushStatements.removeBlobs, [.scope(scope), .uuidArray(attachments)])
    }

    func holders(of attachments: [UniqueID]) {
        guard !attachments.isEmpty else { return }
        enqueue(
            PushStatements.noteHolders,
            [.scope(scope), .uuidArray(attachments), .date(date), .date(date.adding(Sweep.firstCheckDelay))])
    }

    func lostTexts(_ texts: [LostText]) {
        guard !texts.isEmpty else { return }
        enqueue(
            PushStatements.markLostWords,
            [
                .scope(scope), .uuidArray(texts.map(\.object)), .array(.bytes, texts.map { .clock($0.clock) }),
                .array(.text, texts.map { .text($0.attribute.textName) }),
            ])
    }
}
