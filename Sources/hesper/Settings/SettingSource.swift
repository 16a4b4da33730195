import Configuration
import Foundation
import HesperModel

/// One place where settings come from. A lookup that fails names this place.
struct SettingSource {
    let values: any ConfigSnapshot
    /// What a setting is called there, for an operator to find it by.
    let name: (Setting) -> String
    /// What a setting is called there, for the provider.
    let key: (Setting) -> AbsoluteConfigKey

    /// The command line.
    /// - Parameter flags: those that were given, as they were typed.
    static func flags(_ flags: [Setting: [String]]) -> SettingSource {
        let values = flags.map { setting, typed -> (AbsoluteConfigKey, ConfigValue) in
            let last = typed.last ?? ""
            // What is no number stays as it was typed, for the reader to refuse as it does that of all other places.
            let content: ConfigContent =
                switch setting.row.kind {
                case .list: .stringArray(typed)
                case .integer: Int(last).map { .int($0) } ?? .string(last)
                case .text: .string(last)
                }
            return (AbsoluteConfigKey([setting.key]), ConfigValue(content, isSecret: false))
        }
        return SettingSource(
            values: InMemoryProvider(name: "flags", values: Dictionary(uniqueKeysWithValues: values)).snapshot(),
            name: \.flag, key: { AbsoluteConfigKey([$0.key]) })
    }

    /// The environment. A variable that is empty is not set: compose files pass those on that way.
    static func variables(_ environment: [String: String]) -> SettingSource {
        let provider = EnvironmentVariablesProvider(environmentVariables: environment.filter { !$0.value.isEmpty })
        return SettingSource(
            values: provider.snapshot(), name: \.variable, key: { AbsoluteConfigKey(["hesper", $0.key]) })
    }

    /// A file of JSON: `{"port": 8080, "corsOrigins": ["https://notes.example.org"]}`.
    /// - Throws: ``Failure`` if it cannot be read, is not an object, or has a key that is no setting.
    static func file(_ path: String) throws -> SettingSource {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw Failure("\(path): the settings file cannot be read: \(reason(error))", .settings)
        }
        try check(data, of: path)
        do {
            let values = try JSONSnapshot(data: data.bytes, providerName: path, parsingOptions: .default)
            return SettingSource(values: values, name: { "\(path), \($0.key)" }, key: { AbsoluteConfigKey([$0.key]) })
        } catch {
            throw Failure("\(path): \(error)", .settings)
        }
    }

    /// Refuses what the provider would pass over in silence: keys that nothing reads, and keys that stand twice.
    private static func check(_ data: Data, of path: String) throws {
        let json: JSON
        do throws(Problem) {
            json = try JSONReader.read(Array(data))
        } catch {
            throw Failure("\(path): \(error.detail)", .settings)
        }
        guard case .object(let object) = json else {
            throw Failure("\(path): settings are an object, not \(json.kind).", .settings)
        }
        for member in object.members where Setting(rawValue: member.name) == nil {
            let known = Setting.allCases.map(\.key).joined(separator: ", ")
            throw Failure("\(path): \(member.name) is no setting; there are \(known).", .settings)
        }
    }

    private static func reason(_ error: any Error) -> String {
        (error as? CocoaError)?.code == .fileReadNoSuchFile ? "it is not there." : error.localizedDescription
    }
}
