import Foundation
import NIOConcurrencyHelpers
import NIOPosix

/// The command with which the server sends e-mail, as configured by the operator. It reads a message from standard input and
/// takes the recipient from the headers of the message, as `sendmail -t -i` does.
///
///     try await MailCommand("/usr/sbin/sendmail -t -i")?.send(message.text, within: .seconds(20))
public struct MailCommand: Sendable, Equatable {
    public let program: String
    public let arguments: [String]

    /// Splits the command at spaces and tabs. No shell is involved, so quotes, variables and semicolons have no special meaning.
    /// Nil if the first word is not an absolute path.
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

    /// Runs the command with the message as its input. The output of the command is discarded, because it may contain the address
    /// of the recipient.
    /// - Parameter limit: the timeout. When it expires or the task is cancelled, the process group of the command is killed.
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
        // On a busy machine, the process may have ended in time although its notification arrives after the timeout. The status is
        // therefore read once more.
        guard let status = received ?? MailCommand.status(of: process) else {
            // This function does not wait until the killed process has ended, because that can take long, for example if the
            // process waits for a disk.
            kill(-process.processIdentifier, SIGKILL)
            throw MailFailure.timedOut
        }
        guard status == 0 else { throw MailFailure.failed(status) }
    }

    /// The exit status of the process, or the negated number of the signal that ended it. Nil while the process runs.
    private static func status(of process: Process) -> Int32? {
        guard !process.isRunning else { return nil }
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    /// A lock that is held while a process is started. Without it, a second process that is started at the same time could inherit
    /// the writing end of the first process's pipe. The first process would then wait for more input until the second process ends.
    private static let starting = NIOLock()

    private static func start(_ process: Process, _ message: String) throws {
        try starting.withLock {
            let input = Pipe()
            process.standardInput = input
            // The write cannot block, because the message fits into the pipe. It cannot fail, because the reading end of the pipe
            // is open until the process has been started.
            try input.fileHandleForWriting.write(contentsOf: Data(message.utf8))
            try process.run()
            try input.fileHandleForWriting.close()
        }
    }

    /// Removes the variables that may contain secrets, such as database URLs and access keys.
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

/// The reason why the mail command did not accept an e-mail. It contains neither text of the e-mail nor output of the command.
enum MailFailure: Error, Equatable, CustomStringConvertible {
    case cannotStart(String)
    case timedOut
    /// The exit status of the command, or the negated number of the signal that ended it.
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
