import Foundation
import Testing

@testable import hesper

/// Settings for a self-signed certificate, and settings that conflict with it.
@Suite struct OwnCertificateSettingsTests {
    private let folder = TemporaryFolder()

    @Test func selfSignedCertificateIsEnabled() throws {
        let settings = try Settings(environment: ["HESPER_TLS": "self-signed", "HESPER_DATA": folder.path])
        let files = try #require(try settings.server().tls)
        #expect(files.isOwn && files.certificate == "\(folder.path)/tls/server.pem")
        #expect(try settings.origin() == "https://127.0.0.1:8080")
        #expect(try settings.ownCertificate()?.names.configured == [])
        // Reading settings creates no files.
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/tls"))
        #expect(try Settings(environment: [:]).ownCertificate() == nil)
    }

    @Test func certificateHasTheConfiguredNames() throws {
        let environment = [
            "HESPER_TLS": "self-signed", "HESPER_HOST": "192.168.1.20", "HESPER_URL": "https://Notes.local:8443/",
        ]
        let names = try #require(try Settings(environment: environment).ownCertificate()).names
        #expect(names.configured.map(\.text) == ["192.168.1.20", "notes.local"])
        let unspecified = [
            "HESPER_TLS": "self-signed", "HESPER_HOST": "0.0.0.0", "HESPER_URL": "https://[fd00::1]:8080",
        ]
        #expect(try Settings(environment: unspecified).ownCertificate()?.names.configured.map(\.text) == ["fd00::1"])
    }

    @Test(arguments: [
        (
            Setting.tlsCertificate, "/dev/null", "HESPER_TLS",
            "a self-signed certificate cannot be combined with certificate files. Remove this setting or HESPER_TLS_CERTIFICATE."
        ),
        (
            .tlsKey, "/nowhere", "HESPER_TLS",
            "a self-signed certificate cannot be combined with certificate files. Remove this setting or HESPER_TLS_KEY."
        ),
        (
            .url, "http://notes.local:8080", "HESPER_URL",
            "must start with https:// for a server with a certificate, not http://notes.local:8080."
        ),
        (
            .host, "bücher.local", "HESPER_HOST",
            "\"bücher.local\" is not an address or a valid name for a certificate. Write non-ASCII names in their xn-- form."
        ),
    ]) func conflictingSettingsAreRefused(_ other: Setting, _ value: String, _ location: String, _ reason: String) {
        let environment = ["HESPER_TLS": "self-signed", other.variable: value]
        #expect(settingsError { _ = try Settings(environment: environment).server() } == "\(location): \(reason)")
        #expect(
            settingsError { _ = try Settings(environment: environment).ownCertificate() } == "\(location): \(reason)")
    }
}
