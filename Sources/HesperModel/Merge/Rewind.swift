/// What one object is without what one device pushed after a moment (merge.md, Devices): decided by the keys of its edits, so
/// that a long history takes little memory; the few values that are put back are read afterwards.
///
///     var rewind = Rewind(of: phone, after: moment)
///     for stored in history { rewind.add(stored.parcel, by: stored.pushedBy, at: stored.pushedAt, position: stored.position) }
///     rewind.outcome(for: entity)
public struct Rewind: Sendable {
    public let device: NodeID
    public let moment: Timestamp
    private var parcels: [Seen] = []

    /// What is remembered of a parcel.
    private struct Seen {
        let position: Int64
        let pushedBy: NodeID?
        let pushedAt: Timestamp
        let isServerMade: Bool
        let edits: [Key]

        func isOfOnePush(with other: Seen) -> Bool { pushedBy == other.pushedBy && pushedAt == other.pushedAt }
    }

    private struct Key {
        let attribute: Attribute
        let clock: Clock?
        /// Of a text, by which a merge is told from a text that the server only gave a clock of its own; nil if it was thinned away.
        let digest: Digest?
        let hasValue: Bool
    }

    public init(of device: NodeID, after moment: Timestamp) {
        self.device = device
        self.moment = moment
    }

    /// Where the value of an edit stands in the bag.
    public struct Version: Sendable, Equatable {
        public let clock: Clock
        public let position: Int64
    }

    /// What one register is set to.
    public struct Setting: Sendable, Equatable {
        public let attribute: Attribute
        /// Nil if nobody else ever set it, or none of what they set is kept: then it has its default.
        public let version: Version?
        /// Whether what stood was thinned away, so that something older is put back.
        public let isOlder: Bool
    }

    public enum Outcome: Sendable, Equatable {
        /// Nobody else made anything of it.
        case gone
        /// - Parameter keeps: whether something of it stays that is set once and for all, or that an object cannot be without.
        case settings([Setting], keeps: Bool)
    }

    /// Takes a parcel of the object in; in whatever order they come.
    public mutating func add(_ parcel: Parcel, by pusher: NodeID?, at date: Timestamp, position: Int64) {
        let edits = parcel.edits.map { edit in
            var digest: Digest?
            if edit.attribute == .text, case .string(let text)? = edit.value { digest = Digest(of: Array(text.utf8)) }
            return Key(attribute: edit.attribute, clock: edit.clock, digest: digest, hasValue: edit.value != nil)
        }
        parcels.append(
            Seen(position: position, pushedBy: pusher, pushedAt: date, isServerMade: parcel.isServerMade, edits: edits))
    }

    /// The position of the last parcel.
    public var lastPosition: Int64? { parcels.map(\.position).max() }

    /// - Parameter entity: what the parcels come to.
    public func outcome(for entity: Entity) -> Outcome {
        let parcels = parcels.sorted { $0.position < $1.position }
        let doubted = doubted(parcels)
        guard parcels.contains(where: { !doubted.contains($0.position) }) else { return .gone }
        var registers: [Attribute: Register] = [:]
        var keeps = false
        for parcel in parcels {
            let isDoubted = doubted.contains(parcel.position)
            for edit in parcel.edits {
                if let clock = edit.clock {
                    registers[edit.attribute, default: Register()].add(
                        Version(clock: clock, position: parcel.position), isDoubted: isDoubted, hasValue: edit.hasValue)
                } else if isDoubted {
                    keeps = true
                }
            }
        }
        var settings: [Setting] = []
        for (attribute, register) in registers {
            guard let last = register.lastDoubted, entity.register(attribute)?.clock == last else { continue }
            // A tag is nothing without a name, which has no default.
            guard attribute.hasStandard || register.kept != nil else {
                keeps = true
                continue
            }
            settings.append(
                Setting(attribute: attribute, version: register.kept, isOlder: register.last != register.kept?.clock))
        }
        settings.sort { $0.attribute.description < $1.attribute.description }
        return .settings(settings, keeps: keeps)
    }

    /// The clocks of one attribute.
    private struct Register {
        /// The greatest by the device.
        var lastDoubted: Clock?
        /// The greatest by others, and the greatest of those whose value is still there.
        var last: Clock?
        var kept: Version?

        mutating func add(_ version: Version, isDoubted: Bool, hasValue: Bool) {
            if isDoubted {
                lastDoubted = max(lastDoubted ?? version.clock, version.clock)
            } else {
                last = max(last ?? version.clock, version.clock)
                if hasValue, kept.map({ $0.clock < version.clock }) ?? true { kept = version }
            }
        }
    }
}

// MARK: - Whom a parcel is by

extension Rewind {
    /// The parcels that the device pushed after the moment, and those that the server merged from such a text.
    private func doubted(_ parcels: [Seen]) -> Set<Int64> {
        var doubted: Set<Int64> = []
        // What stood of the text before the push that a parcel came in, and what stands by now.
        var (before, standing): (Standing?, Standing?) = (nil, nil)
        var texts: [Digest] = []
        for (index, parcel) in parcels.enumerated() {
            if index == 0 || !parcel.isOfOnePush(with: parcels[index - 1]) { (before, texts) = (standing, []) }
            let text = parcel.edits.first { $0.attribute == .text }
            var isDoubted = parcel.pushedBy == device && parcel.pushedAt > moment
            if parcel.isServerMade, let text {
                // A text that the push itself brought, to which the server only gave a clock of its own, is nobody else's.
                let isTheirs = text.digest.map(texts.contains) ?? false
                if before?.isDoubted == true, !isTheirs { isDoubted = true }
            } else if let digest = text?.digest {
                texts.append(digest)
            }
            if isDoubted { doubted.insert(parcel.position) }
            if let clock = text?.clock, standing.map({ $0.clock < clock }) ?? true {
                standing = Standing(clock: clock, isDoubted: isDoubted)
            }
        }
        return doubted
    }

    private struct Standing {
        let clock: Clock
        let isDoubted: Bool
    }
}

extension Rewind.Restoration {
    /// The edit that makes it so; nil if the register has that value already.
    /// - Parameter value: of ``version``, if there is one.
    public func edit(of entity: Entity, _ value: Value?, at clock: Clock) -> Edit? {
        let wanted = value ?? attribute.standard(in: entity)
        return entity.register(attribute)?.value == wanted ? nil : Edit(attribute, wanted, at: clock)
    }
}

extension Attribute {
    fileprivate var hasStandard: Bool { if case .field(let field) = self { field.standard != nil } else { true } }

    /// What a register comes closest to that was never set.
    fileprivate func standard(in entity: Entity) -> Value {
        switch self {
        case .field(let field): entity.content.defaultValue(of: field) ?? .null
        case .tag, .attachment: .bool(false)
        case .custom: .null
        }
    }
}
