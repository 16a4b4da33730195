import Configuration

/// Reads settings. Options take precedence over variables, and variables over the settings file. Each value is returned with its
/// location, for error messages.
struct SettingReader {
    let sources: [SettingSource]

    /// A value, and the place where it was set.
    struct LocatedValue<Value> {
        let value: Value
        /// The name that operators use for the place where the value was set, for example `HESPER_PORT`.
        let location: String

        func failure(_ reason: String) -> Failure { Failure("\(location): \(reason)", .settings) }
    }

    func string(_ setting: Setting) throws -> LocatedValue<String>? {
        guard let found = try content(setting, .string, "a string") else { return nil }
        guard case .string(let text) = found.value, !text.isEmpty else { throw found.failure("must not be empty.") }
        return LocatedValue(value: text, location: found.location)
    }

    func strings(_ setting: Setting) throws -> LocatedValue<[String]>? {
        guard let found = try content(setting, .stringArray, "a list of strings") else { return nil }
        guard case .stringArray(let texts) = found.value else { throw found.failure("must be a list of strings.") }
        return LocatedValue(value: texts, location: found.location)
    }

    /// Reads a setting of the kind ``SettingKind/integer(_:noun:)``.
    func integer(_ setting: Setting) throws -> LocatedValue<Int>? {
        guard case .integer(let range, let noun) = setting.row.kind else {
            preconditionFailure("\(setting) is not a setting of the kind integer")
        }
        let form = "\(noun) from \(range.lowerBound) to \(range.upperBound)"
        guard let found = try content(setting, .int, form) else { return nil }
        guard case .int(let number) = found.value else { throw found.failure("must be \(form).") }
        guard range.contains(number) else { throw found.failure("must be \(form), not \(number).") }
        return LocatedValue(value: number, location: found.location)
    }

    /// Reads a setting that allows only a fixed set of values.
    func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ setting: Setting, of type: Choice.Type = Choice.self
    ) throws -> LocatedValue<Choice>? {
        guard let found = try string(setting) else { return nil }
        guard let choice = Choice(rawValue: found.value) else {
            let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw found.failure("must be one of \(choices), not \"\(found.value)\".")
        }
        return LocatedValue(value: choice, location: found.location)
    }

    /// Returns the value from the first source that has the setting; nil if no source has it.
    private func content(_ setting: Setting, _ type: ConfigType, _ form: String) throws -> LocatedValue<ConfigContent>?
    {
        for source in sources {
            let (key, location) = (source.key(setting), source.name(setting))
            do {
                guard let value = try source.values.value(forKey: key, type: type).value else { continue }
                return LocatedValue(value: value.content, location: location)
            } catch {
                let text = try? source.values.value(forKey: key, type: .string).value?.content
                guard case .string(let text)? = text else {
                    throw Failure("\(location): must be \(form).", .settings)
                }
                throw Failure("\(location): must be \(form), not \"\(text)\".", .settings)
            }
        }
        return nil
    }
}
