import HesperModel

/// A random history of four devices that edit one text through a server that merges it. They insert, delete and extend lines, but
/// no two devices replace the same words, so no words may be lost.
struct Life {
    private struct Version {
        let text: String
        /// The greatest clock of a device among the texts that it was made from.
        let origin: Int
        let clock: Int
    }

    private struct Device {
        var lines: [String]
        var base: Version
        var isDirty = false
    }

    private var random: TrialRandom
    private var written = 0
    private var clock = 0
    private var current: Version
    private var devices: [Device]
    /// Lines that were inserted, and lines that were deleted or extended.
    private var inserted: Set<String> = []
    private var removed: Set<String> = []
    private var deletedWords: Set<String> = []

    private(set) var merges = 0
    /// The first merge after which a word occurred twice. This is possible: a deleted line that is kept because it was extended
    /// is below its replacement, and counts as moved and changed in later merges.
    private(set) var doubled: String?
    /// Violations of the expected result.
    private(set) var violations: [String] = []

    init(random: TrialRandom) {
        self.random = random
        current = Version(text: "", origin: 0, clock: 0)
        devices = []
        let lines = (0..<self.random.number(2...6)).map { _ in words(1...4) }
        current = Version(text: lines.joined(separator: "\n"), origin: 0, clock: 0)
        devices = Array(repeating: Device(lines: lines, base: current), count: 4)
        for _ in 0..<self.random.number(10...39) {
            let device = self.random.number(below: devices.count)
            for _ in 0..<self.random.one(of: [1, 1, 2, 3]) { edit(device) }
            if self.random.happens(50) { push(device) }
        }
        for _ in 0..<2 { for device in devices.indices { push(device) } }
        check()
    }

    private mutating func words(_ count: ClosedRange<Int>) -> String {
        (0..<random.number(count)).map { _ in
            written += 1
            return "w\(written)"
        }.joined(separator: " ")
    }

    private mutating func edit(_ device: Int) {
        var lines = devices[device].lines
        let index = random.number(below: lines.count)
        switch random.number(below: 100) {
        case 0..<50:
            let line = words(1...3)
            lines.insert(line, at: random.number(0...lines.count))
            inserted.insert(line)
        case 50..<60: lines.insert("", at: random.number(0...lines.count))
        case 60..<75 where lines.count > 2:
            let line = lines.remove(at: index)
            removed.insert(line)
            deletedWords.formUnion(line.split(separator: " ").map(String.init))
        default:
            guard !lines[index].isEmpty else { return }
            removed.insert(lines[index])
            lines[index] = random.happens(60) ? "\(lines[index]) \(words(1...1))" : "\(words(1...1)) \(lines[index])"
            inserted.insert(lines[index])
        }
        devices[device].lines = lines
        devices[device].isDirty = true
    }

    private mutating func push(_ device: Int) {
        if devices[device].isDirty {
            clock += 1
            let base = devices[device].base
            let incoming = Version(text: devices[device].lines.joined(separator: "\n"), origin: clock, clock: clock)
            if base.clock == current.clock {
                current = incoming
            } else {
                merges += 1
                let isNewer = (current.origin, current.clock) < (incoming.origin, incoming.clock)
                let (older, newer) = isNewer ? (current, incoming) : (incoming, current)
                let outcome = TextMerge.outcome(base: base.text, older: older.text, newer: newer.text)
                for superseded in outcome.superseded {
                    violations.append("superseded: \(superseded.text.debugDescription)")
                }
                if doubled == nil, TrialText(outcome.text).counts.contains(where: { $0.value > 1 }) {
                    let triple = Triple(base: base.text, older: older.text, newer: newer.text)
                    doubled = "\(triple)\n    merged \(outcome.text.debugDescription)"
                }
                clock += 1
                current = Version(text: outcome.text, origin: max(older.origin, newer.origin), clock: clock)
            }
        }
        let lines = current.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        devices[device] = Device(lines: lines, base: current)
    }

    private mutating func check() {
        let lines = Set(current.text.split(separator: "\n").map(String.init))
        let text = TrialText(current.text)
        for line in inserted where !lines.contains(line) {
            for word in line.split(separator: " ").map(String.init)
            where text.count(word) == 0 && !deletedWords.contains(word) {
                violations.append("lost: \(word) of \(line.debugDescription)")
            }
        }
        for line in removed where lines.contains(line) { violations.append("returned: \(line.debugDescription)") }
        for run in text.runs where TrialText.word(run) != run { violations.append("joined: \(run)") }
    }
}

/// Runs random histories of devices.
enum LifeTrials {
    static func run(lives: Int, seed: UInt64) async -> Bool {
        print("lives: seed \(seed), \(lives) lives")
        typealias Part = (merges: Int, violations: [(trial: Int, all: [String])], doubled: [(trial: Int, text: String)])
        let parts = await withTaskGroup(of: Part.self) { group in
            for part in 0..<2 {
                group.addTask {
                    var found: Part = (0, [], [])
                    for trial in stride(from: part, to: lives, by: 2) {
                        let life = Life(random: TrialRandom(seed: seed, trial: trial))
                        found.merges += life.merges
                        if let doubled = life.doubled { found.doubled.append((trial, doubled)) }
                        if !life.violations.isEmpty { found.violations.append((trial, life.violations)) }
                    }
                    return found
                }
            }
            return await group.reduce(into: [Part]()) { $0.append($1) }
        }
        let violations = parts.flatMap(\.violations).sorted { $0.trial < $1.trial }
        for (trial, all) in violations.prefix(20) {
            print("life \(trial):")
            for violation in all { print("    \(violation)") }
        }
        let doubled = parts.flatMap(\.doubled).sorted { $0.trial < $1.trial }
        for (trial, text) in doubled { print("a word twice in life \(trial):\n\(text)") }
        let merges = parts.reduce(0) { $0 + $1.merges }
        print(
            """
            lives: \(lives), merges: \(merges), lives with lost or returned lines: \(violations.count), \
            with a word twice: \(doubled.count)
            """)
        return violations.isEmpty && doubled.count * 1_000 <= max(merges, 1_000)
    }
}
