import ArgumentParser

/// Command line options for settings. Each property must have the name of its ``Setting``.
protocol SettingOptions: ParsableArguments {}

extension SettingOptions {
    /// The options of settings that were given on the command line, with their unparsed values.
    var flags: [Setting: [String]] {
        Mirror(reflecting: self).children.reduce(into: [:]) { flags, child in
            // The value is stored under the name of the property with a leading underscore, because it is in a property
            // wrapper.
            guard let name = child.label?.dropFirst(), let setting = Setting(rawValue: String(name)) else { return }
            switch child.value {
            case let option as Option<String?>: flags[setting] = option.wrappedValue.map { [$0] }
            case let option as Option<[String]> where !option.wrappedValue.isEmpty:
                flags[setting] = option.wrappedValue
            default: break
            }
        }
    }
}

extension Option {
    init(_ setting: Setting) where Value == String? {
        self.init(name: .customLong(setting.flagName), help: setting.argumentHelp)
    }

    init(wrappedValue: [String], _ setting: Setting) where Value == [String] {
        self.init(wrappedValue: wrappedValue, name: .customLong(setting.flagName), help: setting.argumentHelp)
    }
}

extension Setting {
    /// The help text of the setting's command-line option.
    var argumentHelp: ArgumentHelp {
        let variable = row.kind == .list ? "\(variable), separated by commas" : variable
        let text = "\(row.help) (\(variable); default: \(row.defaultText.filter { $0 != "`" }))."
        return ArgumentHelp("\([text, row.note].compactMap { $0 }.joined(separator: " "))", valueName: row.value)
    }
}
