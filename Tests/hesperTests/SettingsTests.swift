import Foundation
import HesperModel
import HesperServer
import HesperStore
import Logging
import Testing

@testable import hesper

/// Sources of settings and their precedence: options, then variables, then the file.
@Suite struct SettingsTests {
    private let folder = TemporaryFolder()

    private func file(_ json: String, named name: String = "settings.json") throws -> String {
        try folder.write(json, to: name)
    }

    @Test func defaultsListenOnThisMachineOnly() throws {
        let settings = try Settings(environment: [:])
        let server = try settings.server()
        #expect(settings.data == "data")
        #expect(try settings.database() == .sqlite(folder: "data"))
        #expect(try settings.databaseConnections() == 16)
        #expect(server.host == "127.0.0.1")
        #expect(server.port == 8080)
        #expect(server.tls == nil)
        #expect(server.origins.isEmpty)
        #expect(try settings.logLevel() == .info)
        #expect(try settings.logFormat() == .text)
        #expect(try settings.publicFolder() == nil)
    }

    @Test func requestsPerMinute() throws {
        func requests(_ text: String) throws -> Rate? {
            try Settings(environment: ["HESPER_REQUESTS_PER_MINUTE": text]).server().requests
        }
        #expect(try requests("none") == nil)
        let rate = try requests("600")
        #expect(rate?.burst == 600 && rate?.perMinute == 600)
        for invalid in ["0", "59", "many", "-1", "1000001", "1.5"] {
            let message = settingsError { _ = try requests(invalid) }
            #expect(message?.contains("HESPER_REQUESTS_PER_MINUTE") == true && message?.contains(invalid) == true)
        }
    }

    @Test func passwordCost() throws {
        func cost(_ text: String) throws -> Int {
            try Settings(environment: ["HESPER_PASSWORD_COST": text]).server().passwords.cost
        }
        #expect(try (cost(""), cost("10"), cost("20")) == (17, 10, 20))
        #expect(try Settings(flags: [.passwordCost: ["15"]], environment: [:]).server().passwords.cost == 15)
        for invalid in ["9", "21", "-1", "much"] {
            let message = settingsError { _ = try cost(invalid) }
            #expect(message?.contains("HESPER_PASSWORD_COST") == true && message?.contains(invalid) == true)
        }
    }

    @Test(arguments: [
        ("https://notes.example.org", "https://notes.example.org"), ("http://10.0.0.1:8080/", "http://10.0.0.1:8080"),
        ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443"),
    ]) func linksUseThePublicURL(_ url: String, _ origin: String) throws {
        let settings = try Settings(environment: ["HESPER_URL": url, "HESPER_PORT": "1"])
        #expect(try settings.origin() == origin)
    }

    @Test func linksDefaultToTheListeningAddress() throws {
        #expect(try Settings(environment: [:]).origin() == "http://127.0.0.1:8080")
        #expect(try Settings(environment: ["HESPER_HOST": "::1", "HESPER_PORT": "81"]).origin() == "http://[::1]:81")
    }

    @Test(arguments: [
        "notes.example.org", "https://", "https://a.b/notes", "https://a.b?x", "ftp://a.b", "https://x@a.b",
    ])
    func invalidPublicURLsAreRefused(_ url: String) {
        let message = settingsError { _ = try Settings(environment: ["HESPER_URL": url]).origin() }
        #expect(message?.contains("HESPER_URL") == true && message?.contains(url) == true)
    }

    @Test func optionsOverrideVariablesAndVariablesOverrideTheFile() throws {
        let path = try file(#"{"port": 1, "host": "file", "signUp": "closed", "logLevel": "error"}"#)
        let settings = try Settings(
            flags: [.port: ["3"]], config: path,
            environment: ["HESPER_PORT": "2", "HESPER_HOST": "variable", "HESPER_DATA": folder.path])
        let server = try settings.server()
        #expect(server.port == 3)
        #expect(server.host == "variable")
        #expect(server.signUp == .closed)
        #expect(try settings.logLevel() == .error)
        #expect(settings.data == folder.path)
    }

    @Test(arguments: Setting.allCases) func namesOfASettingAreConsistent(_ setting: Setting) {
        let words = setting.variable.dropFirst("HESPER_".count).split(separator: "_").map { $0.lowercased() }
        #expect(words.joined() == setting.key.lowercased())
        #expect(
            setting.flag == "--" + words.joined(separator: "-")
                || [.corsOrigins, .trustedProxies, .webhookNetworks].contains(setting))
        #expect(setting.variable.hasPrefix("HESPER_"))
    }

