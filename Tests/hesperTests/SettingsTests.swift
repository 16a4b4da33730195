import Foundation
import HesperModel
import HesperServer
import HesperStore
import Logging
import Testing

@testable import hesper

/// Flags, then variables, then the file; what is wrong is named with where it stands.
@Suite struct SettingsTests {
    private let folder = TemporaryFolder()

    private func file(_ json: String, named name: String = "settings.json") throws -> String {
        try folder.write(json, to: name)
    }

    /// A setting that is wrong, as it is told.
    private func complaint(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch let failure as Failure {
            #expect(failure.kind == .settings)
            return failure.message
        } catch {
            return "another error: \(error)"
        }
    }

    @Test func defaultsAreForOneMachine() throws {
        let settings = try Settings(environment: [:])
        let server = try settings.server()
        #expect(settings.data == "data")
        #expect(try settings.database() == .sqlite(folder: "data"))
        #expect(try settings.databaseConnections() == 16)
        #expect(try settings.databaseRead() == nil)
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
        for wrong in ["0", "59", "many", "-1", "1000001", "1.5"] {
            let told = complaint { _ = try requests(wrong) }
            #expect(told?.contains("HESPER_REQUESTS_PER_MINUTE") == true && told?.contains(wrong) == true)
        }
    }

    @Test func whatPasswordsCost() throws {
        func cost(_ text: String) throws -> Int {
            try Settings(environment: ["HESPER_PASSWORD_COST": text]).server().passwords.cost
        }
        #expect(try (cost(""), cost("14"), cost("20")) == (17, 14, 20))
        #expect(try Settings(flags: [.passwordCost: ["15"]], environment: [:]).server().passwords.cost == 15)
        for wrong in ["13", "21", "-1", "much"] {
            let told = complaint { _ = try cost(wrong) }
            #expect(told?.contains("HESPER_PASSWORD_COST") == true && told?.contains(wrong) == true)
        }
    }

    @Test(arguments: [
        ("https://notes.example.org", "https://notes.example.org"), ("http://10.0.0.1:8080/", "http://10.0.0.1:8080"),
        ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443"),
    ]) func whereLinksLead(_ url: String, _ origin: String) throws {
        let settings = try Settings(environment: ["HESPER_URL": url, "HESPER_PORT": "1"])
        #expect(try settings.origin() == origin)
    }

    @Test func withoutAURLLinksLeadWhereTheServerListens() throws {
        #expect(try Settings(environment: [:]).origin() == "http://127.0.0.1:8080")
        #expect(try Settings(environment: ["HESPER_HOST": "::1", "HESPER_PORT": "81"]).origin() == "http://[::1]:81")
    }

    @Test func mailNeedsACommandASenderAndAnAddressForLinks() throws {
        let all = [
            "HESPER_SENDMAIL": "/usr/sbin/sendmail -t", "HESPER_MAIL_FROM": "hesper@example.org",
            "HESPER_URL": "https://notes.example.org",
        ]
        #expect(try Settings(environment: [:]).mail() == nil)
        #expect(try Settings(environment: all).mail() != nil)
        for (changes, why) in [
            (["HESPER_SENDMAIL": ""], "HESPER_MAIL_FROM: a sender needs a command that sends: set --sendmail too."),
            (["HESPER_MAIL_FROM": ""], "HESPER_SENDMAIL: letters need a sender: set --mail-from too."),
            (["HESPER_URL": ""], "HESPER_SENDMAIL: links in letters need to know where"),
            (["HESPER_SENDMAIL": "sendmail -t"], "HESPER_SENDMAIL: the whole path of a program is wanted"),
            (["HESPER_MAIL_FROM": "Hesper <a@b.c>"], "HESPER_MAIL_FROM: an e-mail address alone is wanted"),
            (["HESPER_MAIL_FROM": "a@b.c\nBcc: d@e.f"], "HESPER_MAIL_FROM: an e-mail address alone is wanted"),
        ] {
            let environment = all.merging(changes) { $1 }
            let told = complaint { _ = try Settings(environment: environment).server() }
            #expect(told?.hasPrefix(why) == true, "\(told ?? "it is taken")")
        }
    }

    @Test(arguments: [
        "notes.example.org", "https://", "https://a.b/notes", "https://a.b?x", "ftp://a.b", "https://x@a.b",
    ])
    func whatIsNoURLForLinks(_ url: String) {
        let told = complaint { _ = try Settings(environment: ["HESPER_URL": url]).origin() }
        #expect(told?.contains("HESPER_URL") == true && told?.contains(url) == true)
    }

