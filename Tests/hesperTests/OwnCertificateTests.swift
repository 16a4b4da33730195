import Foundation
import HesperBlobs
import Testing
import X509

@testable import hesper

/// The self-signed certificate: its contents, its renewal, and that an authority which devices may trust is never replaced
/// automatically.
@Suite struct OwnCertificateTests {
    private let folder = TemporaryFolder()
    /// A whole second, because certificates have no fractions.
    private let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let day: TimeInterval = 86_400

    private func own(_ configured: [String] = [], machine: String = "desk") throws -> OwnCertificate {
        let names = try configured.map { try #require(CertificateName($0)) }
        return OwnCertificate(data: folder.path, names: ServerNames(configured: names, machine: machine))
    }

    private func bytes(_ name: String) throws -> Data {
        try Data(contentsOf: folder.url.appending(path: "tls/\(name)"))
    }

    /// The contents of all files in the folder, by name.
    private func everything() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: "tls").path)
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try bytes($0)) })
    }

    private func settingsError(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch let failure as Failure {
            return failure.message
        } catch {
            return "another error: \(error)"
        }
    }

    // MARK: Creation

    @Test func authorityHasTheRightExtensions() async throws {
        let authority = try await own(["notes.example.org", "192.0.2.7"]).prepare(now: now).authority
        let (certificate, extensions) = (authority.certificate, authority.certificate.extensions)
        #expect(try extensions.basicConstraints == .isCertificateAuthority(maxPathLength: 0))
        #expect(try extensions.keyUsage == KeyUsage(keyCertSign: true))
        #expect(try extensions.extendedKeyUsage == ExtendedKeyUsage([.serverAuth]))
        for critical in ["2.5.29.19", "2.5.29.15", "2.5.29.30"] {
            #expect(extensions.first { $0.oid.description == critical }?.critical == true, "\(critical)")
        }
        #expect(certificate.issuer == certificate.subject && authority.hasSigned(certificate))
        #expect(certificate.notValidBefore == now - 3_600)
        #expect(certificate.notValidAfter == now - 3_600 + 3_650 * day)
    }

    @Test func authoritiesHaveDifferentNames() throws {
        let authorities = try (0..<2).map { _ in try LocalAuthority(for: [], machine: "desk", now: now) }
        #expect(authorities[0].certificate.subject != authorities[1].certificate.subject)
        #expect(try authorities[0].fingerprint != authorities[1].fingerprint)
    }

    @Test(arguments: [
        ("localhost", true), ("desk", true), ("desk.local", true), ("notes.home.arpa", true), ("x.internal", true),
        ("notes.example.org", true), ("a.notes.example.org", false), ("a.desk", false),
        ("example.net", true), ("www.example.net", true), ("mail.example.net", true), ("192.0.2.7", true),
        ("192.168.1.20", true),
        ("10.1.2.3", true), ("fe80::1", true), ("fd00::1", true), ("::1", true), ("example.org", false),
        ("example.com", false), ("localhost.example.com", false), ("192.0.2.8", false), ("8.8.8.8", false),
        ("2001:db8::1", false), ("172.32.0.1", false), ("chair", false),
    ]) func nameConstraintsAreNarrow(_ host: String, _ isAllowed: Bool) throws {
        let names = try ["notes.example.org", "192.0.2.7", "desk", "example.net", "www.example.net"]
            .map { try #require(CertificateName($0)) }
        let authority = try LocalAuthority(for: names, now: now)
        #expect(authority.allows(try #require(CertificateName(host))) == isAllowed)
    }

    @Test func serverCertificateHasTheRightExtensions() async throws {
        let own = try own(["notes.example.org", "192.0.2.7"])
        let (authority, isNew) = try await own.prepare(now: now)
        #expect(isNew)
        let server = try #require(try own.state(now: now).server)
        #expect(authority.hasSigned(server) && server.issuer == authority.certificate.subject)
        let names = try #require(try server.extensions.subjectAlternativeNames)
        let expected = try ["localhost", "127.0.0.1", "::1", "desk", "notes.example.org", "192.0.2.7"]
            .map { try #require(CertificateName($0)).general }
        #expect(Array(names) == expected)
        #expect(try server.extensions.basicConstraints == .notCertificateAuthority)
        #expect(try server.extensions.extendedKeyUsage == ExtendedKeyUsage([.serverAuth]))
        // The validity includes both ends.
        #expect(server.notValidAfter.timeIntervalSince(server.notValidBefore) + 1 == 397 * day)
        #expect(server.publicKey != authority.certificate.publicKey)
    }

    @Test func filesAreAccessibleOnlyToTheirOwner() async throws {
        _ = try await own().prepare(now: now)
        for name in ["", "authority.pem", "authority.key", "server.pem", "server.key"] {
            let path = folder.url.appending(path: "tls/\(name)").path
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == (name.isEmpty ? 0o700 : 0o600), "\(name)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: "tls").path)
        #expect(names.count == 4)
    }

    @Test func instructionsContainFileAndFingerprint() async throws {
        let own = try own()
        let authority = try await own.prepare(now: now).authority
        let text = try own.instructions(authority).joined(separator: "\n")
        let path = folder.url.appending(path: "tls/authority.pem").path
        let needed = [path, try authority.fingerprint, "--cacert", "update-ca-certificates", "security", "Firefox"]
        for part in needed { #expect(text.contains(part), "\(part)") }
        let shown = try authority.fingerprint
        #expect(shown.wholeMatch(of: #/[0-9A-F]{2}(:[0-9A-F]{2}){31}/#) != nil)
    }

    // MARK: Renewal

    @Test func laterStartChangesNothing() async throws {
        _ = try await own().prepare(now: now)
        let before = try ["authority.pem", "authority.key", "server.pem", "server.key"].map(bytes)
        let (_, isNew) = try await own().prepare(now: now + 300 * day)
        #expect(!isNew)
        #expect(try ["authority.pem", "authority.key", "server.pem", "server.key"].map(bytes) == before)
    }

    /// The authority stays the same when the certificate of the server is renewed.
    @Test(arguments: ["expires soon", "new name", "clock set back", "another key", "missing", "not PEM"])
    func serverCertificateIsRenewed(_ reason: String) async throws {
        let first = try await own().prepare(now: now).authority
        let (before, tls) = (try bytes("server.pem"), folder.url.appending(path: "tls"))
        var (then, names) = (now + day, [String]())
        switch reason {
        case "expires soon": then = now + 367 * day
        case "new name": names = ["notes.local"]
        case "clock set back": then = now - day
        case "another key":
            try FileManager.default.removeItem(at: tls.appending(path: "server.key"))
            try FileManager.default.copyItem(
                at: tls.appending(path: "authority.key"), to: tls.appending(path: "server.key"))
        case "missing": try FileManager.default.removeItem(at: tls.appending(path: "server.pem"))
        default: try Data("x".utf8).write(to: tls.appending(path: "server.pem"))
        }
        let own = try own(names)
        let (authority, isNew) = try await own.prepare(now: then)
        #expect(isNew && authority.certificate == first.certificate)
        #expect(try bytes("server.pem") != before)
        #expect(try own.state(now: then).server != nil)
    }

    /// The host name of a container changes with each start. That must not require another authority.
    @Test func newHostNameIsLeftOut() async throws {
        let first = try await own(machine: "one").prepare(now: now).authority
        let own = try own(machine: "two")
        let authority = try await own.prepare(now: now).authority
        #expect(authority.certificate == first.certificate)
        #expect(own.certified(by: authority).map(\.text) == ["localhost", "127.0.0.1", "::1"])
    }

    @Test func certificateExpiresWithTheAuthority() async throws {
        let authority = try await own().prepare(now: now).authority
        let (end, later) = (authority.certificate.notValidAfter, now + 3_640 * day)
        let own = try own()
        #expect(try await own.prepare(now: later).isNew)
        #expect(try own.state(now: later).server?.notValidAfter == end)
        #expect(try await !own.prepare(now: later + day).isNew)
        let message = await settingsError { _ = try await own.prepare(now: end + 1) }
        #expect(message?.contains("it expired at ") == true)
    }

    // MARK: No automatic replacement of the authority

    @Test(arguments: ["authority.key is missing", "it cannot be read", "it was created without the name example.org"])
    func unusableAuthorityIsNotReplaced(_ reason: String) async throws {
        _ = try await own().prepare(now: now)
        let tls = folder.url.appending(path: "tls")
        var names: [String] = []
        switch reason {
        case "authority.key is missing": try FileManager.default.removeItem(at: tls.appending(path: "authority.key"))
        case "it cannot be read":
            try FileManager.default.removeItem(at: tls.appending(path: "authority.key"))
            try FileManager.default.copyItem(
                at: tls.appending(path: "server.key"), to: tls.appending(path: "authority.key"))
        default: names = ["example.org"]
        }
        let before = try ["authority.pem", "server.pem"].map(bytes)
        let own = try own(names)
        let message = await settingsError { _ = try await own.prepare(now: now) }
        #expect(
            message?.contains(reason) == true && message?.contains("move the folder away") == true, "\(message ?? "")")
        #expect(try ["authority.pem", "server.pem"].map(bytes) == before)
    }

    /// The operator moved the authority to a device instead of copying it. It is not replaced, and works again when it is moved
    /// back.
    @Test(arguments: [["authority.pem"], ["authority.pem", "authority.key"], ["authority.pem", "server.key"]])
    func movedAuthorityIsNotReplaced(_ moved: [String]) async throws {
        let own = try own()
        let authority = try await own.prepare(now: now).authority
        let original = try everything()
        let tls = folder.url.appending(path: "tls")
        for name in moved { try FileManager.default.removeItem(at: tls.appending(path: name)) }
        let rest = try everything()
        let message = await settingsError { _ = try await own.prepare(now: now) }
        #expect(message?.contains("authority.pem is missing") == true, "\(message ?? "")")
        #expect(message?.contains("move the folder away") == true)
        #expect(try everything() == rest)
        #expect(CertificateDiagnosis(own: own).all(now: now).map(\.kind) == [.wrong])
        for name in moved { try original[name]?.write(to: tls.appending(path: name)) }
        #expect(try await own.prepare(now: now).authority.certificate == authority.certificate)
    }

    /// A start was killed between the two files. No certificate of a server exists yet.
    @Test func keyWithoutCertificateIsReplaced() async throws {
        _ = try await own().prepare(now: now)
        let key = try bytes("authority.key")
        for name in ["authority.pem", "server.key", "server.pem"] {
            try FileManager.default.removeItem(at: folder.url.appending(path: "tls/\(name)"))
        }
        #expect(try await own().prepare(now: now).isNew)
        #expect(try bytes("authority.key") != key)
        #expect(try everything().count == 4)
    }

    @Test func concurrentStartsCreateOneAuthority() async throws {
        let own = try own()
        let moment = now
        let results = try await withThrowingTaskGroup(of: (String, Bool).self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let (authority, isNew) = try await own.prepare(now: moment)
                    return (try authority.fingerprint, isNew)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(results.map(\.0)).count == 1)
        #expect(results.filter(\.1).count == 1)
    }
}
