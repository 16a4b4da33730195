import HesperModel
import HesperStore

extension SQLiteTransaction {
    func append(
        _ outcome: MergeOutcome, to scope: LockedScope, by device: NodeID?, at date: Timestamp
    ) throws -> (head: ScopeHead, sequences: [UniqueID: Int64]) {
        let writing = try RowChanges(outcome, to: scope)
        let scope = writing.head.scope
        for name in writing.releasedNames { try run(PushStatements.releaseTagName, name, in: scope) }
        try ObjectWriter(transaction: self, scope: scope, device: device, date: date).write(writing)
        for name in writing.claimedNames { try run(PushStatements.claimTagName, name, in: scope) }
        // Bytes may arrive before their attachment. Once the ID is deleted, no note can hold them.
        for deletion in writing.deletions { try removeBlob(of: deletion.deleted.uniqueID, in: scope) }
        try updateUnheldDates(of: writing.touchedAttachments, in: scope, at: date)
        for object in writing.sweeps { try scheduleSweep(of: object, in: scope, at: date) }
        // Texts that were stored before. Those of this push are marked as they are inserted.
        for text in writing.lostTexts { try markLostWords(of: text, in: scope) }
        let bytes = try append(writing.parcels, to: scope, by: device, at: date)
        try advance(writing, parcelBytes: bytes)
        return (writing.head, writing.sequences)
    }

    /// - Returns: the total size of their bodies in bytes.
    private func append(
        _ parcels: [RowChanges.NumberedParcel], to scope: ScopeID, by device: NodeID?, at date: Timestamp
    ) throws -> Int {
        var bytes = 0
        let insert = try prepare(PushStatements.insertParcel)
        insert.bind(1, scope)
        insert.bind(5, date)
        for numbered in parcels {
            let parcel = numbered.parcel
            let body = ParcelBody.write(parcel.edits)
            insert.bind(2, parcel.object)
            insert.bind(3, numbered.sequence)
            insert.bind(4, parcel.isRescue ? nil : device)
            insert.bind(6, parcel.objectType?.name)
            insert.bind(7, parcel.isServerMade)
            insert.bind(8, parcel.firstClock)
            insert.bind(9, parcel.lastClock)
            insert.bind(10, parcel.textClock)
            insert.bind(11, parcel.textOrigin)
            bytes += body.count
            insert.bind(12, text: body)
            insert.bind(13, numbered.hasLostWords)
            insert.bind(14, blob: numbered.missingAncestors)
            insert.bind(15, ParcelChecksum.of(numbered, body: body, in: scope, by: device, at: date))
            try insert.run()
        }
        return bytes
    }

    private func markLostWords(of text: LostText, in scope: ScopeID) throws {
        let update = try prepare(PushStatements.markLostWords)
        update.bind(1, scope)
        update.bind(2, text.object)
        update.bind(3, text.clock)
        try update.run()
    }

    private func advance(_ writing: RowChanges, parcelBytes: Int) throws {
        let update = try prepare(PushStatements.advance)
        update.bind(1, writing.head.scope)
        update.bind(2, writing.head.sequence)
        update.bind(3, writing.head.digest)
        update.bind(4, writing.greatestClock)
        update.bind(5, writing.serverClock)
        update.bind(6, parcelBytes)
        guard try update.run() == 1 else {
            throw StoreError.failed("scope \(writing.head.scope.rawValue) does not exist")
        }
    }

    /// Claims or releases a tag's name.
    private func run(_ sql: String, _ name: RowChanges.NamedTag, in scope: ScopeID) throws {
        let statement = try prepare(sql)
        statement.bind(1, scope)
        statement.bind(2, name.name)
        statement.bind(3, name.tag)
        try statement.run()
    }
}
