/// Decides which superseded values of a register are dropped: a pure function of what the bag has of them, of where the
/// devices are, and of the time (merge.md, Thinning).
///
/// Of the values that arrived within one hour, or one day, of UTC the one with the greatest clock stays. Never dropped:
/// what stands; a text that lost words in a merge; a text that a device seen in the last year may still start from.
public struct Thinning: Sendable {
    public let policy: HistoryPolicy
    public let now: Timestamp
    /// Whoever may push to the scope.
    public let devices: [Device]

    public init(_ policy: HistoryPolicy, devices: [Device], at now: Timestamp) {
        self.policy = policy
        self.devices = devices
        self.now = now
    }

    /// A value that is still in the bag.
    public struct Version: Sendable, Hashable {
        public let clock: Clock
        /// When it arrived.
        public let pushedAt: Timestamp
        /// The place of its parcel in the order of arrival.
        public let position: Int64
        /// Where the scope stood once it had arrived.
        public let sequence: Int64
        /// Of a text: whether it lost words in a merge.
        public let hasLostWords: Bool

        public init(clock: Clock, pushedAt: Timestamp, position: Int64, sequence: Int64, hasLostWords: Bool = false) {
            self.clock = clock
            self.pushedAt = pushedAt
            self.position = position
            self.sequence = sequence
            self.hasLostWords = hasLostWords
        }
    }

    /// A device that is signed in, as far as it tells which texts it may still start from.
    public struct Device: Sendable, Equatable {
        public let node: NodeID
        /// Up to where it had read when it last asked for more; nil if it never did.
        public let readSequence: Int64?
        /// When that was, or its last use if it never was: exact to a minute.
        public let readDate: Timestamp
        public let lastUseDate: Timestamp

        public init(node: NodeID, readSequence: Int64?, readDate: Timestamp, lastUseDate: Timestamp) {
            self.node = node
            self.readSequence = readSequence
            self.readDate = readDate
            self.lastUseDate = lastUseDate
        }
    }

    /// What is to be done with the values of one register.
    public struct Decision: Sendable, Equatable {
        public var dropped: [Version] = []
        /// When there may be more to drop; nil if not before the register changes.
        public var nextLook: Timestamp?
    }

    /// How long a device may be away and still start from what it had, in milliseconds.
    public static let memory = 365 * Timestamp.day
    /// What a device was sent around its last reading may be up to this much older, or newer, in milliseconds: readings
    /// are written once a minute, and an answer takes its time.
    static let before = 60_000 as Int64
    static let after = 120_000 as Int64
    /// When to look again at what stays for a device's sake alone, in milliseconds: it moves on without telling.
    static let patience = 7 * Timestamp.day
    /// When to look again at what stays because the policy is to keep everything, in milliseconds: that may change.
    static let policyChange = 30 * Timestamp.day

    /// - Parameters:
    ///   - versions: all values of the register that are still in the bag.
    ///   - standing: the clock of the register.
    public func decide(_ versions: [Version], of attribute: Attribute, standing: Clock) -> Decision {
        let versions = versions.sorted { $0.clock > $1.clock }
        guard case .thinned(let all, let hourly) = policy else {
            let isSuperseded = versions.contains { $0.clock < standing }
            return Decision(nextLook: isSuperseded ? now.adding(Thinning.policyChange) : nil)
        }
        let starts = attribute == .text ? startingPoints(versions) : []
        var decision = Decision()
        // From the greatest clock down: whichever is first in its hour, or its day, stays.
        var (hours, days): (Set<Int64>, Set<Int64>) = ([], [])
        var supersession: Timestamp?
        for version in versions {
            let isFirstOfHour = hours.insert(version.pushedAt.milliseconds.flooredDivision(by: Timestamp.hour).0)
                .inserted
            let isFirstOfDay = days.insert(version.pushedAt.milliseconds.flooredDivision(by: Timestamp.day).0).inserted
            defer { supersession = min(supersession ?? version.pushedAt, version.pushedAt) }
            guard version.clock < standing, !isFirstOfDay, attribute != .text || !version.hasLostWords else { continue }
            // What superseded it may have arrived since this was read: then it was only now.
            let superseded = max(supersession ?? now, version.pushedAt)
            let end = superseded.adding(isFirstOfHour ? hourly : all)
            if end > now {
                decision.look(at: end.roundedUpToHour)
            } else if starts.contains(version.clock) {
                decision.look(at: now.adding(Thinning.patience))
            } else {
                decision.dropped.append(version)
            }
        }
        return decision
    }

    /// The clocks of the texts that a device seen in the last year may still start from.
    /// - Parameter versions: the greatest clock first.
    private func startingPoints(_ versions: [Version]) -> Set<Clock> {
        var starts: Set<Clock> = []
        for device in devices
        where max(device.lastUseDate, device.readDate).milliseconds >= now.milliseconds - Thinning.deviceRetention {
            if let read = device.readSequence, let text = versions.first(where: { $0.sequence <= read }) {
                starts.insert(text.clock)
            }
            let (from, to) = (device.readDate.adding(-Thinning.before), device.readDate.adding(Thinning.after))
            for version in versions where version.pushedAt <= to {
                starts.insert(version.clock)
                // This one stood when the time in question began, so none with a lesser clock stood in it.
                if version.pushedAt <= from { break }
            }
        }
        // What a device writes descends from what it wrote before, also if it has signed in again since.
        var nodes: Set<NodeID> = []
        for version in versions where version.pushedAt.milliseconds >= now.milliseconds - Thinning.deviceRetention {
            if nodes.insert(version.clock.node).inserted { starts.insert(version.clock) }
        }
        return starts
    }
}

extension Thinning.Decision {
    fileprivate mutating func look(at date: Timestamp) { nextLook = min(nextLook ?? date, date) }
}

extension Timestamp {
    /// So that all values of an hour are looked at together.
    fileprivate var roundedUpToHour: Timestamp {
        let (hours, rest) = milliseconds.flooredDivision(by: Timestamp.hour)
        return Timestamp(clamping: (rest == 0 ? hours : hours + 1) * Timestamp.hour)
    }
}