    @Test func settingsAreReadFromVariables() throws {
        let pem = try file("-")
        let settings = try Settings(environment: [
            "HESPER_HOST": "::1", "HESPER_PORT": "0", "HESPER_DATA": "d", "HESPER_PUBLIC": folder.path,
            "HESPER_SIGN_UP": "open", "HESPER_CORS_ORIGINS": "https://a.example, http://b.example:8080",
            "HESPER_DATABASE": "postgresql://hesper@db/hesper", "HESPER_DATABASE_CONNECTIONS": "5",
            "HESPER_LOG_LEVEL": "trace", "HESPER_HISTORY": "forever", "HESPER_GRACE": "2d",
            "HESPER_TLS_CERTIFICATE": pem, "HESPER_TLS_KEY": pem, "HESPER_URL": "https://notes.example.org/",
            "HESPER_SENDMAIL": "/usr/sbin/sendmail -t -i", "HESPER_MAIL_FROM": "hesper@example.org",
        ])
        let server = try settings.server()
        #expect(settings.warnings.isEmpty)
        #expect(server.mail?.command == MailCommand("/usr/sbin/sendmail -t -i"))
        #expect(server.mail?.from.text == "hesper@example.org")
        #expect(server.mail?.origin == "https://notes.example.org")
        #expect(server.host == "::1")
        #expect(server.port == 0)
        #expect(settings.data == "d")
        #expect(try settings.database() == .postgres("postgresql://hesper@db/hesper"))
        #expect(try settings.databaseConnections() == 5)
        #expect(try settings.publicFolder() == folder.path)
        #expect(server.signUp == .open)
        #expect(server.origins == ["https://a.example", "http://b.example:8080"])
        #expect(try settings.logLevel() == .trace)
        #expect(server.tls?.certificate == pem)
        #expect(server.tls?.key == pem)
        #expect(server.sweep == SweepPolicy(history: .forever, grace: 2 * 86_400_000))
    }

    @Test(arguments: [
        ("sqlite:", DatabaseLocation.sqlite(folder: "notes")), ("sqlite:/var/other", .sqlite(folder: "/var/other")),
        ("postgres://db", .postgres("postgres://db")),
        (
            "postgresql://u:p%40ss@db1:5432,db2/hesper?target_session_attrs=read-write",
            .postgres("postgresql://u:p%40ss@db1:5432,db2/hesper?target_session_attrs=read-write")
        ),
        (
            "postgresql:///hesper?host=/run/postgresql&password=a/b@c",
            .postgres("postgresql:///hesper?host=/run/postgresql&password=a/b@c")
        ),
    ]) func databaseLocationsAreParsed(text: String, location: DatabaseLocation) throws {
        #expect(try Settings(flags: [.data: ["notes"], .database: [text]], environment: [:]).database() == location)
    }

    @Test(arguments: [
        ("1d,30d", HistoryPolicy.standard), ("forever", .forever),
        ("1h,1h", .thinned(all: 3_600_000, hourly: 3_600_000)),
        ("36h,400d", .thinned(all: 36 * 3_600_000, hourly: 400 * 86_400_000)),
    ]) func historyIsForeverOrTwoDurations(text: String, policy: HistoryPolicy) throws {
        #expect(try Settings(environment: ["HESPER_HISTORY": text]).server().sweep.history == policy)
    }

    @Test func graceAndHistoryHaveDefaults() throws {
        let sweep = try Settings(environment: [:]).server().sweep
        #expect(sweep.history == .thinned(all: 86_400_000, hourly: 30 * 86_400_000))
        #expect(sweep.grace == 30 * 86_400_000)
        #expect(try Settings(flags: [.grace: ["1h"]], environment: [:]).server().sweep.grace == 3_600_000)
    }

    @Test(arguments: [
        ("127.0.0.1", SignUpPolicy.open), ("localhost", .open), ("::1", .open), ("127.8.8.8", .open),
        ("0.0.0.0", .closed), ("::", .closed), ("notes.example.org", .closed), ("192.168.1.7", .closed),
    ]) func signUpIsOpenIfOnlyThisMachineCanConnect(host: String, policy: SignUpPolicy) throws {
        #expect(try Settings(flags: [.host: [host]], environment: [:]).server().signUp == policy)
    }

    @Test func emptyVariablesCountAsNotSet() throws {
        #expect(try Settings(environment: ["HESPER_PORT": "", "HESPER_CONFIG": ""]).server().port == 8080)
    }

    @Test func settingsFileInTheDataFolderIsFound() throws {
        _ = try file(#"{"port": 9}"#, named: Settings.fileName)
        #expect(try Settings(flags: [.data: [folder.path]], environment: [:]).server().port == 9)
        #expect(try Settings(environment: ["HESPER_DATA": folder.path]).server().port == 9)
        let other = try file(#"{"port": 10}"#)
        #expect(try Settings(config: other, environment: ["HESPER_DATA": folder.path]).server().port == 10)
    }

    @Test func settingsFileInTheDataFolderCannotSetTheDataFolder() throws {
        let path = try file(#"{"data": "elsewhere"}"#, named: Settings.fileName)
        let error = settingsError { _ = try Settings(flags: [.data: [folder.path]], environment: [:]) }
        #expect(error == "\(path), data: cannot be set in a file in the data folder.")
        #expect(try Settings(config: path, environment: [:]).data == "elsewhere")
    }
}
