package import HesperModel

/// The data of one account: the bag of edits, the folded objects, and the bytes of attachments. A copy of this value is
/// a backup.
package struct MemoryScope: Sendable {
    /// A parcel of the bag, with the device that pushed it and the time of the push.
    package struct StoredParcel: Sendable {
        package fileprivate(set) var parcel: Parcel
        package let sequence: Int64
        package let position: Int64
        package let pushedBy: NodeID?
        package let pushedAt: Timestamp
    }

    /// The result of a push.
    struct PushResult {
        var receipts: [Receipt]
        /// The objects that need not be sent back to the sender, with their sequence numbers.
        var echoes: [UniqueID: Int64] = [:]
    }

    package let id: Int64
    /// The parcels of each object in the order of arrival.
    package private(set) var parcels: [UniqueID: [StoredParcel]] = [:]
    package private(set) var states: [UniqueID: ObjectState] = [:]
    /// The greatest sequence number that was assigned.
    package private(set) var sequence: Int64 = 0
    package private(set) var digest = Digest.zero
    /// Texts that lost words in a merge, in the order of the merges.
    package private(set) var lostTexts: [LostText] = []
    /// The objects that pushes changed, in the order of the pushes. An object is also listed if a push added edits to it, but did
    /// not change its state. An object may be listed several times.
    package private(set) var touched: [UniqueID] = []
    /// The deletions, each with the device that pushed it and the time of the push.
    package private(set) var deletions: [(deleted: DeletedObject, pushedBy: NodeID?, pushedAt: Timestamp)] = []
    /// The number of bytes of all stored edits.
    package private(set) var editBytes: Int64 = 0
    /// The changes in the order of their sequence numbers. An entry is outdated if its object has changed again since.
    private(set) var log: [(sequence: Int64, id: UniqueID)] = []
    private(set) var serverClock: Clock?
    private var greatestClock: Clock?
    private var position: Int64 = 0
    private var tagNames: [String: UniqueID] = [:]
    /// For each tag and attachment, the objects that hold it. These are notes and apps' own objects.
    private var holdersByMember: [UniqueID: Set<UniqueID>] = [:]
    /// The revocations of lost devices, by the nodes of the devices.
    private(set) var revocations: [NodeID: MemoryRevocation] = [:]
    /// The sequence number of the scope at the last restore; nil if the scope was never restored.
    private(set) var restoredSequence: Int64?
    /// The bytes of the account's attachments, and its unfinished uploads.
    package var files = MemoryFiles()
    /// The quota in bytes; nil for no limit.
    package var quota: Int64?

    init(id: Int64) { self.id = id }

    /// The number of bytes that count against the quota.
    package var storedBytes: Int64 { editBytes + files.byteCount }

    // MARK: Pushing

    /// Merges a push and stores the result.
    /// - Parameters:
    ///   - sender: the device that pushes; nil for the server itself.
    ///   - read: the sequence number up to which the sender has read.
    ///   - isLimited: whether the quota and the limits for pushes from devices apply.
    mutating func apply(
        _ push: Push, by sender: NodeID?, since read: Int64 = 0, server: NodeID, at now: Timestamp,
        isLimited: Bool = true
    ) throws -> PushResult {
        var revoked: [NodeID: Timestamp] = [:]
        for (node, revocation) in revocations { revoked[node] = revocation.moment }
        var context = Merge.Context(
            now: now, server: server, serverClock: serverClock, greatestClock: greatestClock, revoked: revoked,
            restoredSequence: restoredSequence, sender: sender)
        if isLimited {
            context.bounds = .device(nil)
            if let quota {
                let use = Merge.StorageUse(used: storedBytes, limit: quota)
                if !use.fits(push) { context.storageUse = use }
            }
        }
        let outcome = try Merge.apply(push, to: self, in: context)
        let sequences = store(outcome, by: sender, at: now)
        return PushResult(receipts: outcome.receipts, echoes: MemoryScope.echoes(of: outcome, sequences, since: read))
    }

    private mutating func store(_ outcome: MergeOutcome, by sender: NodeID?, at now: Timestamp) -> [UniqueID: Int64] {
        var sequences: [UniqueID: Int64] = [:]
        for change in outcome.changes {
            digest ^= change.digestBefore ^ change.digestAfter
            release(change)
            switch change.after {
            case .entity(let entity):
                var number: Int64?
                if entity.exists {
                    number = next(change.uniqueID)
                    sequences[change.uniqueID] = number
                }
                states[change.uniqueID] = .entity(entity, sequence: number)
            case .deleted(let deleted):
                let number = next(change.uniqueID)
                sequences[change.uniqueID] = number
                states[change.uniqueID] = .deleted(deleted, sequence: number)
                deletions.append((deleted, sender, now))
            }
        }
        touched += outcome.changes.map(\.uniqueID) + outcome.parcels.map(\.object)
        // Names are claimed only after the former names of all changed tags were released, because two tags may swap their names.
        for change in outcome.changes { claim(change) }
        for parcel in outcome.parcels {
            position += 1
            parcels[parcel.object, default: []].append(
                StoredParcel(
                    parcel: parcel, sequence: sequences[parcel.object] ?? sequence, position: position,
                    pushedBy: sender,
                    pushedAt: now))
            editBytes += Int64(ParcelBody.write(parcel.edits).count)
        }
        lostTexts += outcome.lostTexts
        serverClock = [serverClock, outcome.serverClock].compactMap(\.self).max()
        greatestClock = [greatestClock, outcome.greatestClock].compactMap(\.self).max()
        return sequences
    }

    private mutating func next(_ id: UniqueID) -> Int64 {
        sequence += 1
        log.append((sequence, id))
        return sequence
    }

    private mutating func release(_ change: StateChange) {
        guard let entity = change.entityBefore else { return }
        if let name = entity.liveTagName { tagNames[name] = nil }
        for member in entity.heldMembers { holdersByMember[member]?.remove(change.uniqueID) }
    }

    private mutating func claim(_ change: StateChange) {
        guard case .entity(let entity) = change.after else { return }
        if let name = entity.liveTagName { tagNames[name] = change.uniqueID }
        for member in entity.heldMembers { holdersByMember[member, default: []].insert(change.uniqueID) }
    }

    /// The objects that need not be sent back to the sender of a push. Such an object meets two conditions: all its changes in the
    /// push were applied, and the sender had read its latest state. A new object meets the second condition.
    private static func echoes(
        of outcome: MergeOutcome, _ sequences: [UniqueID: Int64], since read: Int64
    ) -> [UniqueID: Int64] {
        var before: [UniqueID: Int64] = [:]
        for change in outcome.changes {
            // If the state has no sequence number, the object did not exist, but edits of it by other devices were stored. The
            // sender lacks these edits, so the object is not an echo.
            if let state = change.before { before[change.uniqueID] = state.sequence ?? .max }
        }
        var echoes: [UniqueID: Int64] = [:]
        // The server adds the size and hash to attachments, so attachments are not echoes.
        for receipt in outcome.receipts where receipt.status == .applied && receipt.objectType != "attachment" {
            guard let id = receipt.uniqueID, let number = sequences[id], before[id] ?? 0 <= read else { continue }
            echoes[id] = number
        }
        for receipt in outcome.receipts where receipt.status > .applied {
            if let id = receipt.uniqueID { echoes[id] = nil }
        }
        return echoes
    }

    // MARK: The server's own changes

    /// Makes a clock for an edit of an entity by the server itself. The clock is greater than all clocks of the entity.
    mutating func tick(after entity: Entity, server: NodeID, at now: Timestamp) -> Clock {
        var source = ClockSource(node: server, last: serverClock)
        if let last = entity.lastClock { source.observe(last) }
        let clock = source.tick(at: UInt64(max(now.milliseconds, 0)))
        serverClock = clock
        return clock
    }

    /// Drops the superseded values that `thinning` selects.
    mutating func thin(_ thinning: Thinning) {
        let lost = Set(lostTexts)
        for id in parcels.keys.sorted() {
            guard case .entity(let entity, _)? = states[id] else { continue }
            var versions: [Attribute: [Thinning.Version]] = [:]
            for stored in parcels[id, default: []] {
                for edit in stored.parcel.edits where edit.value != nil {
                    guard let clock = edit.clock else { continue }
                    let text = LostText(object: id, attribute: edit.attribute, clock: clock)
                    versions[edit.attribute, default: []].append(
                        Thinning.Version(
                            clock: clock, pushedAt: stored.pushedAt, position: stored.position,
                            sequence: stored.sequence, hasLostWords: lost.contains(text)))
                }
            }
            for (attribute, versions) in versions {
                guard let current = entity.register(attribute)?.clock else { continue }
                let decision = thinning.decide(versions, of: attribute, current: current)
                for version in decision.dropped { drop(attribute, version.clock, of: id, at: version.position) }
            }
        }
    }

    private mutating func drop(_ attribute: Attribute, _ clock: Clock, of id: UniqueID, at position: Int64) {
        guard let index = parcels[id]?.firstIndex(where: { $0.position == position }),
            var edits = parcels[id]?[index].parcel.edits,
            let number = edits.firstIndex(where: { $0.attribute == attribute && $0.clock == clock })
        else { return }
        editBytes -= Int64(ParcelBody.write(edits).count)
        edits[number] = Edit(attribute, nil, at: clock)
        editBytes += Int64(ParcelBody.write(edits).count)
        parcels[id]?[index].parcel.edits = edits
    }

    mutating func put(_ revocation: MemoryRevocation) { revocations[revocation.node] = revocation }

    /// Marks this scope as restored from a backup (operating.md, Restoring).
    mutating func markRestored() { restoredSequence = sequence }

    // MARK: Reading

    /// The objects that hold a tag or an attachment. These are notes and apps' own objects.
    func objects(holding member: UniqueID) -> [UniqueID] { holdersByMember[member, default: []].sorted() }

    /// The state of an object that exists or was deleted. The last state of a deleted object is computed from its edits.
    func lastState(of id: UniqueID) -> Entity? {
        switch states[id] {
        case .entity(let entity, _)?: return entity.exists ? entity : nil
        case .deleted(let deleted, _)?:
            var entity = Section(deleted.objectType).empty(id)
            for edit in parcels[id, default: []].flatMap(\.parcel.edits) { entity.fold(edit) }
            return entity
        case nil: return nil
        }
    }

    /// The tags that were merged into a tag.
    func tags(mergedInto target: UniqueID) -> [UniqueID] {
        states.compactMap { id, state in
            if case .deleted(let deleted, _) = state, deleted.mergedInto == target { id } else { nil }
        }.sorted()
    }

}

