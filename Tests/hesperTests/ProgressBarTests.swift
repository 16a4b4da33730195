import Synchronization
import Testing

@testable import hesper

/// A bar that is written over on a terminal, a line now and then elsewhere.
@Suite struct ProgressBarTests {
    private func shown(total: Int, step: Int, isTerminal: Bool) -> String {
        let text = Mutex("")
        var bar = ProgressBar(total: total, what: "files", isTerminal: isTerminal) { part in
            text.withLock { $0 += part }
        }
        for _ in stride(from: 0, to: total, by: step) { bar.advance(by: step) }
        bar.end()
        return text.withLock { $0 }
    }

    @Test func aTerminalShowsAFullBarAtTheEnd() {
        let text = shown(total: 40, step: 7, isTerminal: true)
        #expect(text.hasSuffix("\r[########################################] 40 of 40 files\n"))
    }

    @Test func elsewhereLinesAreFew() {
        let lines = shown(total: 54_000, step: 500, isTerminal: false).split(separator: "\n")
        #expect(lines.count == 9 || lines.count == 10)
        #expect(lines.first == "5500 of 54000 files")
    }

    @Test func aHandfulIsNotWorthALine() { #expect(shown(total: 499, step: 10, isTerminal: false) == "") }
    @Test func nothingIsNothing() { #expect(shown(total: 0, step: 1, isTerminal: true) == "") }
}
