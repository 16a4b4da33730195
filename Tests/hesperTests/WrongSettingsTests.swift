import Foundation
import Testing

@testable import hesper

/// What is wrong is named with where it stands: at its flag, its variable, or its name in the file.
@Suite struct InvalidSettingsTests {
    private let folder = TemporaryFolder()

    private func file(_ json: String) throws -> String { try folder.write(json, to: "settings.json") }

    @Test(arguments: [
        (Setting.port, "abc", "a port from 0 to 65535 is wanted, not \"abc\"."),
        (.port, "65536", "a port from 0 to 65535 is wanted, not 65536."),
        (.port, "-1", "a port from 0 to 65535 is wanted, not -1."),
        (.databaseConnections, "1", "a number of connections from 2 to 1000 is wanted, not 1."),
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
            "prot is no setting; there are host, port, data, database, databaseConnections, attachments"
        ),
        (#"{"port": 1, "port": 2}"#, "Invalid JSON: the name \"port\" is used twice in one object"),
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

    @Test func aFileThatIsNamedMustBeThere() throws {
        let complaint = complaint { _ = try Settings(environment: ["HESPER_CONFIG": "/nowhere.json"]) }
        #expect(complaint == "/nowhere.json: the settings file cannot be read: it is not there.")
    }

    @Test func aVariableThatNothingReadsIsATypingMistake() throws {
        let settings = try Settings(environment: ["HESPER_PROT": "1", "HESPER_PORT": "2", "PATH": "/bin"])
        #expect(settings.warnings == ["HESPER_PROT is no setting of this version."])
    }
}