extension MemoryScope: Bag {
    package func states(of ids: [UniqueID], counting load: inout BagLoad) throws -> [UniqueID: ObjectState] {
        var found: [UniqueID: ObjectState] = [:]
        for id in ids { found[id] = states[id] }
        for id in ids { if case .entity(let entity, _)? = found[id] { try load.add(entity.body.count) } }
        return found
    }

    package func tag(named foldedName: String) -> UniqueID? { tagNames[foldedName] }

    package func holders(of attachment: UniqueID) -> [UniqueID] { objects(holding: attachment) }

    package func parcels(of object: UniqueID, holding clock: Clock) -> [Parcel] {
        MemoryScope.parcels(parcels[object, default: []], holding: clock)
    }

    private static func parcels(_ parcels: some BidirectionalCollection<StoredParcel>, holding clock: Clock) -> [Parcel]
    {
        parcels.reversed().map(\.parcel).filter { parcel in
            guard let first = parcel.firstClock, let last = parcel.lastClock else { return false }
            return first <= clock && clock <= last
        }
    }

    /// The parcels that contain a version of a text of an object.
    private func versions(of text: Attribute, of object: UniqueID) -> [StoredParcel] {
        parcels[object, default: []].filter { $0.parcel.text == text }
    }

    package func newest(_ text: Attribute, of object: UniqueID, by node: NodeID, before clock: Clock) -> Clock? {
        versions(of: text, of: object).compactMap(\.parcel.textClock).filter { $0.node == node && $0 < clock }.max()
    }

