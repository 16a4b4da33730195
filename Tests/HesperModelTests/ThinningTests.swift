import Testing

@testable import HesperModel

/// merge.md, Thinning.
@Suite("Thinning")
struct ThinningTests {
    static let begin: Int64 = 1_767_225_600_000  // 2026-01-01T00:00:00Z
    static let minute: Int64 = 60_000
    static let node = NodeID(7)

    static func date(_ milliseconds: Int64) -> Timestamp { Timestamp(clamping: begin + milliseconds) }

    /// Versions that arrived in the order of their clocks, at these times in milliseconds after the beginning.
    static func versions(_ times: [Int64], by node: NodeID = node) -> [Thinning.Version] {
        times.enumerated().map { index, time in
            Thinning.Version(
                clock: Clock(time: UInt64(begin + time) << 16, node: node), pushedAt: date(time),
                position: Int64(index), sequence: Int64(index + 1))
        }
    }

    /// The arrival times of the dropped versions. The last of `times` is the current version.
    static func dropped(
        _ times: [Int64], at now: Int64, policy: HistoryPolicy = .standard, devices: [Thinning.Device] = []
    ) -> [Int64] {
        let versions = versions(times)
        guard let current = versions.last?.clock else { return [] }
        return Thinning(policy, devices: devices, at: date(now)).decide(versions, of: .text, current: current)
            .dropped.map { $0.pushedAt.milliseconds - begin }.sorted()
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let times: [Int64]
        let now: Int64
        let dropped: [Int64]
        var policy = HistoryPolicy.standard
        var testDescription: String { name }
    }

    static let (hour, day) = (Timestamp.hour, Timestamp.day)
    static let rows = [
        Row(name: "All are retained for a day", times: [0, 1, 2, 3], now: day, dropped: []),
        Row(
            name: "Then the last of each hour is retained", times: [0, 1, 2, hour, hour + 5], now: 2 * day,
            dropped: [0, 1, hour]),
        Row(
            name: "One per hour is retained for a month", times: (0..<24).map { $0 * hour } + [40 * day], now: 30 * day,
            dropped: []),
        Row(
            name: "Then the last of each day is retained", times: (0..<24).map { $0 * hour } + [40 * day],
            now: 71 * day,
            dropped: (0..<23).map { $0 * hour }),
        Row(
            name: "A value that was current for months is retained for a day after it was superseded",
            times: [0, 1, 100 * day],
            now: 100 * day + hour, dropped: [0]),
        Row(
            name: "The policy forever retains everything", times: [0, 1, 2, 3, hour, day, 9 * day], now: 9_000 * day,
            dropped: [],
            policy: .forever),
        Row(
            name: "The operator can set other times", times: [0, 1, 2 * hour, 3 * hour, 4 * day], now: 5 * hour,
            dropped: [0], policy: .thinned(all: hour, hourly: day)),
        Row(
            name: "Without an hourly phase, one per day", times: [0, 1, 2 * hour, 3 * hour, 4 * hour], now: 8 * hour,
            dropped: [0, 1, 2 * hour, 3 * hour], policy: .thinned(all: hour, hourly: hour)),
    ]

    @Test("Versions are dropped according to the policy", arguments: rows)
    func drops(row: Row) { #expect(ThinningTests.dropped(row.times, at: row.now, policy: row.policy) == row.dropped) }

    @Test("The current version is never dropped, even if others arrived after it")
    func current() {
        // The version with the smaller clock arrived later in the same hour.
        let versions = ThinningTests.versions([5, 6])
        let late = Thinning.Version(
            clock: versions[0].clock, pushedAt: ThinningTests.date(10), position: 9, sequence: 9)
        let all = [versions[1], late]
        let decision = Thinning(.standard, devices: [], at: ThinningTests.date(400 * ThinningTests.day))
            .decide(all, of: .text, current: versions[1].clock)
        #expect(decision.dropped == [late])
    }

    @Test("A text that lost words is never dropped; for other attributes this makes no difference")
    func lostWords() {
        let times: [Int64] = [0, 1, 2]
        let versions = ThinningTests.versions(times).map {
            Thinning.Version(
                clock: $0.clock, pushedAt: $0.pushedAt, position: $0.position, sequence: $0.sequence,
                hasLostWords: $0.position == 0)
        }
        let thinning = Thinning(.standard, devices: [], at: ThinningTests.date(9 * ThinningTests.day))
        #expect(thinning.decide(versions, of: .text, current: versions[2].clock).dropped == [versions[1]])
        #expect(
            Set(thinning.decide(versions, of: .archived, current: versions[2].clock).dropped)
                == Set(versions.prefix(2)))
    }

    @Test(
        "The newest imported text is never dropped, and only texts are imported",
        arguments: [Attribute.text, .archived])
    func imported(_ attribute: Attribute) {
        let importer = NodeID(8)
        // Two imports, and later edits of a device in the same hour.
        let imports = ThinningTests.versions([0, 1], by: importer)
        let edits = ThinningTests.versions([2, 3])
        let decision = Thinning(.standard, devices: [], at: ThinningTests.date(4_000 * ThinningTests.day))
            .decide(imports + edits, of: attribute, current: edits[1].clock, importedBy: importer)
        let kept: Set<Thinning.Version> = attribute == .text ? [imports[1], edits[1]] : [edits[1]]
        #expect(Set(imports + edits).subtracting(decision.dropped) == kept)
        #expect(decision.nextReview == nil)
    }

