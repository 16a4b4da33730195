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
        // No object can hold a deleted attachment any more, so its bytes are removed. The bytes may be stored even if the
        // attachment object never arrived, because they are uploaded first.
        for deletion in writing.deletions { try removeBlob(of: deletion.deleted.uniqueID, in: scope) }
        try updateUnheldDates(of: writing.touchedAttachments, in: scope, at: date)
        for object in writing.sweeps { try scheduleSweep(of: object, in: scope, at: date) }
        // Mark the already stored texts that lost words in this merge. The texts of this push are marked when they are inserted.
        for text in writing.lostTexts { try markLostWords(of: text, in: scope) }
        let bytes = try append(writing.parcels, to: scope, by: device, at: date)
        try advance(writing, parcelBytes: bytes)
        return (writing.head, writing.sequences)
    }

    /// Inserts parcels.
    /// - Returns: the total size of their bodies in bytes.
    private func append(
        _ parcels: [RowChanges.NumberedParcel], to scope: ScopeID, by device: NodeID?, at date: Timestamp
    ) throws -> Int {
        var bytes = 0
        let insert = try prepare(PushStatements.insertParcel)
        for numbered in parcels {
            let parcel = numbered.parcel
            let body = ParcelBody.write(parcel.edits)
            insert.bind(
                scope, parcel.object, numbered.sequence, parcel.isRescue ? nil : device, date, parcel.objectType?.name,
                parcel.isServerMade, parcel.firstClock, parcel.lastClock, parcel.textClock, parcel.textOrigin,
                SQLiteText(body), numbered.hasLostWords, numbered.missingAncestors,
                ParcelChecksum.of(numbered, body: body, in: scope, by: device, at: date), parcel.text?.textName)
            bytes += body.count
            try insert.run()
        }
        return bytes
    }

    private func markLostWords(of text: LostText, in scope: ScopeID) throws {
        let update = try prepare(PushStatements.markLostWords)
        update.bind(scope, text.object, text.clock, text.attribute.textName)
        try update.run()
    }

    private func advance(_ writing: RowChanges, parcelBytes: Int) throws {
        let update = try prepare(PushStatements.advance)
        update.bind(
            writing.head.scope, writing.head.sequence, writing.head.digest, writing.greatestClock, writing.serverClock,
            parcelBytes)
        guard try update.run() == 1 else {
            throw StoreError.failed("scope \(writing.head.scope.rawValue) does not exist")
        }
    }

    /// Runs ``PushStatements/claimTagName`` or ``PushStatements/releaseTagName``.
    private func run(_ sql: String, _ name: RowChanges.NamedTag, in scope: ScopeID) throws {
        let statement = try prepare(sql)
        statement.bind(scope, name.name, name.tag)
        try statement.run()
    }
}
