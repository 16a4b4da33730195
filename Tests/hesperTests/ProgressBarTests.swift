import Synchronization
import Testing

@testable import hesper

/// A bar on a terminal, and a few lines elsewhere.
@Suite struct ProgressBarTests {
    private func shown(total: Int, step: Int, isTerminal: Bool) -> String {
        let text = Mutex("")
        var bar = ProgressBar(total: total, label: "files", isTerminal: isTerminal) { part in
            text.withLock { $0 += part }
        }
        for _ in stride(from: 0, to: total, by: step) { bar.advance(by: step) }
        bar.end()
        return text.withLock { $0 }
    }

    @Test func terminalShowsAFullBarAtTheEnd() {
        let text = shown(total: 40, step: 7, isTerminal: true)
        #expect(text.hasSuffix("\r[########################################] 40 of 40 files\n"))
    }

    @Test func fewLinesWithoutATerminal() {
        let lines = shown(total: 54_000, step: 500, isTerminal: false).split(separator: "\n")
        #expect(lines.count == 9 || lines.count == 10)
        #expect(lines.first == "5500 of 54000 files")
    }

    @Test func shortOperationPrintsNothing() { #expect(shown(total: 499, step: 10, isTerminal: false) == "") }
    @Test func emptyOperationPrintsNothing() { #expect(shown(total: 0, step: 1, isTerminal: true) == "") }
}