    // MARK: Devices

    static func device(read sequence: Int64?, at date: Int64, node: NodeID = NodeID(9)) -> Thinning.Device {
        Thinning.Device(
            node: node, readSequence: sequence, readDate: self.date(date), lastUseDate: self.date(date))
    }

    struct DeviceRow: CustomTestStringConvertible, Sendable {
        let name: String
        let device: Thinning.Device
        let kept: [Int64]
        var now = 9 * Timestamp.day
        var testDescription: String { name }
    }

    /// Six versions, one every ten minutes, and the current one.
    static let times = (0..<6).map { Int64($0) * 10 * minute } + [3 * day]
    static let deviceRows = [
        DeviceRow(name: "No recent device: the last of the hour", device: device(read: nil, at: -9 * day), kept: [50]),
        DeviceRow(
            name: "The text that was current at its token", device: device(read: 2, at: -9 * day), kept: [10, 50]),
        DeviceRow(
            name: "The text that was current at its last read", device: device(read: nil, at: 25 * minute),
            kept: [20, 50]),
        DeviceRow(
            name: "The text that was current a minute before its last read",
            device: device(read: nil, at: 30 * minute + 59_000), kept: [20, 30, 50]),
        DeviceRow(
            name: "Texts that arrived within two minutes after its last read",
            device: device(read: nil, at: 28 * minute), kept: [20, 30, 50]),
        DeviceRow(
            name: "At its token and at its last read", device: device(read: 1, at: 35 * minute), kept: [0, 30, 50]),
        DeviceRow(
            name: "Its own newest text", device: device(read: nil, at: -9 * day, node: node), kept: [50]),
        DeviceRow(
            name: "Nothing after a year", device: device(read: 2, at: 25 * minute), kept: [50], now: 367 * day),
    ]

    @Test("Texts that a device may use as a base are retained", arguments: deviceRows)
    func devices(row: DeviceRow) {
        let dropped = ThinningTests.dropped(ThinningTests.times, at: row.now, devices: [row.device])
        let kept = ThinningTests.times.dropLast().filter { !dropped.contains($0) }.map { $0 / ThinningTests.minute }
        #expect(kept == row.kept)
    }

    @Test("The newest text by a device's node is retained, even if others have written since")
    func ownText() {
        let own = ThinningTests.versions([0, 1, 2])
        let others = ThinningTests.versions([3, 4, 5, 3 * ThinningTests.day], by: NodeID(8))
        let device = ThinningTests.device(read: nil, at: -9 * ThinningTests.day, node: ThinningTests.node)
        let decision = Thinning(.standard, devices: [device], at: ThinningTests.date(9 * ThinningTests.day))
            .decide(own + others, of: .text, current: others[3].clock)
        #expect(Set(decision.dropped) == Set(own.prefix(2) + others.prefix(2)))
    }

    @Test("Only texts are retained for a device")
    func otherAttributes() {
        let versions = ThinningTests.versions(ThinningTests.times)
        let device = ThinningTests.device(read: 2, at: 25 * ThinningTests.minute)
        let decision = Thinning(.standard, devices: [device], at: ThinningTests.date(9 * ThinningTests.day))
            .decide(versions, of: .sortDate, current: versions[6].clock)
        #expect(decision.dropped.count == 5)
    }

    // MARK: The next review

    @Test(
        "The next review is at the full hour after which a version may be dropped",
        arguments: [
            ([0, 1, 2], 0, 25 * hour), ([0, 1, 2], 2 * day, nil), ([0], 0, nil), ([], 0, nil),
            ([0, 10 * hour, 50 * hour], 51 * hour, 30 * day + 10 * hour),
            ([0, 10 * hour, 50 * hour], 40 * day, nil),
        ] as [([Int64], Int64, Int64?)])
    func nextReview(times: [Int64], now: Int64, next: Int64?) {
        let versions = ThinningTests.versions(times)
        let decision = Thinning(.standard, devices: [], at: ThinningTests.date(now))
            .decide(versions, of: .text, current: versions.last?.clock ?? .zero)
        #expect(decision.nextReview == next.map(ThinningTests.date))
    }

    @Test("Versions that are retained for a device or by the policy forever are reviewed later")
    func laterReviews() {
        let versions = ThinningTests.versions([0, 1, 2])
        let now = ThinningTests.date(9 * ThinningTests.day)
        let device = ThinningTests.device(read: 1, at: -9 * ThinningTests.day)
        let forDevice = Thinning(.standard, devices: [device], at: now)
            .decide(versions, of: .text, current: versions[2].clock)
        #expect(forDevice.nextReview == now.adding(Thinning.deviceReviewInterval))
        let forever = Thinning(.forever, devices: [], at: now).decide(versions, of: .text, current: versions[2].clock)
        #expect(forever.nextReview == now.adding(Thinning.policyReviewInterval))
    }
}
