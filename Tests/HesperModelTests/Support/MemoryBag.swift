@testable import HesperModel

/// A scope in memory, with the simplest possible implementation of the store.
struct MemoryBag {
    /// The bag: the parcels of each object in the order of arrival.
    private(set) var parcels: [UniqueID: [Parcel]] = [:]
    /// The scope's sequence number after each parcel.
    private var sequences: [UniqueID: [Int64]] = [:]
    /// All DeletedObjects.
    private(set) var deletions: [DeletedObject] = []
    /// The folded objects.
    private(set) var folded: [UniqueID: ObjectState] = [:]
    /// The folded objects as tests see them (``NamedTexts``).
    var states: [UniqueID: ObjectState] { NamedTexts.isOn ? folded.mapValues(NamedTexts.shown) : folded }
    private(set) var sequence: Int64 = 0
    /// Updated with every change rather than recomputed.
    private(set) var foldedDigest = Digest.zero
    /// The digest of ``states``.
    var digest: Digest { NamedTexts.isOn ? states.values.map(\.digest).reduce(.zero, ^) : foldedDigest }
    private(set) var serverClock: Clock?
    private(set) var greatestClock: Clock?
    /// Texts that lost words in a merge.
    private(set) var lostTexts: Set<LostText> = []
    /// The uploaded bytes.
    var data: [UniqueID: AttachmentData] = [:]
    /// The sequence number at the last restore.
    var restoredSequence: Int64?

    /// Merges a push and stores the result. Prepares all text merges, as a server does with large ones.
    @discardableResult
    mutating func apply(
        _ push: Push, by sender: NodeID? = nil, server: NodeID, at now: Timestamp
    ) throws -> MergeOutcome {
        let push = NamedTexts.stored(push) { id in
            switch folded[id] {
            case .entity(let entity, _)?: entity.objectType
            case .deleted(let deleted, _)?: deleted.objectType
            case nil: nil
            }
        }
        var context = Merge.Context(
            now: now, server: server, serverClock: serverClock, greatestClock: greatestClock,
            restoredSequence: restoredSequence, sender: sender)
        context.bounds.texts = PreparedTexts()
        context.bounds.textBytes = 0
        var outcome = try Merge.apply(push, to: self, in: context)
        // For each of its texts an element may also have the base, which is merged first.
        for _ in 0..<push.elements.count * 2 where !outcome.pendingMerges.isEmpty {
            for merge in outcome.pendingMerges { context.bounds.texts?.add(merge, merge.input.outcome) }
            outcome = try Merge.apply(push, to: self, in: context)
        }
        precondition(outcome.pendingMerges.isEmpty, "a text merge is still pending")
        for change in outcome.changes {
            foldedDigest ^= change.digestBefore ^ change.digestAfter
            switch change.after {
            case .entity(let entity):
                if entity.exists { sequence += 1 }
                folded[change.uniqueID] = .entity(entity, sequence: entity.exists ? sequence : nil)
            case .deleted(let deleted):
                sequence += 1
                deletions.append(deleted)
                folded[change.uniqueID] = .deleted(deleted, sequence: sequence)
            }
        }
        for parcel in outcome.parcels {
            parcels[parcel.object, default: []].append(parcel)
            sequences[parcel.object, default: []].append(sequence)
        }
        lostTexts.formUnion(outcome.lostTexts)
        serverClock = [serverClock, outcome.serverClock].compactMap(\.self).max()
        greatestClock = [greatestClock, outcome.greatestClock].compactMap(\.self).max()
        outcome.receipts = outcome.receipts.map(NamedTexts.shown)
        return outcome
    }

    /// The objects that changed after a sequence number, in the order of the numbers.
    func changes(since sequence: Int64) -> [ObjectState] {
        states.values.filter { ($0.sequence ?? 0) > sequence }.sorted { ($0.sequence ?? 0) < ($1.sequence ?? 0) }
    }

