/// Decides which superseded values of a register are dropped: a pure function of its versions in the bag, of how far the devices
/// have read, and of the time (merge.md, Thinning).
///
/// Of the values that arrived within one hour, or one day, of UTC, the one with the greatest clock is retained. The following are
/// never dropped: the current value; a text that lost words in a merge; a text that a device seen in the last year may still use
/// as a base.
public struct Thinning: Sendable {
    public let policy: HistoryPolicy
    public let now: Timestamp
    /// The devices that may push to the scope.
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
        /// The position of its parcel in the order of arrival.
        public let position: Int64
        /// The scope's sequence number after it was added.
        public let sequence: Int64
        /// For a text: whether it lost words in a merge.
        public let hasLostWords: Bool

        public init(clock: Clock, pushedAt: Timestamp, position: Int64, sequence: Int64, hasLostWords: Bool = false) {
            self.clock = clock
            self.pushedAt = pushedAt
            self.position = position
            self.sequence = sequence
            self.hasLostWords = hasLostWords
        }
    }

    /// A signed-in device, with the facts that determine which texts it may still use as a base.
    public struct Device: Sendable, Equatable {
        public let node: NodeID
        /// The sequence number of the device's sync token at its last read; nil if it has not read yet.
        public let readSequence: Int64?
        /// The time of that read, or of the device's last use if it has not read yet. Precise to a minute.
        public let readDate: Timestamp
        public let lastUseDate: Timestamp

        public init(node: NodeID, readSequence: Int64?, readDate: Timestamp, lastUseDate: Timestamp) {
            self.node = node
            self.readSequence = readSequence
            self.readDate = readDate
            self.lastUseDate = lastUseDate
        }
    }

    /// The decision for the values of one register.
    public struct Decision: Sendable, Equatable {
        public var dropped: [Version] = []
        /// When more values may become droppable; nil if not before the register changes.
        public var nextReview: Timestamp?
    }

    /// How long after its last use a device may still use its texts as a base, in milliseconds.
    public static let deviceRetention = 365 * Timestamp.day
    /// The margins around a device's last read within which it may have received other texts, in milliseconds: the time of a read
    /// is stored once a minute, and a response takes time to arrive.
    static let readMarginBefore = 60_000 as Int64
    static let readMarginAfter = 120_000 as Int64
    /// When to review texts that are retained only for a device, in milliseconds. The device's reads do not trigger a review.
    static let deviceReviewInterval = 7 * Timestamp.day
    /// When to review values that are retained because the policy is ``HistoryPolicy/forever``, in milliseconds. The policy may
    /// change.
    static let policyReviewInterval = 30 * Timestamp.day

    /// Decides which versions of one register are dropped.
    /// - Parameters:
    ///   - versions: all values of the register that are still in the bag.
    ///   - current: the clock of the register.
    public func decide(_ versions: [Version], of attribute: Attribute, current: Clock) -> Decision {
        let versions = versions.sorted { $0.clock > $1.clock }
        guard case .thinned(let all, let hourly) = policy else {
            let isSuperseded = versions.contains { $0.clock < current }
            return Decision(nextReview: isSuperseded ? now.adding(Thinning.policyReviewInterval) : nil)
        }
        let starts = attribute == .text ? startingPoints(versions) : []
        var decision = Decision()
        // In descending order of clocks, the first version of each hour, or day, is retained.
        var (hours, days): (Set<Int64>, Set<Int64>) = ([], [])
        var supersession: Timestamp?
        for version in versions {
            let isFirstOfHour = hours.insert(version.pushedAt.milliseconds.flooredDivision(by: Timestamp.hour).0)
                .inserted
            let isFirstOfDay = days.insert(version.pushedAt.milliseconds.flooredDivision(by: Timestamp.day).0).inserted
            defer { supersession = min(supersession ?? version.pushedAt, version.pushedAt) }
            guard version.clock < current, !isFirstOfDay, attribute != .text || !version.hasLostWords else { continue }
            // The superseding value may have arrived after the versions were read. In that case it has only just arrived.
            let superseded = max(supersession ?? now, version.pushedAt)
            let end = superseded.adding(isFirstOfHour ? hourly : all)
            if end > now {
                decision.review(at: end.roundedUpToHour)
            } else if starts.contains(version.clock) {
                decision.review(at: now.adding(Thinning.deviceReviewInterval))
            } else {
                decision.dropped.append(version)
            }
        }
        return decision
    }

    /// The clocks of the texts that a device seen in the last year may still use as a base.
    /// - Parameter versions: in descending order of clocks.
    private func startingPoints(_ versions: [Version]) -> Set<Clock> {
        var starts: Set<Clock> = []
        for device in devices
        where max(device.lastUseDate, device.readDate).milliseconds >= now.milliseconds - Thinning.deviceRetention {
            if let read = device.readSequence, let text = versions.first(where: { $0.sequence <= read }) {
                starts.insert(text.clock)
            }
            let (from, to) = (
                device.readDate.adding(-Thinning.readMarginBefore), device.readDate.adding(Thinning.readMarginAfter)
            )
            for version in versions where version.pushedAt <= to {
                starts.insert(version.clock)
                // This text was current at the start of the interval, so texts with a smaller clock were not current within it.
                if version.pushedAt <= from { break }
            }
        }
        // A device's text descends from its previous text, even if the device has signed in again since.
        var nodes: Set<NodeID> = []
        for version in versions where version.pushedAt.milliseconds >= now.milliseconds - Thinning.deviceRetention {
            if nodes.insert(version.clock.node).inserted { starts.insert(version.clock) }
        }
        return starts
    }
}

extension Thinning.Decision {
    fileprivate mutating func review(at date: Timestamp) { nextReview = min(nextReview ?? date, date) }
}

extension Timestamp {
    /// Rounded up to the full hour, so that all values of an hour are reviewed together.
    fileprivate var roundedUpToHour: Timestamp {
        let (hours, rest) = milliseconds.flooredDivision(by: Timestamp.hour)
        return Timestamp(clamping: (rest == 0 ? hours : hours + 1) * Timestamp.hour)
    }
}
