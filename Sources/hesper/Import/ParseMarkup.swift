import ArgumentParser
import Foundation
import HesperImport
import HesperMoveIn

/// The command `hesper parse-markup WORK START`. An import runs it as a separate process. It is not shown in the help.
struct ParseMarkup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: MarkupProcess.command, abstract: "Parse the HTML and ENEX files of an import.",
        shouldDisplay: false)

    @Argument var work: String
    @Argument var start: Int

    /// The maximum size of the address space in bytes.
    private static let memory: rlim_t = 512 << 20
    /// The maximum processor time in seconds. libxml2 takes quadratic time for elements with very many attributes.
    private static let seconds: rlim_t = 900

    func run() throws {
        for (kind, value) in [(RLIMIT_AS, ParseMarkup.memory), (RLIMIT_CPU, ParseMarkup.seconds)] {
            var limit = rlimit(rlim_cur: value, rlim_max: value)
            guard setrlimit(kind.kind, &limit) == 0 else {
                throw Failure("Cannot set the parser's resource limits: \(String(cString: strerror(errno))).")
            }
        }
        try MarkupTask(work: work, start: start).run(to: .standardOutput)
    }
}