    @Test func flagsWinOverVariablesAndTheseOverTheFile() throws {
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

    @Test(arguments: Setting.allCases) func everySettingHasThreeNames(_ setting: Setting) {
        let words = setting.variable.dropFirst("HESPER_".count).split(separator: "_").map { $0.lowercased() }
        #expect(words.joined() == setting.key.lowercased())
        #expect(
            setting.flag == "--" + words.joined(separator: "-") || [.corsOrigins, .trustedProxies].contains(setting))
        #expect(setting.variable.hasPrefix("HESPER_"))
    }

    @Test func everySettingIsReadFromItsVariable() throws {
        let pem = try file("-")
        let settings = try Settings(environment: [
            "HESPER_HOST": "::1", "HESPER_PORT": "0", "HESPER_DATA": "d", "HESPER_PUBLIC": folder.path,
            "HESPER_SIGN_UP": "open", "HESPER_CORS_ORIGINS": "https://a.example, http://b.example:8080",
            "HESPER_DATABASE": "postgresql://hesper@db/hesper", "HESPER_DATABASE_CONNECTIONS": "5",
            "HESPER_DATABASE_READ": "postgres://hesper@standby/hesper",
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
        #expect(try settings.databaseRead() == "postgres://hesper@standby/hesper")
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
    ]) func aDatabaseIsInAFolderOrOnAServer(text: String, location: DatabaseLocation) throws {
        #expect(try Settings(flags: [.data: ["notes"], .database: [text]], environment: [:]).database() == location)
    }

    @Test(arguments: [
        ("1d,30d", HistoryPolicy.standard), ("forever", .forever),
        ("1h,1h", .thinned(all: 3_600_000, hourly: 3_600_000)),
        ("36h,400d", .thinned(all: 36 * 3_600_000, hourly: 400 * 86_400_000)),
    ]) func historyIsForeverOrTwoTimes(text: String, policy: HistoryPolicy) throws {
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
    ]) func signUpIsOpenWhileOnlyThisMachineCanConnect(host: String, policy: SignUpPolicy) throws {
        #expect(try Settings(flags: [.host: [host]], environment: [:]).server().signUp == policy)
    }

    @Test func anEmptyVariableIsNotSet() throws {
        #expect(try Settings(environment: ["HESPER_PORT": "", "HESPER_CONFIG": ""]).server().port == 8080)
    }

