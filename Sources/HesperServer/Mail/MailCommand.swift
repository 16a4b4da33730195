import Foundation
import NIOConcurrencyHelpers
import NIOPosix

/// The operator's command that takes a message on its standard input and finds the recipient in it, as `sendmail -t -i` does.
///
///     try await MailCommand("/usr/sbin/sendmail -t -i")?.send(message.text, within: .seconds(20))
public struct MailCommand: Sendable, Equatable {
    public let program: String
    public let arguments: [String]

    /// Words between spaces, and no shell: there are no quotes, no variables and no second command.
    /// Nil unless the first is the whole path of a program.
    public init?(_ text: String) {
        let words = text.split { $0 == " " || $0 == "\t" }.map(String.init)
        guard let program = words.first, program.hasPrefix("/") else { return nil }
        self.program = program
        arguments = Array(words.dropFirst())
    }

    /// Whether there is such a program, and this process may run it.
    public var isThere: Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: program, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: program)
    }

    /// Runs it once. What it writes goes nowhere: it may name the address.
    /// - Parameter limit: how long it may take; then, or when the task is cancelled, it is killed, with whatever it has started in
    ///   its process group.
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
        let told = await MailCommand.first(of: ends, within: limit)
        // On a busy machine its end may be heard of late.
        guard let status = told ?? MailCommand.status(of: process) else {
            // Nobody waits for its end: what cannot be killed, as it waits for a disk, holds up nothing.
            kill(-process.processIdentifier, SIGKILL)
            throw MailFailure.tookTooLong
        }
        guard status == 0 else { throw MailFailure.failed(status) }
    }

    /// How it has ended; nil while it runs.
    private static func status(of process: Process) -> Int32? {
        guard !process.isRunning else { return nil }
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    /// One after the other: what one process starts with must not be inherited by another, which would hold its input open.
    private static let starting = NIOLock()

    private static func start(_ process: Process, _ message: String) throws {
        try starting.withLock {
            let input = Pipe()
            process.standardInput = input
            // There is nobody yet who could go away, and there is room: nothing waits here.
            try input.fileHandleForWriting.write(contentsOf: Data(message.utf8))
            try process.run()
            try input.fileHandleForWriting.close()
        }
    }

    /// What the command need not know of our environment: addresses of databases, keys of buckets.
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

/// Why a letter was not handed over. No word of it, nor of what the command said, is in here.
enum MailFailure: Error, Equatable, CustomStringConvertible {
    case cannotStart(String)
    case tookTooLong
    /// Its exit status; of a signal, the signal's number below zero.
    case failed(Int32)
    case tooLong(bytes: Int)

    var description: String {
        switch self {
        case .cannotStart(let why): "the command cannot be started: \(why)"
        case .tookTooLong: "the command took too long, and was killed"
        case .failed(let status) where status < 0: "the command was ended by signal \(-status)"
        case .failed(let status): "the command ended with status \(status)"
        case .tooLong(let bytes): "the message has \(bytes) bytes"
        }
    }
}
