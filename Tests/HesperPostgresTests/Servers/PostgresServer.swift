import Foundation
import NIOConcurrencyHelpers

@testable import HesperPostgres

/// A PostgreSQL server in its own folder below `.build`. It ends with the test process, however that ends.
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
    /// The folder of the server's programs, which Debian does not put on the PATH.
    private static let programs: String? = {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        return versions.compactMap(Int.init).sorted().reversed().map { "/usr/lib/postgresql/\($0)/bin" }
            .first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }()
    static let isInstalled = programs != nil
    static let absence = "PostgreSQL is not installed: Tools/set-up.sh test"

    struct Failure: Error { let what: String, log: String }

    /// The server shared by all tests that do not change its settings. It is started on first use.
    static var running: PostgresServer { get async throws { try await server.value } }
    private static let server = Task { try await PostgresServer() }
    /// Keeps the servers alive until the process ends.
    private static let lives = NIOLockedValueBox<[PostgresServer]>([])

    /// Starts a server. Its folder is readable by other users, because as root the server runs as another user.
    /// - Parameter settings: lines of `postgresql.conf`.
    init(settings: [String] = []) async throws {
        // Without this, a write to a script that has ended would end the test process.
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
        guard try await reply() == "ok" else { throw failure("start") }
        PostgresServer.lives.withLockedValue { $0.append(self) }
    }

    /// Runs a `pg_ctl` command; one at a time: `restart -m immediate`, `stop -m fast`, `start`, `promote`.
    func control(_ command: String) async throws {
        try input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
        guard try await reply() == "ok" else { throw failure(command) }
    }

    /// The next line of output of the script.
    private func reply() async throws -> String {
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

    /// Returns a connection string for a database.
    func string(_ database: String = "postgres", more: String = "sslmode=disable") -> String {
        "host=127.0.0.1 port=\(port) user=hesper password='\(PostgresServer.password)' dbname=\(database) gssencmode=disable \(more)"
    }

    /// Creates an empty database, or a copy of one without connections. It is dropped when it is released.
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

    /// Runs a statement as the server's owner, on a separate thread.
    func administer(_ sql: String) async throws {
        let settings = PostgresSettings(string())
        try await onThread { try Connection(settings).execute(script: sql) }
    }
}
