import Foundation
import NIOConcurrencyHelpers
import NIOPosix

/// The operator's command that reads a message from standard input and finds the recipient in it, as `sendmail -t -i` does.
///
///     try await MailCommand("/usr/sbin/sendmail -t -i")?.send(message.text, within: .seconds(20))
public struct MailCommand: Sendable, Equatable {
    public let program: String
    public let arguments: [String]

    /// Splits the command at spaces. There is no shell: no quotes, variables or second command.
    /// Nil unless the first word is an absolute path.
    public init?(_ text: String) {
        let words = text.split { $0 == " " || $0 == "\t" }.map(String.init)
        guard let program = words.first, program.hasPrefix("/") else { return nil }
        self.program = program
        arguments = Array(words.dropFirst())
    }

    /// Whether the program exists and this process may execute it.
    public var isThere: Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: program, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: program)
    }

    /// Runs the command once. Its output is discarded, because it may contain the address.
    /// - Parameter limit: the timeout. After it, or when the task is cancelled, the command's process group is killed.
    /// - Throws: ``MailFailure``
    func send(_ message: String, within limit: Duration) async throws {
        guard message.utf8.count <= MailMessage.bytes else { throw MailFailure.tooLong(bytes: message.utf8.count) }
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.environment = MailCommand.withoutSecrets(ProcessInfo.processInfo.environment)
        process.currentDirectoryURL = URL(filePath: "/")
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.terminationHandler = { process in
            if let status = MailCommand.status(of: process) { end.yield(status) }
            end.finish()
        }
        do {
            try await NIOThreadPool.singleton.runIfActive { try MailCommand.start(process, message) }
        } catch {
            throw MailFailure.cannotStart(error.localizedDescription)
        }
        let received = await MailCommand.first(of: ends, within: limit)
        // On a busy machine, the notification of its end may be late.
        guard let status = received ?? MailCommand.status(of: process) else {
            // Not waited for: a process that cannot be killed, such as one that waits for a disk, must not block.
            kill(-process.processIdentifier, SIGKILL)
            throw MailFailure.timedOut
        }
        guard status == 0 else { throw MailFailure.failed(status) }
    }

    /// The exit status, or the negated number of a signal; nil while the process runs.
    private static func status(of process: Process) -> Int32? {
        guard !process.isRunning else { return nil }
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    /// Starts one process at a time: another process must not inherit the pipe, which would keep its input open.
    private static let starting = NIOLock()

    private static func start(_ process: Process, _ message: String) throws {
        try starting.withLock {
            let input = Pipe()
            process.standardInput = input
            // The process does not run yet, and the message fits into the pipe, so this neither fails nor blocks.
            try input.fileHandleForWriting.write(contentsOf: Data(message.utf8))
            try process.run()
            try input.fileHandleForWriting.close()
        }
    }

    /// The environment without variables that may contain secrets, such as database URLs and access keys.
    static func withoutSecrets(_ environment: [String: String]) -> [String: String] {
        environment.filter { name, _ in !["HESPER_", "AWS_", "PG"].contains(where: name.hasPrefix) }
    }

    private static func first(of ends: AsyncStream<Int32>, within limit: Duration) async -> Int32? {
        await withTaskGroup(of: Int32?.self) { group in
            group.addTask { await ends.first { _ in true } }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }
}

/// Why an e-mail was not accepted by the command. Contains neither text of the e-mail nor output of the command.
enum MailFailure: Error, Equatable, CustomStringConvertible {
    case cannotStart(String)
    case timedOut
    /// The exit status, or the negated number of a signal.
    case failed(Int32)
    case tooLong(bytes: Int)

    var description: String {
        switch self {
        case .cannotStart(let why): "the command cannot be started: \(why)"
        case .timedOut: "the command timed out and was killed"
        case .failed(let status) where status < 0: "the command was terminated by signal \(-status)"
        case .failed(let status): "the command exited with status \(status)"
        case .tooLong(let bytes): "the message is too long: \(bytes) bytes"
        }
    }
}
