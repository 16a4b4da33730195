import HesperModel
import HesperStore

extension PostgresTransaction {
    /// Enqueues all statements without waiting for their results. They are completed by the next query or by COMMIT.
    func append(
        _ outcome: MergeOutcome, to scope: LockedScope, by device: NodeID?, at date: Timestamp
    ) throws -> (head: ScopeHead, sequences: [UniqueID: Int64]) {
        let writing = try RowChanges(outcome, to: scope)
        let id = writing.head.scope
        guard let last = lockedScopes[id]?.lastEdit else {
            throw StoreError.failed("scope \(id.rawValue) is not locked")
        }
        let write = ScopeWriter(connection: connection, scope: id, device: device, date: date)
        write.names(writing.releasedNames, PushStatements.releaseTagNames)
        write.objects(writing.objects)
        write.deletions(writing.deletions)
        write.members(writing.lostMembers, PushStatements.deleteMembers)
        write.members(writing.newMembers, PushStatements.insertMembers)
        write.names(writing.claimedNames, PushStatements.claimTagNames)
        // Remove the bytes of deleted attachments, because no object can hold these attachments any more. A deleted attachment may
        // have bytes even if the attachment object never arrived, because the bytes are uploaded first.
        write.removeBlobs(writing.deletions.map(\.deleted.uniqueID))
        write.holders(of: writing.touchedAttachments)
        write.sweeps(writing.sweeps)
        // Mark the already stored texts that lost words in this merge. The texts of this push are marked when they are inserted.
        write.lostTexts(writing.lostTexts)
        let bytes = write.parcels(writing.parcels, after: last)
        let lastEdit = last + Int64(writing.parcels.count)
        lockedScopes[id]?.advance(to: writing, lastEdit: lastEdit, parcelBytes: bytes)
        connection.enqueue(
            PushStatements.advance,
            [
                .scope(id), .int8(writing.head.sequence), .digest(writing.head.digest), .clock(writing.greatestClock),
                .clock(writing.serverClock), .int8(lastEdit), .int(bytes),
            ], expecting: 1)
        return (writing.head, writing.sequences)
    }
}

/// Writes the changes of one push. Each table is written by one statement, or by several if the changes are large.
struct ScopeWriter {
    let connection: Connection
    let scope: ScopeID
    let device: NodeID?
    let date: Timestamp

    /// The total size of bodies in bytes at which a statement gets no more rows. Further rows are written by another statement.
    private static let bodyBytes = 8 << 20

    func objects(_ objects: [RowChanges.Object]) {
        put(objects.filter(\.isNew), PushStatements.insertObjects)
        put(objects.filter { !$0.isNew }, PushStatements.updateObjects)
    }

    private func put(_ objects: [RowChanges.Object], _ sql: String) {
        inParts(objects, of: \.entity.body) { objects, bodies in
            connection.enqueue(
                sql,
                [
                    .scope(scope), .uuidArray(objects.map(\.entity.uniqueID)),
                    .array(.int4, objects.map { .int4(Int32($0.entity.section.rawValue)) }),
                    .array(.text, objects.map { .text($0.entity.objectType?.name) }),
                    .array(.int8, objects.map { .int8($0.sequence) }), .array(.int8, bodies.map { .int($0.count) }),
                    .array(.bytes, objects.map { .digest($0.digest) }), .array(.json, bodies.map { .json($0) }),
                ], expecting: objects.count)
        }
    }

    /// Passes elements and their bodies to `write`. If the total size of the bodies is large, `write` is called several times, each
    /// time with a part of the elements.
    private func inParts<Element>(
        _ elements: [Element], of body: (Element) -> [UInt8], _ write: (ArraySlice<Element>, [[UInt8]]) -> Void
    ) {
        var (start, bodies, bytes): (Int, [[UInt8]], Int) = (0, [], 0)
        for index in elements.indices {
            let next = body(elements[index])
            bodies.append(next)
            bytes += next.count
            guard bytes >= ScopeWriter.bodyBytes || index == elements.count - 1 else { continue }
            write(elements[start...index], bodies)
            (start, bodies, bytes) = (index + 1, [], 0)
        }
    }

