import ArgumentParser
import Foundation
import HesperMoveIn

/// Runs the parser of HTML and ENEX in a process of its own, as `hesper parse-markup`.
struct MarkupProcess: MarkupRunner {
    func run(_ task: MarkupTask, to output: FileHandle) throws -> String? {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [ParseMarkup.name, task.work, "\(task.start)"]
        // With this environment variable, all threads share one arena of malloc. Otherwise malloc reserves memory for each thread,
        // which counts against the limit. The parser needs no other environment variables.
        process.environment = ["MALLOC_ARENA_MAX": "1"]
        process.currentDirectoryURL = URL(filePath: "/")
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        switch process.terminationReason {
        case .exit where process.terminationStatus == 0: return nil
        case .exit: return "The parser failed with status \(process.terminationStatus)."
        default:
            return
                "The parser needs more memory or time than it may use, or failed (signal \(process.terminationStatus))."
        }
    }
}

/// The command `hesper parse-markup WORK START`, which imports run. It is not shown in the help.
struct ParseMarkup: ParsableCommand {
    static let name = "parse-markup"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Parse the HTML and ENEX files of an import.", shouldDisplay: false)

    @Argument var work: String
    @Argument var start: Int

    /// The maximum size of the address space in bytes.
    private static let memory: rlim_t = 512 << 20
    /// The maximum time of computing in seconds. libxml2 takes quadratic time for elements with very many attributes.
    private static let seconds: rlim_t = 900

    func run() throws {
        for (kind, value) in [(RLIMIT_AS, ParseMarkup.memory), (RLIMIT_CPU, ParseMarkup.seconds)] {
            var limit = rlimit(rlim_cur: value, rlim_max: value)
            guard setrlimit(kind.kind, &limit) == 0 else {
                throw Failure("The parser cannot be limited: \(String(cString: strerror(errno))).")
            }
        }
        try MarkupTask(work: work, start: start).run(to: .standardOutput)
    }
}
