import Foundation
import Testing

@testable import HesperModel

/// The server's bag of one text, with a simplified base rule (merge.md, Text).
private struct TraceServer {
    struct Version {
        let text: String
        let clock: Int
        let node: Int
        /// The origin: the greatest clock of a device among the texts that it was made from.
        let deviceClock: Int
    }

    var bag: [Version] = []
    var merges = 0
    /// Words of one device that were replaced by the other's in a merge. They are in the bag.
    var superseded: [String] = []

    /// Words in a merge result that none of its three texts contains.
    var foreign: [String] = []

    /// The words between blanks, without trailing punctuation.
    static func words(_ text: String) -> Set<String> {
        let words = text.utf8.split(whereSeparator: { $0 <= 0x20 }).map { word in
            var word = word
            while let last = word.last, ".,;:!?)\"'".utf8.contains(last) { word.removeLast() }
            return String(decoding: word, as: UTF8.self)
        }
        return Set(words).subtracting([""])
    }

    mutating func push(_ text: String, clock: Int, node: Int, textBase: Int) -> Version {
        let incoming = Version(text: text, clock: clock, node: node, deviceClock: clock)
        guard let current = bag.max(by: { $0.clock < $1.clock }) else {
            bag.append(incoming)
            return incoming
        }
        let own = bag.filter { $0.node == node && $0.clock < clock }.map(\.clock).max() ?? 0
        let base = bag.first { $0.clock == max(textBase, own) }
        bag.append(incoming)
        // Different from all clocks of devices, which have remainder 0 or 1 when divided by 4.
        let serverClock = (max(current.clock, clock) / 4 + 1) * 4 + 2
        if base?.clock == current.clock {
            if clock > current.clock { return incoming }
            bag.append(Version(text: text, clock: serverClock, node: -1, deviceClock: clock))
            return bag[bag.count - 1]
        }
        guard let base else { return clock > current.clock ? incoming : current }
        let isNewer = clock > current.deviceClock
        merges += 1
        let merged = TextMerge.merge(
            base: base.text, older: isNewer ? current.text : text, newer: isNewer ? text : current.text)
        let known = Self.words(base.text)
        let (one, other, both) = (Self.words(current.text), Self.words(text), Self.words(merged))
        superseded += one.union(other).subtracting(known).subtracting(both)
        foreign += both.subtracting(one).subtracting(other).subtracting(known)
        bag.append(
            Version(text: merged, clock: serverClock, node: -1, deviceClock: max(clock, current.deviceClock)))
        return bag[bag.count - 1]
    }
}

/// A text split after its line breaks.
private struct TraceParagraphs {
    let scalars: [Int32]
    let all: [ArraySlice<Int32>]

    init(_ scalars: [Int32]) {
        self.scalars = scalars
        var all: [ArraySlice<Int32>] = []
        var start = 0
        for index in scalars.indices where scalars[index] == 10 {
            all.append(scalars[start...index])
            start = index + 1
        }
        all.append(scalars[start...])
        self.all = all
    }

    /// The scalars of consecutive paragraphs.
    func slice(_ range: Range<Int>) -> ArraySlice<Int32> {
        let start = range.lowerBound < all.count ? all[range.lowerBound].startIndex : scalars.count
        let end = range.isEmpty ? start : all[range.upperBound - 1].endIndex
        return scalars[start..<end]
    }
}

/// A device on which one person types.
private struct TraceDevice {
    let node: Int
    var view = TraceView()
    /// How many transactions of the other person are in the view.
    var seen = 0
    var text: [Unicode.Scalar] = []
    var clock = 0
    var textBase = 0
    /// The pushed text without a response so far, and the number of edits until the response arrives.
    var pending: (pushed: [Unicode.Scalar], response: TraceServer.Version?, edits: Int)?
    var nextPush = 20
    /// Words typed during a push that were lost when its response was merged.
    var lost: [String] = []

    /// The differences between the view and the text, in scalars; nil if they must be computed again.
    var differences: [TextHunk]?

    /// Applies what the other person had typed by then in the recording.
    mutating func applyRemote(_ step: TraceView.Step) {
        view.apply(step)
        differences = nil
    }

