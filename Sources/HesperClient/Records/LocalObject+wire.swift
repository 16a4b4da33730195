package import HesperModel

/// The form of objects in pages, pushes and events (protocol.md, Two forms).
extension LocalObject {
    /// Reads an object that the server sent; nil if it has no valid ID, or if an app object has no type.
    /// - Parameter section: the list of the page that contains the object, such as `notes`.
    package init?(section: String, state: JSON) {
        guard let id = state["uniqueID"]?.id else { return nil }
        let type = section == "objects" ? state["objectType"]?.string ?? "" : String(section.dropLast())
        guard !type.isEmpty else { return nil }
        self.init(id: id, type: type)
        let names = type == TypeName.attachment ? AttributeName.ofAttachments : [AttributeName.creationDate]
        for name in names { fixed[name] = state[name].flatMap(Value.init(scalar:)) }
        for member in state["clocks"]?.members ?? [] {
            let name = member.name
            if let clock = member.value.clock {
                registers[name] = state[name].flatMap(Value.init(scalar:)).map { Cell($0, at: clock) }
                continue
            }
            let members =
                AttributeName.members.contains(name) ? Set(state[name]?.elements.compactMap(\.string) ?? []) : nil
            for entry in member.value.members {
                guard let clock = entry.value.clock else { continue }
                let value =
                    members.map { .bool($0.contains(entry.name)) }
                    ?? state[name]?[entry.name].flatMap(Value.init(scalar:))
                registers["\(name).\(entry.name)"] = value.map { Cell($0, at: clock) }
            }
        }
    }

    /// The JSON element of a push that sets some fields of an object.
    /// - Parameters:
    ///   - fixed: fields that are set once.
    ///   - cells: registers.
    static func change(id: UniqueID, type: String, fixed: [String: Value], cells: [String: Cell]) -> JSON {
        var members: [(String, JSON)] = [("uniqueID", .string(id.description))]
        if TypeName.section(of: type) == "objects" { members.append(("objectType", .string(type))) }
        members += fixed.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) }
        var values: [(String, JSON)] = []
        var clocks: [(String, JSON)] = []
        var sections: [String: [(key: String, cell: Cell)]] = [:]
        for (attribute, cell) in cells.sorted(by: { $0.key < $1.key }) {
            let (section, key) = AttributeName.split(attribute)
            if let key {
                sections[section, default: []].append((key, cell))
            } else {
                values.append((attribute, cell.value.json))
                clocks.append((attribute, .string(cell.clock.description)))
            }
        }
        for (section, entries) in sections.sorted(by: { $0.key < $1.key }) {
            clocks.append(
                (section, .object(JSONObject(entries.map { ($0.key, .string($0.cell.clock.description)) }))))
            if AttributeName.members.contains(section) {
                let inside = entries.filter { $0.cell.value == .bool(true) }
                values.append((section, .array(inside.map { .string($0.key) })))
            } else {
                values.append((section, .object(JSONObject(entries.map { ($0.key, $0.cell.value.json) }))))
            }
        }
        members += values
        if !clocks.isEmpty { members.append(("clocks", .object(JSONObject(clocks)))) }
        return .object(JSONObject(members))
    }
}
