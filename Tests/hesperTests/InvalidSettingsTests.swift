import Foundation
import Testing

@testable import hesper

/// Errors name the source of an invalid setting: the option, the variable, or the file and key.
@Suite struct InvalidSettingsTests {
    private let folder = TemporaryFolder()

    private func file(_ json: String) throws -> String { try folder.write(json, to: "settings.json") }

    @Test(arguments: [
        (Setting.port, "abc", "must be a port from 0 to 65535, not \"abc\"."),
        (.port, "65536", "must be a port from 0 to 65535, not 65536."),
        (.port, "-1", "must be a port from 0 to 65535, not -1."),
        (.databaseConnections, "1", "must be a number of connections from 2 to 1000, not 1."),
        (.database, "mysql://db/hesper", "must have the form sqlite: or postgresql://user@host/database."),
        (.database, "db.sqlite", "must have the form sqlite: or postgresql://user@host/database."),
        (
            .database, "postgresql://u:p@ss@db/hesper",
            "@ and / in a user name or password must be written as %40 and %2F."
        ),
        (
            .database, "postgresql://u:p/ss@db/hesper",
            "@ and / in a user name or password must be written as %40 and %2F."
        ),
        (.database, "postgresql://u:%secret@db/hesper", "invalid percent-encoded token."),
        (.database, "postgresql://db/hesper?secret=1", "invalid URI query parameter."),
        (.signUp, "maybe", "must be one of open, invite, closed, not \"maybe\"."),
        (.logFormat, "xml", "must be one of text, json, not \"xml\"."),
        (.logLevel, "loud", "must be one of trace, debug, info, notice, warning, error, critical, not \"loud\"."),
        (.public, "/nowhere", "/nowhere is not a folder."),
        (.grace, "0h", "must be a duration from 1h to 36500d, such as 12h or 30d, not \"0h\"."),
        (.grace, "30m", "must be a duration from 1h to 36500d, such as 12h or 30d, not \"30m\"."),
        (.grace, "-1d", "must be a duration from 1h to 36500d, such as 12h or 30d, not \"-1d\"."),
        (
            .grace, "99999999999999999999d",
            "must be a duration from 1h to 36500d, such as 12h or 30d, not \"99999999999999999999d\"."
        ),
        (
            .history, "1d", "must be forever or two durations such as 1d,30d, each from 1h to 36500d, not \"1d\"."
        ),
        (
            .history, "1d,30d,1d",
            "must be forever or two durations such as 1d,30d, each from 1h to 36500d, not \"1d,30d,1d\"."
        ),
        (
            .history, "1m,30d",
            "must be forever or two durations such as 1d,30d, each from 1h to 36500d, not \"1m,30d\"."
        ),
        (.history, "2d,1d", "the second duration must not be shorter than the first."),
        (.tls, "yes", "must be self-signed, not \"yes\"."),
        (.tlsCertificate, "/nowhere", "cannot read the file /nowhere."),
        (.tlsCertificate, "/dev/null", "a certificate requires its key. Set --tls-key too."),
        (.tlsKey, "/dev/null", "a key requires its certificate. Set --tls-certificate too."),
        (
            .corsOrigins, "https://a.example/",
            "must be origins (scheme, host and port) such as https://notes.example.org, not \"https://a.example/\"."
        ),
        (
            .corsOrigins, "*",
            "must be origins (scheme, host and port) such as https://notes.example.org, not \"*\"."
        ),
    ]) func invalidSettingIsReportedWithItsSource(setting: Setting, value: String, reason: String) throws {
        func read(_ settings: Settings) throws {
            _ = try settings.server()
            _ = try settings.database()
            _ = try settings.databaseConnections()
            _ = try settings.logLevel()
            _ = try settings.logFormat()
            _ = try settings.publicFolder()
        }
        let flag = settingsError { try read(Settings(flags: [setting: [value]], environment: [:])) }
        #expect(flag == "\(setting.flag): \(reason)")
        let variable = settingsError { try read(Settings(environment: [setting.variable: value])) }
        #expect(variable == "\(setting.variable): \(reason)")
        let json: Any = setting == .corsOrigins ? [value] : Int(value).map { $0 as Any } ?? value
        let text = String(decoding: try JSONSerialization.data(withJSONObject: [setting.key: json]), as: UTF8.self)
        let path = try file(text)
        let inFile = settingsError { try read(Settings(config: path, environment: [:])) }
        #expect(inFile == "\(path), \(setting.key): \(reason)")
    }

    @Test(arguments: [
        (
            #"{"prot": 1}"#,
            "Unknown setting prot. The settings are host, port, data, database, databaseConnections, attachments"
        ),
        (#"{"port": 1, "port": 2}"#, "Invalid JSON: the name \"port\" is used twice in one object"),
        ("{", ""), ("[]", "must be a JSON object, not an array."), ("", ""),
    ]) func invalidFileIsRefused(json: String, reason: String) throws {
        let path = try file(json)
        let error = try #require(settingsError { _ = try Settings(config: path, environment: [:]) })
        #expect(error.hasPrefix("\(path): \(reason)"))
    }

    @Test(arguments: [
        (#"{"port": "8080"}"#, "port"), (#"{"host": 1}"#, "host"), (#"{"corsOrigins": "x"}"#, "corsOrigins"),
    ])
    func valueOfAnotherTypeIsRefused(json: String, key: String) throws {
        let path = try file(json)
        let error = try #require(settingsError { _ = try Settings(config: path, environment: [:]).server() })
        #expect(error.hasPrefix("\(path), \(key): "))
        #expect(error.contains("must be"))
    }

    @Test func missingSettingsFileIsRefused() throws {
        let error = settingsError { _ = try Settings(environment: ["HESPER_CONFIG": "/nowhere.json"]) }
        #expect(error == "Cannot read the settings file /nowhere.json: No such file or directory.")
    }

    @Test func unknownVariableIsReported() throws {
        let settings = try Settings(environment: ["HESPER_PROT": "1", "HESPER_PORT": "2", "PATH": "/bin"])
        #expect(settings.warnings == ["Unknown setting HESPER_PROT."])
    }
}
