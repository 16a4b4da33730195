import Configuration

/// Looks settings up: flags first, then variables, then the file. Whoever reads a value also learns where it is from.
struct SettingReader {
    let sources: [SettingSource]

    /// What was set, and where.
    struct Found<Value> {
        let value: Value
        /// As an operator knows it: `HESPER_PORT`.
        let place: String

        func wrong(_ why: String) -> Failure { Failure("\(place): \(why)", .settings) }
    }

    func string(_ setting: Setting) throws -> Found<String>? {
        guard let found = try content(setting, .string, "a string") else { return nil }
        guard case .string(let text) = found.value, !text.isEmpty else { throw found.wrong("it is empty.") }
        return Found(value: text, place: found.place)
    }

    func strings(_ setting: Setting) throws -> Found<[String]>? {
        guard let found = try content(setting, .stringArray, "a list of strings") else { return nil }
        guard case .stringArray(let texts) = found.value else { throw found.wrong("a list of strings is wanted.") }
        return Found(value: texts, place: found.place)
    }

    /// Of a setting whose kind is ``SettingKind/integer(_:noun:)``.
    func integer(_ setting: Setting) throws -> Found<Int>? {
        guard case .integer(let range, let what) = setting.row.kind else {
            preconditionFailure("\(setting) has no number")
        }
        let wanted = "\(what) from \(range.lowerBound) to \(range.upperBound)"
        guard let found = try content(setting, .int, wanted) else { return nil }
        guard case .int(let number) = found.value else { throw found.wrong("\(wanted) is wanted.") }
        guard range.contains(number) else { throw found.wrong("\(wanted) is wanted, not \(number).") }
        return Found(value: number, place: found.place)
    }

    /// One of a few words.
    func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ setting: Setting, of type: Choice.Type = Choice.self
    ) throws -> Found<Choice>? {
        guard let found = try string(setting) else { return nil }
        guard let choice = Choice(rawValue: found.value) else {
            let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw found.wrong("one of \(choices) is wanted, not \"\(found.value)\".")
        }
        return Found(value: choice, place: found.place)
    }

    /// The first that is set.
    private func content(_ setting: Setting, _ type: ConfigType, _ wanted: String) throws -> Found<ConfigContent>? {
        for source in sources {
            let (key, place) = (source.key(setting), source.name(setting))
            do {
                guard let value = try source.values.value(forKey: key, type: type).value else { continue }
                return Found(value: value.content, place: place)
            } catch {
                let text = try? source.values.value(forKey: key, type: .string).value?.content
                guard case .string(let text)? = text else { throw Failure("\(place): \(wanted) is wanted.", .settings) }
                throw Failure("\(place): \(wanted) is wanted, not \"\(text)\".", .settings)
            }
        }
        return nil
    }
}