    @Test func theFileInTheDataFolderIsFound() throws {
        _ = try file(#"{"port": 9}"#, named: Settings.fileName)
        #expect(try Settings(flags: [.data: [folder.path]], environment: [:]).server().port == 9)
        #expect(try Settings(environment: ["HESPER_DATA": folder.path]).server().port == 9)
        let other = try file(#"{"port": 10}"#)
        #expect(try Settings(config: other, environment: ["HESPER_DATA": folder.path]).server().port == 10)
    }

    @Test func theFileInTheDataFolderCannotMoveIt() throws {
        let path = try file(#"{"data": "elsewhere"}"#, named: Settings.fileName)
        let complaint = complaint { _ = try Settings(flags: [.data: [folder.path]], environment: [:]) }
        #expect(complaint == "\(path), data: a file in the data folder cannot say where that is.")
        #expect(try Settings(config: path, environment: [:]).data == "elsewhere")
    }

    @Test(arguments: [
        (Setting.port, "abc", "a port from 0 to 65535 is wanted, not \"abc\"."),
        (.port, "65536", "a port from 0 to 65535 is wanted, not 65536."),
        (.port, "-1", "a port from 0 to 65535 is wanted, not -1."),
        (.databaseConnections, "1", "a number of connections from 2 to 1000 is wanted, not 1."),
        (
            .databaseRead, "sqlite:",
            "postgresql://user@host/database is wanted: a copy of the database, to read from."
        ),
        (
            .databaseRead, "postgresql://standby/hesper",
            "there is a copy to read from only where the database is PostgreSQL: set --database."
        ),
        (.database, "mysql://db/hesper", "sqlite: or postgresql://user@host/database is wanted."),
        (.database, "db.sqlite", "sqlite: or postgresql://user@host/database is wanted."),
        (
            .database, "postgresql://u:p@ss@db/hesper",
            "the @ and / of a user's name and password are written %40 and %2F in a URL."
        ),
        (
            .database, "postgresql://u:p/ss@db/hesper",
            "the @ and / of a user's name and password are written %40 and %2F in a URL."
        ),
        (.database, "postgresql://u:%secret@db/hesper", "invalid percent-encoded token."),
        (.database, "postgresql://db/hesper?secret=1", "invalid URI query parameter."),
        (.signUp, "maybe", "one of open, invite, closed is wanted, not \"maybe\"."),
        (.logFormat, "xml", "one of text, json is wanted, not \"xml\"."),
        (.logLevel, "loud", "one of trace, debug, info, notice, warning, error, critical is wanted, not \"loud\"."),
        (.public, "/nowhere", "/nowhere is not a folder."),
        (.grace, "0h", "a time such as 12h or 30d is wanted, from 1h to 36500d, not \"0h\"."),
        (.grace, "30m", "a time such as 12h or 30d is wanted, from 1h to 36500d, not \"30m\"."),
        (.grace, "-1d", "a time such as 12h or 30d is wanted, from 1h to 36500d, not \"-1d\"."),
        (
            .grace, "99999999999999999999d",
            "a time such as 12h or 30d is wanted, from 1h to 36500d, not \"99999999999999999999d\"."
        ),
        (
            .history, "1d", "forever is wanted, or two times such as 1d,30d, each from 1h to 36500d, not \"1d\"."
        ),
        (
            .history, "1d,30d,1d",
            "forever is wanted, or two times such as 1d,30d, each from 1h to 36500d, not \"1d,30d,1d\"."
        ),
        (
            .history, "1m,30d",
            "forever is wanted, or two times such as 1d,30d, each from 1h to 36500d, not \"1m,30d\"."
        ),
        (.history, "2d,1d", "the second time, until when one an hour is kept, is shorter than the first."),
        (.tls, "yes", "self-signed is wanted, not \"yes\"."),
        (.tlsCertificate, "/nowhere", "the file /nowhere cannot be read."),
        (.tlsCertificate, "/dev/null", "a certificate needs its key: set --tls-key too."),
        (.tlsKey, "/dev/null", "a key needs its certificate: set --tls-certificate too."),
        (
            .corsOrigins, "https://a.example/",
            "\"https://a.example/\" is not an origin such as https://notes.example.org: scheme, host and port alone."
        ),
        (
            .corsOrigins, "*",
            "\"*\" is not an origin such as https://notes.example.org: scheme, host and port alone."
        ),
    ]) func aWrongSettingIsNamedWithWhereItStands(setting: Setting, value: String, why: String) throws {
        func read(_ settings: Settings) throws {
            _ = try settings.server()
            _ = try settings.database()
            _ = try settings.databaseConnections()
            _ = try settings.databaseRead()
            _ = try settings.logLevel()
            _ = try settings.logFormat()
            _ = try settings.publicFolder()
        }
        let flag = complaint { try read(Settings(flags: [setting: [value]], environment: [:])) }
        #expect(flag == "\(setting.flag): \(why)")
        let variable = complaint { try read(Settings(environment: [setting.variable: value])) }
        #expect(variable == "\(setting.variable): \(why)")
        let json: Any = setting == .corsOrigins ? [value] : Int(value).map { $0 as Any } ?? value
        let text = String(decoding: try JSONSerialization.data(withJSONObject: [setting.key: json]), as: UTF8.self)
        let path = try file(text)
        let inFile = complaint { try read(Settings(config: path, environment: [:])) }
        #expect(inFile == "\(path), \(setting.key): \(why)")
    }

    @Test(arguments: [
        (
            #"{"prot": 1}"#,
            "prot is no setting; there are host, port, data, database, databaseConnections, databaseRead, attachments"
        ),
        (#"{"port": 1, "port": 2}"#, "The name \"port\" stands twice in one object"),
        ("{", ""), ("[]", "settings are an object, not an array."), ("", ""),
    ]) func aWrongFileIsRefused(json: String, why: String) throws {
        let path = try file(json)
        let complaint = try #require(complaint { _ = try Settings(config: path, environment: [:]) })
        #expect(complaint.hasPrefix("\(path): \(why)"))
    }

    @Test(arguments: [
        (#"{"port": "8080"}"#, "port"), (#"{"host": 1}"#, "host"), (#"{"corsOrigins": "x"}"#, "corsOrigins"),
    ])
    func aValueOfAnotherTypeIsRefused(json: String, key: String) throws {
        let path = try file(json)
        let complaint = try #require(complaint { _ = try Settings(config: path, environment: [:]).server() })
        #expect(complaint.hasPrefix("\(path), \(key): "))
        #expect(complaint.contains("is wanted"))
    }

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

    @Test func aFileThatIsNamedMustBeThere() throws {
        let complaint = complaint { _ = try Settings(environment: ["HESPER_CONFIG": "/nowhere.json"]) }
        #expect(complaint == "/nowhere.json: the settings file cannot be read: it is not there.")
    }

    @Test func aVariableThatNothingReadsIsATypingMistake() throws {
        let settings = try Settings(environment: ["HESPER_PROT": "1", "HESPER_PORT": "2", "PATH": "/bin"])
        #expect(settings.warnings == ["HESPER_PROT is no setting of this version."])
    }
}
