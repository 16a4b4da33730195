import Testing

@testable import HesperModel

/// Properties of repeated thinning over time, with random writes and reads.
@Suite("Laws: thinning")
struct ThinningLawTests {
    private struct Course {
        var random: SeededGenerator
        var now = Timestamp(clamping: 1_767_225_600_000)
        var versions: [Thinning.Version] = []
        var all: [Thinning.Version] = []
        var devices: [Thinning.Device] = []
        var reviews = 0
        let nodes = (1...3).map { NodeID(UInt64($0)) }

        var current: Clock { all.map(\.clock).max() ?? .zero }

        /// Makes a few pushes by devices whose clocks may be behind, and one read.
        mutating func write() {
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                now = now.adding(.random(in: 1...120_000, using: &random))
                let behind = UInt64.random(in: 0...3, using: &random) == 0 ? UInt64(90_000) : 0
                let version = Thinning.Version(
                    clock: Clock(
                        time: (UInt64(now.milliseconds) - behind) << 16,
                        node: nodes.randomElement(using: &random) ?? NodeID(1)),
                    pushedAt: now, position: Int64(all.count), sequence: Int64(all.count + 1),
                    hasLostWords: Int.random(in: 0..<10, using: &random) == 0)
                versions.append(version)
                all.append(version)
            }
            let node = nodes.randomElement(using: &random) ?? NodeID(1)
            devices.removeAll { $0.node == node }
            devices.append(
                Thinning.Device(
                    node: node, readSequence: Int64.random(in: 0...Int64(all.count), using: &random), readDate: now,
                    lastUseDate: now))
        }

        /// The versions that must not be dropped, computed in the simplest way.
        var required: Set<Thinning.Version> {
            var required = Set(all.filter { $0.hasLostWords || $0.clock == current })
            for device in devices where device.lastUseDate.milliseconds >= now.milliseconds - Thinning.deviceRetention {
                if let read = device.readSequence,
                    let text = all.filter({ $0.sequence <= read }).max(by: { $0.clock < $1.clock })
                {
                    required.insert(text)
                }
                if let own = all.filter({ $0.clock.node == device.node }).max(by: { $0.clock < $1.clock }) {
                    required.insert(own)
                }
                // Every text that was current at some time around the device's last read.
                let begin = device.readDate.adding(-60_000)
                let before = all.filter { $0.pushedAt <= begin }.max { $0.clock < $1.clock }
                let later = all.filter { $0.pushedAt > begin && $0.pushedAt <= device.readDate.adding(120_000) }
                for time in stride(from: Int64(0), through: 180_000, by: 500) {
                    let pushed = later.filter { $0.pushedAt <= begin.adding(time) } + [before].compactMap(\.self)
                    if let text = pushed.max(by: { $0.clock < $1.clock }) { required.insert(text) }
                }
            }
            return required
        }

        /// Thins at the present time.
        /// - Returns: the time of the next review.
        mutating func thin(_ policy: HistoryPolicy) -> Timestamp? {
            reviews += 1
            let decision = Thinning(policy, devices: devices, at: now).decide(versions, of: .text, current: current)
            versions.removeAll(where: Set(decision.dropped).contains)
            return decision.nextReview
        }
    }

    @Test("Required versions are retained, others are dropped, and the reviews end", arguments: UInt64(1)...16)
    func course(seed: UInt64) {
        var course = Course(random: SeededGenerator(seed: seed))
        for _ in 0..<30 {
            course.write()
            course.now = course.now.adding(
                [Timestamp.hour, Timestamp.day, 9 * Timestamp.day].randomElement(using: &course.random) ?? 0)
            // A device that has read on no longer needs its earlier bases. Therefore the required versions are computed before
            // each thinning.
            let required = course.required.intersection(course.versions)
            let recent = course.versions.filter {
                $0.pushedAt.milliseconds > course.now.milliseconds - Timestamp.day
            }
            let next = course.thin(.standard)
            #expect(required.isSubset(of: course.versions), "seed \(seed)")
            #expect(Set(recent).isSubset(of: course.versions), "seed \(seed)")
            #expect(next.map { $0 > course.now } ?? true, "seed \(seed)")
            let left = course.versions
            let again = course.thin(.standard)
            #expect(course.versions == left, "seed \(seed): thinning again at the same time changes nothing")
            #expect(next.map { $0 <= again ?? $0 } ?? (again == nil), "seed \(seed)")
        }
        // After the last write, the reviews end with one version per day left, besides those that are always retained.
        course.reviews = 0
        var next = course.thin(.standard)
        while let date = next, course.reviews < 2_000 {
            course.now = date
            next = course.thin(.standard)
        }
        #expect(next == nil && course.reviews < 2_000, "seed \(seed)")
        let days = Dictionary(grouping: course.versions.filter { !$0.hasLostWords && $0.clock != course.current }) {
            $0.pushedAt.milliseconds / Timestamp.day
        }
        #expect(days.values.allSatisfy { $0.count == 1 }, "seed \(seed)")
        let daysWritten = Set(course.all.map { $0.pushedAt.milliseconds / Timestamp.day })
        let daysLeft = Set(course.versions.map { $0.pushedAt.milliseconds / Timestamp.day })
        #expect(daysLeft == daysWritten, "seed \(seed): every day with writes must have a value left")
    }

    @Test("The order of the versions makes no difference", arguments: UInt64(1)...20)
    func order(seed: UInt64) {
        var course = Course(random: SeededGenerator(seed: seed))
        for _ in 0..<5 { course.write() }
        let thinning = Thinning(.standard, devices: course.devices, at: course.now.adding(3 * Timestamp.day))
        let one = thinning.decide(course.versions, of: .text, current: course.current)
        let shuffled = course.versions.shuffled(using: &course.random)
        #expect(thinning.decide(shuffled, of: .text, current: course.current) == one, "seed \(seed)")
    }
}
