/// Decides which superseded values of a register are dropped. This is a pure function of the register's versions in the bag, of
/// the devices' most recent reads, and of the current time (merge.md, Thinning).
///
/// First all values are kept, then one for each hour (UTC), and finally one for each day; ``HistoryPolicy`` sets the times. Of the
/// values that arrived in the same hour or on the same day, the one with the greatest clock is kept. The current value, texts that
/// lost words in a merge, and the newest text that an import gave to a note are never dropped. Texts that a device may still use as
/// a base are not dropped either, if the device was used in the last year.
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
        /// The time when the value arrived.
        public let pushedAt: Timestamp
        /// The position of the value's parcel in the order of arrival.
        public let position: Int64
        /// The scope's sequence number after the value was added.
        public let sequence: Int64
        /// Whether the value is a text that lost words in a merge.
        public let hasLostWords: Bool

        public init(clock: Clock, pushedAt: Timestamp, position: Int64, sequence: Int64, hasLostWords: Bool = false) {
            self.clock = clock
            self.pushedAt = pushedAt
            self.position = position
            self.sequence = sequence
            self.hasLostWords = hasLostWords
        }
    }

    /// A signed-in device, with the values that determine which texts the device may still use as a base.
    public struct Device: Sendable, Equatable {
        public let node: NodeID
        /// The sequence number of the device's sync token at its most recent read; nil if the device has not read yet.
        public let readSequence: Int64?
        /// The time of the device's most recent read, or of its most recent use if the device has not read yet. The time is
        /// precise to a minute.
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
        /// The time at which the register must be reviewed again because more values may be dropped. Nil if no more values can
        /// be dropped before the register changes.
        public var nextReview: Timestamp?
    }

    /// Texts that a device may use as a base are kept for this time after the most recent use of the device. In milliseconds.
    public static let deviceRetention = 365 * Timestamp.day
    /// The margin before the stored time of a device's most recent read, in milliseconds. ``readMarginAfter`` describes its use.
    static let readMarginBefore = 60_000 as Int64
    /// The margin after the stored time of a device's most recent read, in milliseconds. ``readMarginBefore`` and this margin form
    /// an interval around the stored time. All texts that were current in this interval are kept, because the device may have
    /// received any of them. Read times are stored only once a minute, and a response takes time to arrive.
    static let readMarginAfter = 120_000 as Int64
    /// The interval, in milliseconds, between reviews of texts that are kept only because a device may use them as a base. Such
    /// texts are reviewed regularly, because reads by the device do not trigger a review.
    static let deviceReviewInterval = 7 * Timestamp.day
    /// The interval, in milliseconds, between reviews of values that are kept because the policy is ``HistoryPolicy/forever``. Such
    /// values are reviewed regularly, because the policy may change.
    static let policyReviewInterval = 30 * Timestamp.day

    /// Decides which versions of one register are dropped.
    /// - Parameters:
    ///   - versions: all values of the register that are still in the bag.
    ///   - current: the clock of the register.
    ///   - node: the node in the clocks of imported texts of this note (``ImportedNote``). The newest imported text is kept,
    ///     because it is the base of the next import, even years later.
    public func decide(
        _ versions: [Version], of attribute: Attribute, current: Clock, importedBy node: NodeID? = nil
    ) -> Decision {
        let versions = versions.sorted { $0.clock > $1.clock }
        guard case .thinned(let all, let hourly) = policy else {
            let isSuperseded = versions.contains { $0.clock < current }
            return Decision(nextReview: isSuperseded ? now.adding(Thinning.policyReviewInterval) : nil)
        }
        let starts = attribute.isText ? startingPoints(versions) : []
        let imported = attribute.isText ? versions.first { $0.clock.node == node }?.clock : nil
        var decision = Decision()
        // The versions are in descending order of clocks. The first version of each hour and of each day is kept.
        var (hours, days): (Set<Int64>, Set<Int64>) = ([], [])
        var supersession: Timestamp?
        for version in versions {
            let isFirstOfHour = hours.insert(version.pushedAt.milliseconds.flooredDivision(by: Timestamp.hour).0)
                .inserted
            let isFirstOfDay = days.insert(version.pushedAt.milliseconds.flooredDivision(by: Timestamp.day).0).inserted
            defer { supersession = min(supersession ?? version.pushedAt, version.pushedAt) }
            guard version.clock < current, !isFirstOfDay, !attribute.isText || !version.hasLostWords,
                version.clock != imported
            else { continue }
            // `supersession` is nil if the value that superseded this version arrived after `versions` was read. The version is
            // then treated as superseded now.
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

    /// The clocks of the texts that a device may still use as a base. Only devices that were used in the last year count.
    /// - Parameter versions: all versions, in descending order of clocks.
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
                // This text was current at `from`. Texts with smaller clocks had been superseded by then.
                if version.pushedAt <= from { break }
            }
        }
        // The next text of a node may descend from the newest text of the same node. So the newest text of every node is kept for
        // `deviceRetention`, even if the node's device has since signed out, or signed in again with a new node.
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
    /// This time, rounded up to the full hour, so that all values of an hour are reviewed together.
    fileprivate var roundedUpToHour: Timestamp {
        let (hours, rest) = milliseconds.flooredDivision(by: Timestamp.hour)
        return Timestamp(clamping: (rest == 0 ? hours : hours + 1) * Timestamp.hour)
    }
}
