/// Computes which values of one object must be restored to undo the edits that one device pushed after a moment (merge.md,
/// Devices). The values of the edits are not stored, so that a long history takes little memory. The result names the values to
/// restore, and the caller reads them from the bag.
///
///     var rewind = Rewind(of: phone, after: moment)
///     for stored in history { rewind.add(stored.parcel, by: stored.pushedBy, at: stored.pushedAt, position: stored.position) }
///     rewind.outcome(for: entity)
public struct Rewind: Sendable {
    public let device: NodeID
    public let moment: Timestamp
    private var parcels: [ParcelSummary] = []

    /// The properties of a parcel that determine whether its edits are undone.
    private struct ParcelSummary {
        let position: Int64
        let pushedBy: NodeID?
        let pushedAt: Timestamp
        let isServerMade: Bool
        let edits: [EditKey]

        func isOfOnePush(with other: ParcelSummary) -> Bool { pushedBy == other.pushedBy && pushedAt == other.pushedAt }
    }

    private struct EditKey {
        let attribute: Attribute
        let clock: Clock?
        /// The digest of the text that the edit sets. Nil if the attribute is not a text, or if the text was thinned away. The
        /// digest shows how the server made a text during a push. If a text in the push has an equal digest, the server only gave
        /// that text a new clock. Otherwise, the server merged texts.
        let digest: Digest?
        let hasValue: Bool
    }

    public init(of device: NodeID, after moment: Timestamp) {
        self.device = device
        self.moment = moment
    }

    /// The location of a value in the bag: the clock of the edit that set the value, and the position of the edit's parcel.
    public struct Version: Sendable, Equatable {
        public let clock: Clock
        public let position: Int64
    }

    /// A register to restore.
    public struct Restoration: Sendable, Equatable {
        public let attribute: Attribute
        /// The version to restore; nil to restore the default. The default is restored if all edits of the register are undone, or
        /// if the values of all other edits were thinned away.
        public let version: Version?
        /// Whether the value that would be current without the undone edits was thinned away. If so, an older value or the default
        /// is restored instead.
        public let isOlder: Bool
    }

    public enum Outcome: Sendable, Equatable {
        /// Delete the object, because all of its edits are undone.
        case delete
        /// Restore these registers.
        /// - Parameter isPartial: whether some of the device's edits cannot be undone. These are edits of immutable attributes,
        ///   and of the name of a tag that never had another name.
        case restore([Restoration], isPartial: Bool)
    }

    /// Adds a parcel of the object. The order of the calls does not matter.
    public mutating func add(_ parcel: Parcel, by pusher: NodeID?, at date: Timestamp, position: Int64) {
        let edits = parcel.edits.map { edit in
            var digest: Digest?
            if edit.attribute.isText, case .string(let text)? = edit.value { digest = Digest(of: Array(text.utf8)) }
            return EditKey(attribute: edit.attribute, clock: edit.clock, digest: digest, hasValue: edit.value != nil)
        }
        parcels.append(
            ParcelSummary(
                position: position, pushedBy: pusher, pushedAt: date, isServerMade: parcel.isServerMade, edits: edits))
    }

    /// The greatest position of the added parcels; nil if none was added.
    public var lastPosition: Int64? { parcels.map(\.position).max() }

    /// The action that undoes the device's edits of the object.
    /// - Parameter entity: the object, folded from all added parcels.
    public func outcome(for entity: Entity) -> Outcome {
        let parcels = parcels.sorted { $0.position < $1.position }
        let undone = undone(parcels)
        guard parcels.contains(where: { !undone.contains($0.position) }) else { return .delete }
        var registers: [Attribute: Register] = [:]
        var isPartial = false
        for parcel in parcels {
            let isUndone = undone.contains(parcel.position)
            for edit in parcel.edits {
                if let clock = edit.clock {
                    registers[edit.attribute, default: Register()].add(
                        Version(clock: clock, position: parcel.position), isUndone: isUndone, hasValue: edit.hasValue)
                } else if isUndone {
                    isPartial = true
                }
            }
        }
        var restorations: [Restoration] = []
        for (attribute, register) in registers {
            guard let last = register.lastUndone, entity.register(attribute)?.clock == last else { continue }
            // A tag must have a name, and names have no default. So the name of a tag is kept if the tag has no other name to
            // restore.
            guard attribute.hasDefault || register.restorable != nil else {
                isPartial = true
                continue
            }
            restorations.append(
                Restoration(
                    attribute: attribute, version: register.restorable,
                    isOlder: register.last != register.restorable?.clock))
        }
        restorations.sort { $0.attribute.description < $1.attribute.description }
        return .restore(restorations, isPartial: isPartial)
    }