    func deletions(_ deletions: [RowChanges.Deleted]) {
        guard !deletions.isEmpty else { return }
        let objects = deletions.filter(\.wasObject).map(\.deleted.uniqueID)
        if !objects.isEmpty {
            connection.enqueue(
                PushStatements.deleteObjects, [.scope(scope), .uuidArray(objects)], expecting: objects.count)
        }
        let deleted = deletions.map(\.deleted)
        connection.enqueue(
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
        connection.enqueue(
            sql, [.scope(scope), .uuidArray(members.map(\.member)), .uuidArray(members.map(\.object))])
    }

    func names(_ names: [RowChanges.NamedTag], _ sql: String) {
        guard !names.isEmpty else { return }
        connection.enqueue(
            sql, [.scope(scope), .bytesArray(names.map { Array($0.name.utf8) }), .uuidArray(names.map(\.tag))])
    }

    func removeBlobs(_ attachments: [UniqueID]) {
        guard !attachments.isEmpty else { return }
        connection.enqueue(PushStatements.removeBlobs, [.scope(scope), .uuidArray(attachments)])
    }

    func holders(of attachments: [UniqueID]) {
        guard !attachments.isEmpty else { return }
        connection.enqueue(
            PushStatements.noteHolders, [.scope(scope), .uuidArray(attachments), .date(date), .date(firstLook)])
    }

    func sweeps(_ objects: [UniqueID]) {
        guard !objects.isEmpty else { return }
        connection.enqueue(
            PushStatements.scheduleSweeps, [.scope(scope), .uuidArray(objects), .date(firstLook)])
    }

    private var firstLook: Timestamp { date.adding(Sweep.firstCheckDelay) }

    func lostTexts(_ texts: [LostText]) {
        guard !texts.isEmpty else { return }
        connection.enqueue(
            PushStatements.markLostWords,
            [
                .scope(scope), .uuidArray(texts.map(\.object)), .array(.bytes, texts.map { .clock($0.clock) }),
                .array(.text, texts.map { .text($0.attribute.textName) }),
            ])
    }

    /// Inserts parcels.
    /// - Parameter last: the number of the scope's most recent parcel. The inserted parcels get the following numbers.
    /// - Returns: the total size of their bodies in bytes.
    func parcels(_ numbered: [RowChanges.NumberedParcel], after last: Int64) -> Int {
        var bytes = 0
        inParts(numbered, of: \.body) { numbered, bodies in
            bytes += bodies.reduce(0) { $0 + $1.count }
            let parcels = numbered.map(\.parcel)
            func clocks(_ clock: (Parcel) -> Clock?) -> PostgresValue {
                .array(.bytes, parcels.map { .clock(clock($0)) })
            }
            connection.enqueue(
                PushStatements.insertParcels,
                [
                    .scope(scope), .int8Array(numbered.indices.map { last + 1 + Int64($0) }),
                    .uuidArray(parcels.map(\.object)), .int8Array(numbered.map(\.sequence)),
                    .array(.text, parcels.map { .text($0.objectType?.name) }),
                    .array(.bool, parcels.map { .bool($0.isServerMade) }),
                    .array(.bool, numbered.map { .bool($0.hasLostWords) }), clocks(\.firstClock), clocks(\.lastClock),
                    clocks(\.textClock), clocks(\.textOrigin), .array(.json, bodies.map { .json($0) }),
                    .array(.bytes, numbered.map { $0.missingAncestors.map { .bytes($0) } ?? .null }),
                    .array(.bytes, parcels.map { .node($0.isRescue ? nil : device) }),
                    .int8Array(
                        zip(numbered, bodies).map { ParcelChecksum.of($0, body: $1, in: scope, by: device, at: date) }),
                    .array(.text, parcels.map { .text($0.text?.textName) }),
                    .date(date),
                ], expecting: numbered.count)
        }
        return bytes
    }
}

extension RowChanges.NumberedParcel {
    fileprivate var body: [UInt8] { ParcelBody.write(parcel.edits) }
}
