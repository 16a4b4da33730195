import Foundation
import Testing

@testable import hesper

/// What is set for a certificate that Hesper makes for itself, and what contradicts it.
@Suite struct OwnCertificateSettingsTests {
    private let folder = TemporaryFolder()

    @Test func aCertificateOfItsOwn() throws {
        let settings = try Settings(environment: ["HESPER_TLS": "self-signed", "HESPER_DATA": folder.path])
        let files = try #require(try settings.server().tls)
        #expect(files.isOwn && files.certificate == "\(folder.path)/tls/server.pem")
        #expect(try settings.origin() == "https://127.0.0.1:8080")
        #expect(try settings.ownCertificate()?.names.wanted == [])
        // Whoever only reads settings makes nothing.
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/tls"))
        #expect(try Settings(environment: [:]).ownCertificate() == nil)
    }

    @Test func itHasTheNamesThatPeopleWereTold() throws {
        let environment = [
            "HESPER_TLS": "self-signed", "HESPER_HOST": "192.168.1.20", "HESPER_URL": "https://Notes.local:8443/",
        ]
        let names = try #require(try Settings(environment: environment).ownCertificate()).names
        #expect(names.wanted.map(\.text) == ["192.168.1.20", "notes.local"])
        let everywhere = [
            "HESPER_TLS": "self-signed", "HESPER_HOST": "0.0.0.0", "HESPER_URL": "https://[fd00::1]:8080",
        ]
        #expect(try Settings(environment: everywhere).ownCertificate()?.names.wanted.map(\.text) == ["fd00::1"])
    }

    @Test(arguments: [
        (
            Setting.tlsCertificate, "/dev/null", "HESPER_TLS",
            "a certificate is made here or comes from files, not both: leave out this, or HESPER_TLS_CERTIFICATE."
        ),
        (
            .tlsKey, "/nowhere", "HESPER_TLS",
            "a certificate is made here or comes from files, not both: leave out this, or HESPER_TLS_KEY."
        ),
        (
            .url, "http://notes.local:8080", "HESPER_URL",
            "a server with a certificate is reached at https://…, not at http://notes.local:8080."
        ),
        (
            .host, "bücher.local", "HESPER_HOST",
            "\"bücher.local\" is neither an address nor a name that a certificate can have: letters beyond ASCII are written xn--…."
        ),
    ]) func whatContradictsACertificateOfItsOwn(_ other: Setting, _ value: String, _ place: String, _ why: String) {
        let environment = ["HESPER_TLS": "self-signed", other.variable: value]
        #expect(complaint { _ = try Settings(environment: environment).server() } == "\(place): \(why)")
        #expect(complaint { _ = try Settings(environment: environment).ownCertificate() } == "\(place): \(why)")
    }
}
