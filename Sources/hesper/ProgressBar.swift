/// How far a long piece of work is, on stderr: a bar that is written over on a terminal, now and then a line elsewhere.
struct ProgressBar {
    private let total: Int
    private let what: String
    private let isTerminal: Bool
    private let write: (String) -> Void
    private var done = 0
    /// What was done when it was last shown.
    private var shown = 0
    private var shownAt = ContinuousClock.now

    private static let width = 40
    private static let pause = Duration.milliseconds(100)
    /// Lines in all where there is no terminal.
    private static let lines = 10

    /// - Parameter what: what is counted, and what became of it: `files imported`.
    init(
        total: Int, what: String, isTerminal: Bool = Terminal.showsProgress,
        write: @escaping (String) -> Void = { Terminal.write($0, to: .standardError) }
    ) {
        self.total = total
        self.what = what
        self.isTerminal = isTerminal
        self.write = write
    }

    mutating func advance(by count: Int = 1) {
        done = min(done + count, total)
        if isTerminal {
            guard done == total || ContinuousClock.now - shownAt >= ProgressBar.pause else { return }
            let filled = total == 0 ? ProgressBar.width : done * ProgressBar.width / total
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: ProgressBar.width - filled)
            write("\r[\(bar)] \(done) of \(total) \(what)")
        } else {
            // A handful of objects needs no report of its progress.
            let step = max(total / ProgressBar.lines, 500)
            guard done - shown >= step else { return }
            write("\(done) of \(total) \(what)\n")
        }
        shown = done
        shownAt = .now
    }

    /// Makes room for a line of another kind.
    mutating func clear() {
        if isTerminal, shown > 0 { write("\r\u{1b}[K") }
    }

    mutating func end() {
        if isTerminal, shown > 0 { write("\n") }
    }
}