    /// Types what the recorded person typed, at the same place of a text that may differ from the recorded one.
    mutating func type(_ patch: EditingTrace.Patch, nextID: inout Int) -> [TraceView.Step] {
        let hunks = differences ?? computeDifferences()
        let end = patch.position + patch.deleted
        let start = position(before: patch.position, hunks)
        // Text that the other person inserted between two deleted scalars is not deleted.
        for index in (patch.position..<end).reversed() {
            if let position = position(of: index, hunks) { text.remove(at: position) }
        }
        text.insert(contentsOf: patch.inserted.unicodeScalars, at: min(start, text.count))
        let growth = patch.inserted.unicodeScalars.count - patch.deleted
        let isInside = hunks.contains { $0.base.lowerBound < end && patch.position <= $0.base.upperBound }
        differences =
            isInside
            ? nil
            : hunks.map { hunk in
                guard hunk.base.lowerBound >= end else { return hunk }
                return TextHunk(
                    base: (hunk.base.lowerBound + growth)..<(hunk.base.upperBound + growth),
                    side: (hunk.side.lowerBound + growth)..<(hunk.side.upperBound + growth))
            }
        return view.apply(patch, nextID: &nextID)
    }

    /// Compares paragraphs first, then the scalars in differing paragraphs: comparing all scalars would take minutes.
    private func computeDifferences() -> [TextHunk] {
        let recorded = TraceParagraphs(view.numbers)
        let mine = TraceParagraphs(text.map { Int32(truncatingIfNeeded: $0.value) })
        var numbers: [ArraySlice<Int32>: Int32] = [:]
        func numbered(_ paragraphs: TraceParagraphs) -> [Int32] {
            paragraphs.all.map { paragraph in
                let next = Int32(truncatingIfNeeded: numbers.count)
                if let number = numbers[paragraph] { return number }
                numbers[paragraph] = next
                return next
            }
        }
        let (one, other) = (numbered(recorded), numbered(mine))
        var budget = TextBudget(tokens: recorded.scalars.count + mine.scalars.count)
        return TextDiff(one[...], other[...], budget: &budget).hunks.flatMap { hunk in
            TextDiff(recorded.slice(hunk.base), mine.slice(hunk.side), budget: &budget).hunks
        }
    }

    /// The position in the text of a scalar of the view; nil if the text does not contain it.
    private func position(of index: Int, _ hunks: [TextHunk]) -> Int? {
        var shift = 0
        for hunk in hunks where hunk.base.lowerBound <= index {
            if hunk.base.upperBound > index { return nil }
            shift = hunk.side.upperBound - hunk.base.upperBound
        }
        return index + shift
    }

    /// The position in the text for an insertion at a position of the view: after its left neighbour.
    private func position(before position: Int, _ hunks: [TextHunk]) -> Int {
        if position == 0 { return 0 }
        if let left = self.position(of: position - 1, hunks) { return left + 1 }
        guard let hunk = hunks.last(where: { $0.base.lowerBound < position }) else { return 0 }
        return hunk.side.lowerBound + min(position - hunk.base.lowerBound, hunk.side.count)
    }

    mutating func push(to server: inout TraceServer, responseIsLost: Bool, delay: Int) {
        clock = (max(clock, textBase) / 4 + 1) * 4 + node
        let version = server.push(TraceDevice.string(text), clock: clock, node: node, textBase: textBase)
        pending = (text, responseIsLost ? nil : version, delay)
    }

    mutating func receive() {
        guard let pending else { return }
        self.pending = nil
        guard let response = pending.response else { return }
        let merged = TextMerge.merge(
            base: TraceDevice.string(pending.pushed), older: response.text, newer: TraceDevice.string(text))
        let typed = TraceServer.words(TraceDevice.string(text))
            .subtracting(TraceServer.words(TraceDevice.string(pending.pushed)))
        lost += typed.subtracting(TraceServer.words(merged))
        text = Array(merged.unicodeScalars)
        differences = nil
        textBase = response.clock
    }

    static func string(_ scalars: [Unicode.Scalar]) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }
}

@Suite("A recorded session of two people, replayed through the merge")
struct EditingTraceTests {
    /// The number of transactions to replay. All of them take minutes in a debug build.
    static let transactions = 8_000

