internal import HesperModel

/// The columns of an object's row. `body` has the visible values in the form that queries read, one member for each attribute:
/// `{"attributes.title": "Soup", "creationDate": "…"}`. `clocks` has the clocks of the visible registers. `pending` has the unsent
/// changes (`made` and `edits`), and the acknowledged values of the same attributes; it is nil for an object without unsent
/// changes. If the app sees the value of an edit, the value is in `body` and is left out of `pending`, so that a long text is
/// stored only once.
struct ObjectColumns {
    var body: String
    var clocks: String
    var pending: String?
}

extension LocalObject {
    var columns: ObjectColumns {
        let visible = visible.sorted { $0.key < $1.key }
        return ObjectColumns(
            body: JSON.text { writer in
                for (name, value) in visibleFixed.sorted(by: { $0.key < $1.key }) { writer.member(name, value.json) }
                for (attribute, cell) in visible { writer.member(attribute, cell.value.json) }
            },
            clocks: JSON.text { writer in
                for (attribute, cell) in visible { writer.member(attribute, cell.clock) }
            },
            pending: isPending ? JSON.text(writePending) : nil)
    }

    private func writePending(_ writer: inout JSONWriter) {
        if let made {
            LocalObject.write(made.fixed, "made", &writer)
            if made.needsBytes { writer.member("needsBytes", true) }
            if made.isHeld { writer.member("held", true) }
            if !fixed.isEmpty { LocalObject.write(fixed, "fixed", &writer) }
        }
        let edits = edits.sorted { $0.key < $1.key }
        writer.name("edits")
        writer.object { writer in
            for (attribute, edit) in edits {
                writer.name(attribute)
                writer.object { writer in
                    edit.write(to: &writer, isVisible: isVisible(edit, attribute), below: registers[attribute])
                }
            }
        }
        let below = edits.compactMap { attribute, _ in registers[attribute].map { (attribute, $0) } }
        guard !below.isEmpty else { return }
        writer.name("acknowledged")
        writer.object { writer in
            for (attribute, cell) in below { writer.member(attribute, cell.json) }
        }
    }

    private static func write(_ values: [String: Value], _ name: String, _ writer: inout JSONWriter) {
        writer.name(name)
        writer.object { writer in
            for (name, value) in values.sorted(by: { $0.key < $1.key }) { writer.member(name, value.json) }
        }
    }

    private static func values(_ json: JSON?) -> [String: Value] {
        var values: [String: Value] = [:]
        for member in json?.members ?? [] { values[member.name] = Value(scalar: member.value) }
        return values
    }

    /// Reads an object from its row.
    init(id: UniqueID, type: String, _ columns: ObjectColumns) throws(Problem) {
        self.init(id: id, type: type)
        let clocks = try JSON(text: columns.clocks)
        var clockOf: [String: Clock] = [:]
        for member in clocks.members { clockOf[member.name] = member.value.clock }
        for member in try JSON(text: columns.body).members {
            guard let value = Value(scalar: member.value) else { continue }
            if let clock = clockOf[member.name] {
                registers[member.name] = Cell(value, at: clock)
            } else {
                fixed[member.name] = value
            }
        }
        guard let text = columns.pending else { return }
        let pending = try JSON(text: text)
        if let made = pending["made"] {
            self.made = Made(fixed: LocalObject.values(made), needsBytes: pending["needsBytes"]?.bool ?? false)
            self.made?.isHeld = pending["held"]?.bool ?? false
            fixed = LocalObject.values(pending["fixed"])
        }
        let below = pending["acknowledged"]
        for member in pending["edits"]?.members ?? [] {
            let visible = registers[member.name]
            registers[member.name] = below?[member.name].flatMap(Cell.init(json:))
            edits[member.name] = LocalEdit(json: member.value, visible: visible, below: registers[member.name])
        }
    }
}
