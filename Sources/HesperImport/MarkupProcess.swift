import Foundation
import HesperMoveIn

/// Runs the parser of HTML and ENEX in a process of its own, as `hesper parse-markup`.
public struct MarkupProcess: MarkupRunner {
    /// The name of the command.
    public static let command = "parse-markup"
    /// The interval at which this type checks whether the process has ended, in microseconds.
    private static let interval: useconds_t = 10_000

    public init() {}

    public func run(_ task: MarkupTask, to output: FileHandle) throws -> String? {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [MarkupProcess.command, task.work, "\(task.start)"]
        // With this environment variable, all threads share one arena of malloc. Otherwise malloc reserves memory for each thread,
        // which counts against the memory limit of the process. The parser needs no other environment variables.
        process.environment = ["MALLOC_ARENA_MAX": "1"]
        process.currentDirectoryURL = URL(filePath: "/")
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        do {
            while process.isRunning {
                // The parser may run for minutes. If the task was cancelled, for example because the server shuts down, this check
                // throws, and the parser is terminated.
                try task.check()
                usleep(MarkupProcess.interval)
            }
        } catch {
            process.terminate()
            process.waitUntilExit()
            throw error
        }
        process.waitUntilExit()
        switch process.terminationReason {
        case .exit where process.terminationStatus == 0: return nil
        case .exit: return "The parser failed with status \(process.terminationStatus)."
        default:
            return
                "The parser was stopped by signal \(process.terminationStatus). It may have exceeded its memory or time limit."
        }
    }
}
