/// Shows the progress of a long operation on stderr: a bar on a terminal, otherwise a few lines.
struct ProgressBar {
    private let total: Int
    private let label: String
    private let isTerminal: Bool
    private let write: (String) -> Void
    private var done = 0
    /// The value of `done` when the progress was most recently shown.
    private var shown = 0
    private var shownAt = ContinuousClock.now

    private static let width = 40
    private static let pause = Duration.milliseconds(100)
    /// The maximum number of lines that are printed if stderr is not a terminal.
    private static let lines = 10

    /// - Parameter label: the unit and the operation, such as `files imported`.
    init(
        total: Int, label: String, isTerminal: Bool = Terminal.showsProgress,
        write: @escaping (String) -> Void = { Terminal.write($0, to: .standardError) }
    ) {
        self.total = total
        self.label = label
        self.isTerminal = isTerminal
        self.write = write
    }

    mutating func advance(by count: Int = 1) {
        done = min(done + count, total)
        if isTerminal {
            guard done == total || ContinuousClock.now - shownAt >= ProgressBar.pause else { return }
            let filled = total == 0 ? ProgressBar.width : done * ProgressBar.width / total
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: ProgressBar.width - filled)
            write("\r[\(bar)] \(done) of \(total) \(label)")
        } else {
            // For an operation with few steps, no progress is printed.
            let step = max(total / ProgressBar.lines, 500)
            guard done - shown >= step else { return }
            write("\(done) of \(total) \(label)\n")
        }
        shown = done
        shownAt = .now
    }

    /// Clears the line on a terminal, so that other output can be printed.
    mutating func clear() {
        if isTerminal, shown > 0 { write("\r\u{1b}[K") }
    }

    mutating func end() {
        if isTerminal, shown > 0 { write("\n") }
    }
}
