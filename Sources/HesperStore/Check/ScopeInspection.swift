import HesperModel

/// Checks the stored data of a scope. Folds the edits of every object again and compares the result with the stored objects,
/// DeletedObjects, index entries and records of blobs. Does not check whether the blobs themselves exist.
public struct ScopeInspection {
    private let source: any InspectionSource
    private let report: (String) -> Void
    private var objects: InspectedRows<InspectedObject>
    private var deleted: InspectedRows<InspectedDeletedObject>
    private var parcels: InspectedRows<InspectedParcel>
    private var members: InspectedRows<InspectedMember>
    private var held: InspectedRows<UniqueID>
    private var names: InspectedRows<InspectedTagName>
    private var documents: InspectedRows<InspectedDocument>
    private var blobs: InspectedRows<InspectedBlob>
    private var digest = Digest.zero
    private var greatestClock: Clock?
    private var storage = Storage()

    /// - Parameter report: called with each inconsistency, as a sentence for an operator.
    public init(_ source: any InspectionSource, report: @escaping (String) -> Void) throws {
        self.source = source
        self.report = report
        objects = try source.objects()
        deleted = try source.deletedObjects()
        parcels = try source.parcels()
        members = try source.members()
        held = try source.heldMembers()
        names = try source.tagNames()
        documents = try source.documents()
        blobs = try source.blobs()
    }

    public mutating func inspect() throws {
        while let id = next { try inspect(id) }
        try inspectScope()
    }

    /// The lowest ID of all rows that have not been read yet; nil if all rows have been read.
    private var next: UniqueID? {
        [
            objects.next, deleted.next, parcels.next, members.next, held.next, names.next, documents.next, blobs.next,
        ].compactMap(\.self).min()
    }

    private mutating func inspect(_ id: UniqueID) throws {
        let bag = try parcels.take(id)
        let edits = bag.flatMap { self.edits(of: $0) }
        let (object, deletedObject) = (try objects.take(id).first, try deleted.take(id).first)
        if let object {
            inspect(object, edits: edits)
            if deletedObject != nil { report("\(id) is both an object and a DeletedObject.") }
        } else if deletedObject == nil, !bag.isEmpty {
            report("\(id) has edits, but is neither an object nor a DeletedObject.")
        }
        if let deletedObject { inspect(deletedObject) }
        let entity = object.flatMap { object in
            object.section.flatMap { section in
                object.body.withUnsafeBytes { try? Entity.read($0, id: id, section: section) }
            }
        }
        if object != nil, entity == nil { report("\(id) cannot be read.") }
        let state = InspectedState(id: id, entity: entity, sequence: object?.sequence, deleted: deletedObject)
        state.inspect(
            members: try members.take(id), names: try names.take(id), documents: try documents.take(id),
            indexed: source.indexedSequence, report)
        let blob = try blobs.take(id).first
        storage.attachmentBytes += blob?.data.byteCount ?? 0
        state.inspect(blob, isHeld: !(try held.take(id).isEmpty), report)
    }

    // MARK: The fold

    private mutating func edits(of row: InspectedParcel) -> [Edit] {
        storage.parcelBytes += Int64(row.bytes)
        if !row.matchesChecksum { report("\(row.object) has a parcel of edits that does not match its checksum.") }
        do {
            let parcel = try row.parcel.get()
            if row.clocks != [parcel.firstClock, parcel.lastClock, parcel.textClock] {
                report("\(row.object) has a parcel of edits whose clocks differ from those in the columns of its row.")
            }
            if row.textName != parcel.text?.textName || parcel.edits.count(where: \.attribute.isText) > 1 {
                report("\(row.object) has a parcel of edits whose texts do not match the column text_name of its row.")
            }
            greatestClock = [greatestClock, parcel.lastClock].compactMap(\.self).max()
            return parcel.edits
        } catch {
            report("\(row.object) has a parcel of edits that cannot be read: \(error)")
            return []
        }
    }

    private mutating func inspect(_ row: InspectedObject, edits: [Edit]) {
        let id = row.id
        guard let section = row.section else { return report("\(id) has an unknown section.") }
        var entity = section.empty(id)
        for edit in edits { entity.fold(edit) }
        if entity.body != row.body { report("\(id) differs from the fold of its edits.") }
        if row.bytes != row.body.count { report("\(id) has \(row.body.count) bytes, but \(row.bytes) are recorded.") }
        if row.type != entity.objectType?.name {
            report("The type of \(id) differs from that of the fold of its edits.")
        }
        if row.digest != entity.digest { report("The digest of \(id) differs from that of the fold of its edits.") }
        inspect(sequence: row.sequence, of: id, exists: entity.exists)
        digest ^= entity.digest
    }

    private mutating func inspect(_ row: InspectedDeletedObject) {
        guard let deleted = row.deleted else {
            return report("\(row.id) is a DeletedObject of an unknown type.")
        }
        if let rescue = deleted.rescuedInto, rescue != row.id.rescue {
            report("\(row.id) is recorded as rescued into \(rescue) instead of \(row.id.rescue).")
        }
        if row.bytes != deleted.body.count {
            report("\(row.id) has \(deleted.body.count) bytes, but \(row.bytes) are recorded.")
        }
        inspect(sequence: row.sequence, of: row.id, exists: true)
        digest ^= deleted.digest
    }

    private func inspect(sequence: Int64?, of id: UniqueID, exists: Bool) {
        let last = source.head.sequence
        switch sequence {
        case nil where exists: report("\(id) exists, but has no sequence number.")
        case let sequence? where !exists: report("\(id) does not exist yet, but has sequence number \(sequence).")
        case let sequence? where !(1...max(last, 1)).contains(sequence):
            report("\(id) has sequence number \(sequence), but the last one assigned is \(last).")
        default: break
        }
    }

    // MARK: The scope's row

    /// Compares the totals in the row of the scope with the sums over the scope's objects.
    private func inspectScope() throws {
        let stored = source.head.digest
        if digest != stored { report("The scope's digest is \(stored), but the digest of its objects is \(digest).") }
        if let greatestClock, source.greatestClock.map({ $0 < greatestClock }) ?? true {
            report(
                "The scope has an edit with clock \(greatestClock), which is greater than its recorded greatest clock.")
        }
        let recorded = source.storage
        if recorded.attachmentBytes != storage.attachmentBytes {
            report(
                "The attachments have \(storage.attachmentBytes) bytes, but \(recorded.attachmentBytes) are recorded.")
        }
        if recorded.parcelBytes != storage.parcelBytes {
            report(
                "The parcels of edits have \(storage.parcelBytes) bytes, but \(recorded.parcelBytes) are recorded.")
        }
        for (sequence, count) in try source.duplicateSequences() {
            report("Sequence number \(sequence) was assigned \(count) times.")
        }
    }
}
