import ArgumentParser

/// Options of the command line that are settings: each property has the name of its ``Setting``.
protocol SettingOptions: ParsableArguments {}

extension SettingOptions {
    /// Those that were given, as they were typed.
    var flags: [Setting: [String]] {
        Mirror(reflecting: self).children.reduce(into: [:]) { flags, child in
            // A wrapped property is stored under its name with an underscore before it.
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
    /// The row as `--help` shows it.
    var argumentHelp: ArgumentHelp {
        let variable = row.kind == .list ? "\(variable), separated by commas" : variable
        let text = "\(row.help) (\(variable); default: \(row.defaultText.filter { $0 != "`" }))."
        return ArgumentHelp("\([text, row.note].compactMap { $0 }.joined(separator: " "))", valueName: row.value)
    }
}
