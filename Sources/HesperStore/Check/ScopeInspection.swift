import HesperModel

/// Folds every bag of a scope again and compares what is kept beside it: objects, DeletedObjects, what they are found by,
/// and what is known of the bytes of attachments. Whether these are there, only the blob store can tell.
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

    /// - Parameter report: told of anything wrong, in sentences for an operator.
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

    /// The least ID that any row is of.
    private var next: UniqueID? {
        [
            objects.next, deleted.next, parcels.next, members.next, held.next, names.next, documents.next, blobs.next,
        ].compactMap(\.self).min()
    }

    private mutating func inspect(_ id: UniqueID) throws {
        let bag = try parcels.take(id)
        let edits = bag.flatMap { self.edits(of: $0) }
        let (object, dead) = (try objects.take(id).first, try deleted.take(id).first)
        if let object {
            inspect(object, edits: edits)
            if dead != nil { report("\(id) is both an object and a DeletedObject.") }
        } else if dead == nil, !bag.isEmpty {
            report("\(id) has edits, but is neither an object nor a DeletedObject.")
        }
        if let dead { inspect(dead) }
        let entity = object.flatMap { object in
            object.section.flatMap { section in
                object.body.withUnsafeBytes { try? Entity.read($0, id: id, section: section) }
            }
        }
        if object != nil, entity == nil { report("\(id) cannot be read.") }
        let found = Found(id: id, entity: entity, sequence: object?.sequence, dead: dead)
        found.inspect(
            members: try members.take(id), names: try names.take(id), documents: try documents.take(id),
            indexed: source.indexedSequence, report)
        let blob = try blobs.take(id).first
        storage.attachmentBytes += blob?.data.byteCount ?? 0
        found.inspect(blob, isHeld: !(try held.take(id).isEmpty), report)
    }

    // MARK: The fold

    private mutating func edits(of row: InspectedParcel) -> [Edit] {
        storage.parcelBytes += Int64(row.bytes)
        if !row.isAsStored { report("\(row.object) has a parcel of edits that does not match its checksum.") }
        do {
            let parcel = try row.parcel.get()
            if row.clocks != [parcel.firstClock, parcel.lastClock, parcel.textClock] {
                report("\(row.object) has a parcel of edits whose clocks are not those of its columns.")
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
        guard let section = row.section else { return report("\(id) is in a section that there is not.") }
        var entity = section.empty(id)
        for edit in edits { entity.fold(edit) }
        if entity.body != row.body { report("\(id) is not what its edits come to.") }
        if row.bytes != row.body.count { report("\(id) has \(row.body.count) bytes, not \(row.bytes).") }
        if row.type != entity.objectType?.name { report("\(id) has another type than its edits say.") }
        if row.digest != entity.digest { report("\(id) has another digest than its edits come to.") }
        inspect(sequence: row.sequence, of: id, exists: entity.exists)
        digest ^= entity.digest
    }

    private mutating func inspect(_ row: InspectedDeletedObject) {
        guard let deleted = row.deleted else {
            return report("\(row.id) is a DeletedObject of a type that there is not.")
        }
        if let rescue = deleted.rescuedInto, rescue != row.id.rescue {
            report("\(row.id) says that it was rescued into \(rescue), not \(row.id.rescue).")
        }
        if row.bytes != deleted.body.count {
            report("\(row.id) has \(deleted.body.count) bytes, not \(row.bytes).")
        }
        inspect(sequence: row.sequence, of: row.id, exists: true)
        digest ^= deleted.digest
    }

    private func inspect(sequence: Int64?, of id: UniqueID, exists: Bool) {
        let last = source.head.sequence
        switch sequence {
        case nil where exists: report("\(id) exists, but has no sequence number.")
        case let sequence? where !exists: report("\(id) waits, but has sequence number \(sequence).")
        case let sequence? where !(1...max(last, 1)).contains(sequence):
            report("\(id) has sequence number \(sequence), but the last one given out is \(last).")
        default: break
        }
    }

    // MARK: The scope's row

    /// What it says of all its objects together.
    private func inspectScope() throws {
        let kept = source.head.digest
        if digest != kept { report("The scope's digest is \(kept), but its objects come to \(digest).") }
        if let greatestClock, source.greatestClock.map({ $0 < greatestClock }) ?? true {
            report("The bag holds a clock, \(greatestClock), that is greater than the scope's greatest.")
        }
        let counted = source.storage
        if counted.attachmentBytes != storage.attachmentBytes {
            report(
                "The attachments have \(storage.attachmentBytes) bytes, but \(counted.attachmentBytes) are counted.")
        }
        if counted.parcelBytes != storage.parcelBytes {
            report(
                "The parcels of edits have \(storage.parcelBytes) bytes, but \(counted.parcelBytes) are counted.")
        }
        for (sequence, count) in try source.sequencesGivenTwice() {
            report("Sequence number \(sequence) was given out \(count) times.")
        }
    }
}
