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

    @Test func anUnreachableHostIsSkipped() async throws {
        let server = try await PostgresServer.running
        let string = HostsTests.string(
            "127.0.0.1,127.0.0.1", [try Loopback.freePort(), server.port], more: "sslmode=disable")
        #expect(try await HostsTests.port(string) == server.port)
    }

    @Test func aHostThatDoesNotRespondIsSkipped() async throws {
        let server = try await PostgresServer.running
        let (descriptor, port) = try Loopback.listen()
        let string = HostsTests.string(
            "127.0.0.1,127.0.0.1", [port, server.port], more: "sslmode=disable connect_timeout=2")
        let start = ContinuousClock.now
        #expect(try await HostsTests.port(string) == server.port)
        #expect((.seconds(1)...(.seconds(60))).contains(ContinuousClock.now - start))
        close(descriptor)
    }

    @Test func targetSessionAttributesSelectAHostThatAcceptsWrites() async throws {
        let server = try await PostgresServer.running
        let reader = try await PostgresServer(settings: ["default_transaction_read_only = on"])
        let string = HostsTests.string(
            "127.0.0.1,127.0.0.1", [reader.port, server.port], more: "sslmode=disable target_session_attrs=read-write")
        #expect(try await HostsTests.port(string) == server.port)
        let only = HostsTests.string(
            "127.0.0.1", [reader.port], more: "sslmode=disable target_session_attrs=read-write")
        let error = await #expect(throws: PostgresError.self) { try await HostsTests.port(only) }
        #expect(error?.message.contains("session is read-only") == true)
        // An error from a server that accepts no writes ends the use of the connection.
        let settings = PostgresSettings(reader.string(more: "sslmode=disable target_session_attrs=any"))
        let refusal = await #expect(throws: PostgresError.self) {
            try await onThread { try Connection(settings).run("CREATE TABLE t (id bigint)") }
        }
        #expect(refusal?.sqlState == "25006" && refusal?.isConnection == true)
    }

    @Test func byDefaultTheHostThatAcceptsWritesIsUsed() async throws {
        let server = try await PostgresServer.running
        let reader = try await PostgresServer(settings: ["default_transaction_read_only = on"])
        func string(_ more: String) -> String {
            HostsTests.string("127.0.0.1,127.0.0.1", [reader.port, server.port], more: "sslmode=disable \(more)")
        }
        #expect(try await HostsTests.port(string("")) == server.port)
        #expect(try await HostsTests.port(string("target_session_attrs=any")) == reader.port)
        let url = "postgresql://hesper@h1:1,h2:2/hesper"
        #expect(PostgresSettings(url).lacksSessionAttributes)
        #expect(PostgresSettings("hostaddr=127.0.0.1,127.0.0.2").lacksSessionAttributes)
        #expect(!PostgresSettings(url + "?target_session_attrs=any").lacksSessionAttributes)
    }

    /// One host may be a load balancer or a DNS name that moves, and lead to a standby that lacks acknowledged changes until it
    /// is promoted.
    @Test func aSingleHostMustAcceptWritesToo() async throws {
        let reader = try await PostgresServer(settings: ["default_transaction_read_only = on"])
        let string = HostsTests.string("127.0.0.1", [reader.port], more: "sslmode=disable")
        let pool = PostgresPool(PostgresSettings(string))
        let error = await #expect(throws: StoreError.self) { try await pool.run { _ in } }
        #expect(isUnavailable(error) && "\(error, default: "none")".contains("session is read-only"))
        await pool.close()
        #expect(try await HostsTests.port(string + " target_session_attrs=any") == reader.port)
        #expect(PostgresSettings("postgresql://hesper@h1:1/hesper").lacksSessionAttributes)
        #expect(!PostgresSettings("postgresql://hesper@h1/hesper?target_session_attrs=primary").lacksSessionAttributes)
    }

    /// An operator has made a primary read-only without ending its connections.
    @Test func aServerThatStopsAcceptingWritesIsLeft() async throws {
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
        // The result of the next query reports the change, and the connection is not used again.
        let end = ContinuousClock.now + .seconds(20)
        while try await port() != server.port, .now < end { try await Task.sleep(for: .milliseconds(20)) }
        #expect(try await port() == server.port)
        #expect(pool.idleCount == 1)
        await pool.close()
    }

    @Test func aWrongPasswordIsReportedWithoutThePassword() async throws {
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

    @Test func connectionsToAVerifiedServerUseTLS() async throws {
        let settings = PostgresSettings(try await HostsTests.secure("authority.crt"))
        try await onThread {
            let connection = try Connection(settings)
            #expect(
                try connection.first("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") { $0.bool(0) } == true)
            // TLS records are split differently from results: none of their data may stay unread in OpenSSL's buffer.
            connection.timeout = .seconds(5)
            for size in [1, 8_191, 8_192, 8_193, 16_383, 16_384, 16_385, 40_000, 1 << 20] {
                let text = String(repeating: "x", count: size)
                for _ in 1...3 {
                    let count = try connection.first("SELECT $1", [.text(text)]) { $0.bytes(0).count }
                    #expect(count == size)
                }
            }
            for _ in 1...2_000 { connection.enqueue("SELECT repeat('x', 5000)") }
            try connection.flush()
            connection.timeout = .milliseconds(300)
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

    @Test func aCertificateForAnotherNameIsRejected() async throws {
        let settings = PostgresSettings(try await HostsTests.secure("authority.crt", host: "elsewhere.example"))
        let error = await #expect(throws: PostgresError.self) {
            try await onThread { try Connection(settings).flush() }
        }
        #expect(
            error?.message.contains("server certificate for \"localhost\" does not match host name") == true)
    }
}