    @Test(
        "Both end with the same text, with no typed words missing or duplicated",
        arguments: isEverything ? [UInt64(1), 2] : [1])
    func friends(seed: UInt64) throws {
        guard let trace = try EditingTrace.read("friendsforever") else {
            print("skipped: ../shared/data/editing-traces does not exist (set HESPER_SHARED to use another folder)")
            return
        }
        var random = SeededGenerator(seed: seed)
        var server = TraceServer()
        var devices = [TraceDevice(node: 0), TraceDevice(node: 1)]
        var steps: [(agent: Int, steps: [TraceView.Step])] = []
        var nextID = 0

        for transaction in trace.txns.prefix(Self.transactions) {
            let agent = transaction.agent
            if let last = transaction.parents.filter({ trace.txns[$0].agent != agent }).max(),
                last >= devices[agent].seen
            {
                for other in steps[devices[agent].seen...last] where other.agent != agent {
                    for step in other.steps { devices[agent].applyRemote(step) }
                }
                devices[agent].seen = last + 1
            }
            var done: [TraceView.Step] = []
            for patch in transaction.patches {
                done += devices[agent].type(patch, nextID: &nextID)
            }
            steps.append((agent, done))
            exchange(&devices[agent], &server, &random)
        }
        for _ in 0..<3 {
            for index in devices.indices {
                devices[index].receive()
                devices[index].push(to: &server, responseIsLost: false, delay: 0)
                devices[index].receive()
            }
        }
        let text = TraceDevice.string(devices[0].text)
        #expect(isSame(text, TraceDevice.string(devices[1].text)))
        #expect(server.merges > 50, "the session must contain concurrent edits")

        #expect(server.foreign == [], "words that neither person wrote")
        #expect(devices.flatMap(\.lost) == [], "words that were typed during a push and lost")

        // The recorded text with both people's typing. A few words differ where one corrected the other's words before they were
        // seen here.
        for other in steps[devices[0].seen...] where other.agent != 0 {
            for step in other.steps { devices[0].applyRemote(step) }
        }
        let recorded = TraceDevice.string(devices[0].view.numbers.compactMap { Unicode.Scalar(UInt32($0)) })
        if Self.transactions >= trace.txns.count { #expect(isSame(recorded, trace.endContent)) }
        let (counts, expected) = (Self.words(text), Self.words(recorded))
        let missing = expected.reduce(0) { $0 + max(0, $1.value - (counts[$1.key] ?? 0)) }
        let more = counts.reduce(0) { $0 + max(0, $1.value - (expected[$1.key] ?? 0)) }
        let all = expected.values.reduce(0, +)
        print(
            """
            seed \(seed): \(server.bag.count) versions, \(server.merges) merges, \(all) words, \(missing) of them \
            other than recorded (\(more) in their place), superseded: \(server.superseded)
            """)
        #expect(server.superseded.count <= all / 25)
        #expect(missing <= all / 20)
        #expect(more <= all / 20)
        let paragraphs = Self.paragraphs(recorded)
        for (paragraph, count) in Self.paragraphs(text) {
            #expect(count <= paragraphs[paragraph] ?? 1, "\(String(decoding: paragraph, as: UTF8.self))")
        }
        // No run of words is duplicated with one word changed.
        let runs = Self.runs(recorded)
        for (run, count) in Self.runs(text) {
            #expect(count <= runs[run] ?? 1, "\(run.joined(separator: " "))")
        }
    }

    /// Pushes occasionally. The response arrives some edits later, or never.
    private func exchange(_ device: inout TraceDevice, _ server: inout TraceServer, _ random: inout SeededGenerator) {
        if let pending = device.pending {
            device.pending?.edits -= 1
            if pending.edits <= 0 { device.receive() }
        }
        device.nextPush -= 1
        if device.nextPush <= 0, device.pending == nil {
            device.push(
                to: &server, responseIsLost: random.number(0..<5) == 0, delay: random.number(0..<10))
            device.nextPush = random.number(3..<60)
        }
    }

    private static func words(_ text: String) -> [String: Int] {
        text.split(whereSeparator: \.isWhitespace).reduce(into: [:]) { $0[String($1), default: 0] += 1 }
    }

    /// The number of occurrences of each line of three words or more.
    private static func paragraphs(_ text: String) -> [[UInt8]: Int] {
        text.split(whereSeparator: \.isNewline).filter { $0.split(separator: " ").count >= 3 }
            .reduce(into: [:]) { $0[Array($1.utf8), default: 0] += 1 }
    }

    /// The number of occurrences of each run of eight words, regardless of the text between the words.
    private static func runs(_ text: String) -> [ArraySlice<Substring>: Int] {
        let words = text.split(whereSeparator: \.isWhitespace)
        return words.indices.dropLast(7).reduce(into: [:]) { $0[words[$1..<($1 + 8)], default: 0] += 1 }
    }
}