    package func descents(of text: Attribute, of object: UniqueID) -> [TextDescent] {
        versions(of: text, of: object).compactMap { stored in
            guard let clock = stored.parcel.textClock, !stored.parcel.missingAncestors.isEmpty else { return nil }
            return TextDescent(
                clock: clock, missingAncestors: stored.parcel.missingAncestors, sequence: stored.sequence)
        }
    }

    package func current(_ text: Attribute, of object: UniqueID, at sequence: Int64) -> Clock? {
        versions(of: text, of: object).filter { $0.sequence <= sequence }.compactMap(\.parcel.textClock).max()
    }

    package func parcels(rescuedInto object: UniqueID, holding clock: Clock) -> [Parcel] {
        let sources = states.compactMap { id, state in
            if case .deleted(let deleted, let sequence) = state, deleted.rescuedInto == object {
                (id, sequence)
            } else {
                nil
            }
        }
        guard let (id, sequence) = sources.min(by: { $0.0 < $1.0 }) else { return [] }
        // Only parcels from before the rescue are searched. The DeletedObject has the sequence number of its last change. If it
        // was changed after the rescue, for example because an earlier deletion arrived, this number is too great. The sequence
        // number of the rescue's parcel is then used.
        let end =
            parcels[object, default: []].first { $0.parcel.isRescue }.map { min($0.sequence, sequence) } ?? sequence
        return MemoryScope.parcels(parcels[id, default: []].filter { $0.sequence < end }, holding: clock)
    }

    package func attachmentData(of attachment: UniqueID) -> AttachmentData? { files.data(of: attachment) }
}

extension Entity {
    /// The name of a tag that exists, in the form in which names are compared (``TagName``).
    fileprivate var liveTagName: String? {
        if case .tag(let tag) = self, tag.exists { TagName.fold(tag.name) } else { nil }
    }
}
