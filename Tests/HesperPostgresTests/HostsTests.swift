import Foundation
import HesperStore
import Testing

@testable import HesperPostgres

/// Connection strings with several hosts, and with certificates.
@Suite(.enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct HostsTests {
    private static func string(_ hosts: String, _ ports: [Int], more: String) -> String {
        "host=\(hosts) port=\(ports.map(String.init).joined(separator: ",")) user=hesper dbname=postgres "
            + "password='\(PostgresServer.password)' \(more)"
    }

    private static func port(_ string: String) async throws -> Int? {
        try await onThread {
            try Connection(PostgresSettings(string)).first("SELECT current_setting('port')") { Int($0.string(0)) }
                ?? nil
        }
    }

    @Test func aHostThatIsAwayIsPassedOver() async throws {
        let server = try await PostgresServer.running
        let string = HostsTests.string(
            "127.0.0.1,127.0.0.1", [try Loopback.freePort(), server.port], more: "sslmode=disable")
        #expect(try await HostsTests.port(string) == server.port)
    }

    @Test func aHostThatDoesNotAnswerIsPassedOver() async throws {
        let server = try await PostgresServer.running
        let (descriptor, port) = try Loopback.listen()
        let string = HostsTests.string(
            "127.0.0.1,127.0.0.1", [port, server.port], more: "sslmode=disable connect_timeout=2")
        let start = ContinuousClock.now
        #expect(try await HostsTests.port(string) == server.port)
        #expect((.seconds(1)...(.seconds(60))).contains(ContinuousClock.now - start))
        close(descriptor)
    }

    @Test func theHostThatTakesWritesIsFound() async throws {
        let server = try await PostgresServer.running
        let reader = try await PostgresServer(settings: ["default_transaction_read_only = on"])
        let string = HostsTests.string(
            "127.0.0.1,127.0.0.1", [reader.port, server.port], more: "sslmode=disable target_session_attrs=read-write")
        #expect(try await HostsTests.port(string) == server.port)
        let only = HostsTests.string(
            "127.0.0.1", [reader.port], more: "sslmode=disable target_session_attrs=read-write")
        let error = await #expect(throws: PostgresError.self) { try await HostsTests.port(only) }
        #expect(error?.message.contains("session is read-only") == true)
        // A server that no longer takes writes is as good as gone.
        let settings = PostgresSettings(reader.string(more: "sslmode=disable target_session_attrs=any"))
        let refusal = await #expect(throws: PostgresError.self) {
            try await onThread { try Connection(settings).run("CREATE TABLE t (id bigint)") }
        }
        #expect(refusal?.sqlState == "25006" && refusal?.isConnection == true)
    }

    @Test func ofSeveralHostsTheOneThatTakesWritesIsMeant() async throws {
        let server = try await PostgresServer.running
        let reader = try await PostgresServer(settings: ["default_transaction_read_only = on"])
        func string(_ more: String) -> String {
            HostsTests.string("127.0.0.1,127.0.0.1", [reader.port, server.port], more: "sslmode=disable \(more)")
        }
        #expect(try await HostsTests.port(string("")) == server.port)
        #expect(try await HostsTests.port(string("target_session_attrs=any")) == reader.port)
        let url = "postgresql://hesper@h1:1,h2:2/hesper"
        #expect(PostgresSettings(url).leavesServerOpen)
        #expect(PostgresSettings("hostaddr=127.0.0.1,127.0.0.2").leavesServerOpen)
        #expect(!PostgresSettings(url + "?target_session_attrs=any").leavesServerOpen)
    }

    /// One host may be a balancer's address, or a name that moves: what is behind it may be a standby, which lacks what was
    /// acknowledged until it is promoted.
    @Test func theOneHostIsToTakeWritesToo() async throws {
        let reader = try await PostgresServer(settings: ["default_transaction_read_only = on"])
        let string = HostsTests.string("127.0.0.1", [reader.port], more: "sslmode=disable")
        let pool = PostgresPool(PostgresSettings(string))
        let error = await #expect(throws: StoreError.self) { try await pool.run { _ in } }
        #expect(isUnavailable(error) && "\(error, default: "none")".contains("session is read-only"))
        await pool.close()
        #expect(try await HostsTests.port(string + " target_session_attrs=any") == reader.port)
        #expect(PostgresSettings("postgresql://hesper@h1:1/hesper").leavesServerOpen)
        #expect(!PostgresSettings("postgresql://hesper@h1/hesper?target_session_attrs=primary").leavesServerOpen)
    }

    /// A primary that its operator has taken out of office, without ending its connections.
    @Test func aServerThatTakesNoWritesAnyMoreIsLeft() async throws {
        let (server, former) = (try await PostgresServer.running, try await PostgresServer())
        let pool = PostgresPool(
            PostgresSettings(
                HostsTests.string("127.0.0.1,127.0.0.1", [former.port, server.port], more: "sslmode=disable")))
        @Sendable func port() async throws -> Int? {
            try await pool.run { try $0.first("SELECT current_setting('port')") { Int($0.string(0)) } ?? nil }
        }
        #expect(try await port() == former.port)
        try await former.administer("ALTER SYSTEM SET default_transaction_read_only = on")
        try await former.administer("SELECT pg_reload_conf()")
        // The answer to a first question says so: nobody asks it a second one.
        let end = ContinuousClock.now + .seconds(20)
        while try await port() != server.port, .now < end { try await Task.sleep(for: .milliseconds(20)) }
        #expect(try await port() == server.port)
        #expect(pool.idleCount == 1)
        await pool.close()
    }

    @Test func aWrongPasswordIsToldAndNotRepeated() async throws {
        let server = try await PostgresServer.running
        let string = server.string().replacing(PostgresServer.password, with: "another secret")
        let pool = PostgresPool(PostgresSettings(string))
        let error = await #expect(throws: StoreError.self) { try await pool.run { _ in } }
        #expect(isUnavailable(error))
        let text = "\(error, default: "none")"
        #expect(text.contains("password authentication failed") && !text.contains("secret"), "\(text)")
        await pool.close()
    }

    // MARK: TLS

    private static func secure(_ authority: String, host: String = "localhost") async throws -> String {
        let server = try await PostgresServer.running
        let root = server.folder.appending(path: authority).path
        return string(
            "\(host) hostaddr=127.0.0.1", [server.port], more: "sslmode=verify-full sslrootcert='\(root)'")
    }

    @Test func aServerWithTheRightCertificateIsSpokenToInSecret() async throws {
        let settings = PostgresSettings(try await HostsTests.secure("authority.crt"))
        try await onThread {
            let connection = try Connection(settings)
            #expect(
                try connection.first("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") { $0.bool(0) } == true)
            // Records of TLS come in other pieces than answers: none of them may lie in OpenSSL unnoticed.
            connection.patience = .seconds(5)
            for size in [1, 8_191, 8_192, 8_193, 16_383, 16_384, 16_385, 40_000, 1 << 20] {
                let text = String(repeating: "x", count: size)
                for _ in 1...3 {
                    let count = try connection.first("SELECT $1", [.text(text)]) { $0.bytes(0).count }
                    #expect(count == size)
                }
            }
            for _ in 1...2_000 { connection.enqueue("SELECT repeat('x', 5000)") }
            try connection.flush()
            connection.patience = .milliseconds(300)
            let error = #expect(throws: PostgresError.self) { try connection.run("SELECT pg_sleep(60)") }
            #expect(error?.sqlState == "57014")
            #expect(try connection.first("SELECT 8::bigint") { $0.integer(0) } == 8)
        }
    }

    @Test func aCertificateOfAnUntrustedAuthorityIsRejected() async throws {
        let settings = PostgresSettings(try await HostsTests.secure("stranger.crt"))
        let error = await #expect(throws: PostgresError.self) {
            try await onThread { try Connection(settings).flush() }
        }
        #expect(error?.sqlState == "08001" && error?.message.contains("certificate verify failed") == true)
    }

    @Test func aServerOfAnotherNameIsRefused() async throws {
        let settings = PostgresSettings(try await HostsTests.secure("authority.crt", host: "elsewhere.example"))
        let error = await #expect(throws: PostgresError.self) {
            try await onThread { try Connection(settings).flush() }
        }
        #expect(
            error?.message.contains("server certificate for \"localhost\" does not match host name") == true)
    }
}