    /// All values of an attribute, in the order of arrival.
    func history(of id: UniqueID, _ attribute: Attribute = .text) -> [Value] {
        parcels[id, default: []].flatMap(\.edits).filter { $0.attribute == NamedTexts.stored(attribute) }
            .compactMap(\.value)
    }

    /// The texts of an object that lost words, in the order of their clocks.
    func textsWithLostWords(of id: UniqueID) -> [String] {
        parcels[id, default: []].flatMap(\.edits).filter { edit in
            edit.attribute == NamedTexts.stored(.text)
                && lostTexts.contains { $0.object == id && $0.clock == edit.clock }
        }.sorted { ($0.clock ?? .zero) < ($1.clock ?? .zero) }.compactMap { edit in
            if case .string(let text)? = edit.value { text } else { nil }
        }
    }

    func section(of id: UniqueID) -> Section? {
        if case .entity(let entity, _)? = states[id] { entity.section } else { nil }
    }

    subscript(id: UniqueID) -> StateChange.NewState? {
        switch states[id] {
        case .entity(let entity, _)?: .entity(entity)
        case .deleted(let deleted, _)?: .deleted(deleted)
        case nil: nil
        }
    }
}

extension MemoryBag: Bag {
    func states(of ids: [UniqueID], counting load: inout BagLoad) throws -> [UniqueID: ObjectState] {
        let found = Dictionary(ids.compactMap { id in folded[id].map { (id, $0) } }) { first, _ in first }
        for case .entity(let entity, _) in found.values { try load.add(entity.body.count) }
        return found
    }

    func tag(named foldedName: String) -> UniqueID? {
        for case .entity(.tag(let tag), _) in folded.values where tag.exists && TagName.fold(tag.name) == foldedName {
            return tag.uniqueID
        }
        return nil
    }

    func holders(of attachment: UniqueID) -> [UniqueID] {
        folded.values.compactMap { state in
            guard case .entity(let entity, _) = state, entity.heldAttachments.contains(attachment) else { return nil }
            return entity.uniqueID
        }
    }

    func parcels(of object: UniqueID, holding clock: Clock) -> [Parcel] {
        parcels[object, default: []].reversed().filter { parcel in
            guard let first = parcel.firstClock, let last = parcel.lastClock else { return false }
            return first <= clock && clock <= last
        }
    }

    func newest(_ text: Attribute, of object: UniqueID, by node: NodeID, before clock: Clock) -> Clock? {
        parcels[object, default: []].filter { $0.text == text }.compactMap(\.textClock)
            .filter { $0.node == node && $0 < clock }.max()
    }

    func descents(of text: Attribute, of object: UniqueID) -> [TextDescent] {
        zip(parcels[object, default: []], sequences[object, default: []]).compactMap { parcel, sequence in
            guard parcel.text == text, let clock = parcel.textClock, !parcel.missingAncestors.isEmpty else {
                return nil
            }
            return TextDescent(clock: clock, missingAncestors: parcel.missingAncestors, sequence: sequence)
        }
    }

    func current(_ text: Attribute, of object: UniqueID, at sequence: Int64) -> Clock? {
        zip(parcels[object, default: []], sequences[object, default: []])
            .filter { $0.0.text == text && $0.1 <= sequence }
            .compactMap(\.0.textClock).max()
    }

    func parcels(rescuedInto object: UniqueID, holding clock: Clock) -> [Parcel] {
        for case .deleted(let deleted, let sequence) in folded.values where deleted.rescuedInto == object {
            let id = deleted.uniqueID
            let before = zip(parcels[id, default: []], sequences[id, default: []]).filter { $0.1 < sequence }.count
            return parcels(of: id, holding: clock).filter { parcels[id, default: []].prefix(before).contains($0) }
        }
        return []
    }

    func attachmentData(of attachment: UniqueID) -> AttachmentData? { data[attachment] }
}

extension ObjectState {
    fileprivate var digest: Digest {
        switch self {
        case .entity(let entity, _): entity.digest
        case .deleted(let deleted, _): deleted.digest
        }
    }
}