    /// The clocks of one register that determine which value is restored.
    private struct Register {
        /// The greatest clock of the edits that are undone.
        var lastUndone: Clock?
        /// The greatest clock of the edits that are not undone. ``restorable`` is the newest of these edits whose value is
        /// still stored.
        var last: Clock?
        var restorable: Version?

        mutating func add(_ version: Version, isUndone: Bool, hasValue: Bool) {
            if isUndone {
                lastUndone = max(lastUndone ?? version.clock, version.clock)
            } else {
                last = max(last ?? version.clock, version.clock)
                if hasValue, restorable.map({ $0.clock < version.clock }) ?? true { restorable = version }
            }
        }
    }
}

// MARK: - The device's parcels

extension Rewind {
    /// The positions of the parcels to undo. A parcel is undone if the device pushed it after the moment. A parcel that the server
    /// made is also undone if its text was merged from a text that is undone.
    private func undone(_ parcels: [ParcelSummary]) -> Set<Int64> {
        var undone: Set<Int64> = []
        // For each text attribute, `before` is the text that was current before the push that contains the parcel, and `current` is
        // the text that is current after the parcel.
        var (before, current): ([Attribute: CurrentText], [Attribute: CurrentText]) = ([:], [:])
        var texts: [Attribute: [Digest]] = [:]
        for (index, parcel) in parcels.enumerated() {
            if index == 0 || !parcel.isOfOnePush(with: parcels[index - 1]) { (before, texts) = (current, [:]) }
            let text = parcel.edits.first { $0.attribute.isText }
            var isUndone = parcel.pushedBy == device && parcel.pushedAt > moment
            if parcel.isServerMade, let text {
                // If the server only gave a pushed text a new clock, the text counts as the work of the device that pushed it.
                let isPushed = text.digest.map { texts[text.attribute, default: []].contains($0) } ?? false
                if before[text.attribute]?.isUndone == true, !isPushed { isUndone = true }
            } else if let text, let digest = text.digest {
                texts[text.attribute, default: []].append(digest)
            }
            if isUndone { undone.insert(parcel.position) }
            if let text, let clock = text.clock, current[text.attribute].map({ $0.clock < clock }) ?? true {
                current[text.attribute] = CurrentText(clock: clock, isUndone: isUndone)
            }
        }
        return undone
    }

    private struct CurrentText {
        let clock: Clock
        let isUndone: Bool
    }
}

extension Rewind.Restoration {
    /// The edit that sets the register to the restored value; nil if the register already has that value.
    /// - Parameter value: the value of ``version``; nil for the default.
    public func edit(of entity: Entity, _ value: Value?, at clock: Clock) -> Edit? {
        let restored = value ?? attribute.defaultValue(in: entity)
        return entity.register(attribute)?.value == restored ? nil : Edit(attribute, restored, at: clock)
    }
}

extension Attribute {
    fileprivate var hasDefault: Bool { if case .field(let field) = self { field.defaultValue != nil } else { true } }

    /// The value to set if a register has no value to restore: the default of a field, false for a tag or an attachment, the empty
    /// text for a text of an app's own object, and null for an attribute or a file.
    fileprivate func defaultValue(in entity: Entity) -> Value {
        switch self {
        case .field(let field): entity.content.defaultValue(of: field) ?? .null
        case .tag, .attachment: .bool(false)
        case .namedText: .string("")
        case .custom, .file: .null
        }
    }
}
