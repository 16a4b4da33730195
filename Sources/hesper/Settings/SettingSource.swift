import Configuration
import Foundation
import HesperModel

/// A source of settings: the command line, the environment or a file. Error messages name the source.
struct SettingSource {
    let values: any ConfigSnapshot
    /// Returns the name that operators use for a setting in this source.
    let name: (Setting) -> String
    /// Returns the key of a setting in this source, for the library that reads the values.
    let key: (Setting) -> AbsoluteConfigKey

    /// The command line as a source of settings.
    /// - Parameter flags: the options that were given, with their unparsed values.
    static func flags(_ flags: [Setting: [String]]) -> SettingSource {
        let values = flags.map { setting, typed -> (AbsoluteConfigKey, ConfigValue) in
            let last = typed.last ?? ""
            // An invalid number is kept as a string. The reader then reports it in the same way for all sources.
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

    /// The environment as a source of settings. An empty variable is treated as not set, because Docker Compose passes unset
    /// variables as empty variables.
    static func variables(_ environment: [String: String]) -> SettingSource {
        let provider = EnvironmentVariablesProvider(environmentVariables: environment.filter { !$0.value.isEmpty })
        return SettingSource(
            values: provider.snapshot(), name: \.variable, key: { AbsoluteConfigKey(["hesper", $0.key]) })
    }

    /// A JSON file as a source of settings: `{"port": 8080, "corsOrigins": ["https://notes.example.org"]}`.
    /// - Throws: ``Failure`` if the file cannot be read, is not an object, or has an unknown key.
    static func file(_ path: String) throws -> SettingSource {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw Failure("Cannot read the settings file \(path): \(reason(error))", .settings)
        }
        try check(data, of: path)
        do {
            let values = try JSONSnapshot(data: data.bytes, providerName: path, parsingOptions: .default)
            return SettingSource(values: values, name: { "\(path), \($0.key)" }, key: { AbsoluteConfigKey([$0.key]) })
        } catch {
            throw Failure("\(path): \(error)", .settings)
        }
    }

    /// Rejects unknown and duplicate keys. The library that reads the values would ignore them.
    private static func check(_ data: Data, of path: String) throws {
        let json: JSON
        do throws(Problem) {
            json = try JSONReader.read(Array(data))
        } catch {
            throw Failure("\(path): \(error.detail)", .settings)
        }
        guard case .object(let object) = json else {
            throw Failure("\(path): must be a JSON object, not \(json.kind).", .settings)
        }
        for member in object.members where Setting(rawValue: member.name) == nil {
            let known = Setting.allCases.map(\.key).joined(separator: ", ")
            throw Failure("\(path): Unknown setting \(member.name). The settings are \(known).", .settings)
        }
    }

    private static func reason(_ error: any Error) -> String {
        (error as? CocoaError)?.code == .fileReadNoSuchFile ? "No such file or directory." : error.localizedDescription
    }
}
