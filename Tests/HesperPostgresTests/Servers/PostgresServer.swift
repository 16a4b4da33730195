import Foundation
import NIOConcurrencyHelpers

@testable import HesperPostgres

/// A real server, in a folder of its own below `.build`. It ends with the tests' process, however that ends.
final class PostgresServer: Sendable {
    let port: Int
    let folder: URL
    private let process: Process
    private let input = Pipe()
    private let output = Pipe()
    private let names = NIOLockedValueBox(0)

    static let password = "a secret of tests"
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    /// Debian has no server's program on the PATH.
    private static let programs: String? = {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        return versions.compactMap(Int.init).sorted().reversed().map { "/usr/lib/postgresql/\($0)/bin" }
            .first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }()
    static let isInstalled = programs != nil
    static let absence = "PostgreSQL is not installed: Tools/set-up.sh test"

    struct Failure: Error { let what: String, log: String }

    /// One for all tests that leave it as it is, started for the first who asks.
    static var running: PostgresServer { get async throws { try await server.value } }
    private static let server = Task { try await PostgresServer() }
    /// What must be held for a server to live until the process ends.
    private static let lives = NIOLockedValueBox<[PostgresServer]>([])

    /// In a folder of its own, which is not only for us: as root the server runs as another user.
    /// - Parameter settings: lines of `postgresql.conf`.
    init(settings: [String] = []) async throws {
        // A write to a script that has ended is an error of one test, not the end of all.
        signal(SIGPIPE, SIG_IGN)
        folder = PostgresServer.root.appending(path: ".build/postgres/\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(settings.map { $0 + "\n" }.joined().utf8).write(to: folder.appending(path: "settings"))
        port = try Loopback.freePort()
        process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.currentDirectoryURL = folder
        process.arguments = [
            URL(filePath: #filePath).deletingLastPathComponent().appending(path: "postgres.sh").path,
            PostgresServer.programs ?? "", "\(port)", PostgresServer.password,
        ]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        guard try await answer() == "ok" else { throw failure("start") }
        PostgresServer.lives.withLockedValue { $0.append(self) }
    }

    /// Does something with `pg_ctl`, one thing at a time: `restart -m immediate`, `stop -m fast`, `start`, `promote`.
    func control(_ command: String) async throws {
        try input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
        guard try await answer() == "ok" else { throw failure(command) }
    }

    /// The next line that the script says.
    private func answer() async throws -> String {
        try await onThread { [output] in
            let data = output.fileHandleForReading.availableData
            return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
        }
    }

    private func failure(_ what: String) -> Failure {
        let logs = ["log", "data/log"].compactMap {
            try? String(contentsOf: folder.appending(path: $0), encoding: .utf8).suffix(2_000)
        }
        return Failure(what: what, log: logs.joined(separator: "\n"))
    }

    /// A connection string for one of its databases.
    func string(_ database: String = "postgres", more: String = "sslmode=disable") -> String {
        "host=127.0.0.1 port=\(port) user=hesper password='\(PostgresServer.password)' dbname=\(database) gssencmode=disable \(more)"
    }

    /// An empty database, or a copy of another that nobody is connected to; gone when nobody has it any more.
    func database(from template: String = "template0") async throws -> Database {
        let name = names.withLockedValue { number in
            number += 1
            return "test\(number)"
        }
        try await administer("CREATE DATABASE \(name) TEMPLATE \(template)")
        return Database(server: self, name: name)
    }

    final class Database: Sendable {
        let server: PostgresServer
        let name: String

        fileprivate init(server: PostgresServer, name: String) {
            self.server = server
            self.name = name
        }

        var settings: PostgresSettings { PostgresSettings(server.string(name)) }

        deinit {
            Task { [server, name] in try await server.administer("DROP DATABASE \(name) WITH (FORCE)") }
        }
    }

    /// Does one statement as the server's owner, on a thread that may wait.
    func administer(_ sql: String) async throws {
        let settings = PostgresSettings(string())
        try await onThread { try Connection(settings).execute(script: sql) }
    }
}
