import HesperModel

/// Merges random texts and checks the laws of merging.
enum LawTrials {
    /// The results of some trials.
    struct Tally: Sendable {
        var merges = 0
        var contests = 0
        /// For each law that was violated: the number of violations, and the smallest input.
        var violations: [String: (count: Int, trial: Int, triple: Triple, merged: String)] = [:]
        /// Merges in which a word occurs too often, for styles in which lines repeat or move.
        var tooOften: [(trial: Int, triple: Triple, merged: String)] = []

        mutating func add(_ law: String, trial: Int, _ triple: Triple, _ merged: String, count: Int = 1) {
            let known = violations[law]
            let isLess = known.map { triple.size < $0.triple.size } ?? true
            violations[law] =
                isLess
                ? (count + (known?.count ?? 0), trial, triple, merged)
                : known.map { ($0.count + count, $0.trial, $0.triple, $0.merged) }
        }

        mutating func add(_ other: Tally) {
            merges += other.merges
            contests += other.contests
            tooOften += other.tooOften
            for (law, found) in other.violations {
                add(law, trial: found.trial, found.triple, found.merged, count: found.count)
            }
        }
    }

    /// Runs the trials in two tasks. Returns whether all laws held.
    static func run(merges: Int, seed: UInt64) async -> Bool {
        print("laws: seed \(seed), \(merges) merges")
        let tally = await withTaskGroup(of: Tally.self) { group in
            for part in 0..<2 { group.addTask { trials(stride(from: part, to: merges, by: 2), seed: seed) } }
            return await group.reduce(into: Tally()) { $0.add($1) }
        }
        for found in tally.tooOften.sorted(by: { $0.trial < $1.trial }) {
            print(
                "\(Laws.tooOften), trial \(found.trial)\n\(found.triple)\n    merged \(found.merged.debugDescription)")
        }
        for (law, found) in tally.violations.sorted(by: { $0.key < $1.key }) {
            print("VIOLATED \(found.count) times: \(law); smallest input in trial \(found.trial)")
            print("\(found.triple)\n    merged \(found.merged.debugDescription)")
        }
        print(
            """
            laws: \(tally.merges) merges, \(tally.contests) with contests; violations: \
            \(tally.violations.values.reduce(0) { $0 + $1.count }); \
            merges with a word too often where lines repeat or move: \(tally.tooOften.count)
            """)
        return tally.violations.isEmpty && tally.tooOften.count * 1_000 <= max(merges, 1_000)
    }

    private static func trials(_ numbers: some Sequence<Int>, seed: UInt64) -> Tally {
        var tally = Tally()
        for trial in numbers {
            tally.merges += 1
            if trial % 8 == 7 {
                let lines = SeparateLines(random: TrialRandom(seed: seed, trial: trial))
                let merged = TextMerge.merge(
                    base: lines.triple.base, older: lines.triple.older, newer: lines.triple.newer)
                if !isSame(merged, lines.expected) {
                    tally.add("edits of separate lines compose exactly", trial: trial, lines.triple, merged)
                }
                continue
            }
            let style = TextStyle.all[trial % TextStyle.all.count]
            var editor = TrialEditor(random: TrialRandom(seed: seed, trial: trial), style: style)
            let triple = editor.triple()
            let laws = Laws(triple, style: style)
            if !laws.outcome.superseded.isEmpty { tally.contests += 1 }
            for law in laws.violations {
                if law == Laws.tooOften, style.isAmbiguous {
                    tally.tooOften.append((trial, triple, laws.outcome.text))
                } else {
                    tally.add(law, trial: trial, triple, laws.outcome.text)
                }
            }
        }
        return tally
    }
}

/// Texts of which each line is edited by at most one side, so that the expected merge is known.
struct SeparateLines {
    let triple: Triple
    let expected: String

    init(random: TrialRandom) {
        var editor = TrialEditor(random: random, style: TextStyle())
        var texts = (base: "", older: "", newer: "", expected: "")
        for _ in 0..<editor.random.number(1...8) {
            let words = editor.words(1...5)
            let line = words.joined(separator: " ") + "\n"
            let edited = Self.edited(words, &editor)
            let owner = editor.random.number(below: 4)
            texts.base += line
            texts.older += owner == 0 ? edited : line
            texts.newer += owner == 1 ? edited : line
            texts.expected += owner < 2 ? edited : line
        }
        triple = Triple(base: texts.base, older: texts.older, newer: texts.newer)
        expected = texts.expected
    }

    /// A line with a random edit: a word inserted, replaced or deleted, the line replaced or deleted, or a line added below.
    private static func edited(_ words: [String], _ editor: inout TrialEditor) -> String {
        var words = words
        let index = editor.random.number(below: words.count)
        switch editor.random.number(below: 6) {
        case 0: words.insert(editor.word(), at: index)
        case 1: words[index] = editor.word()
        case 2 where words.count > 1: words.remove(at: index)
        case 3: words = editor.words(1...5)
        case 4: return ""
        default: words.append(contentsOf: ["\n" + editor.word(), editor.word()])
        }
        return words.joined(separator: " ").replacing(" \n", with: "\n") + "\n"
    }
}
