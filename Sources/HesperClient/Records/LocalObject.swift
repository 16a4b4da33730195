package import HesperModel

/// An object of the local copy: the values that the server acknowledged or sent, and the edits that are not acknowledged yet.
///
/// Attributes are named as in receipts and digests: `text`, `tags.<ID>`, `attributes.title`. Registers of sections that this
/// version does not know are kept in the same way, as `<section>.<name>`.
package struct LocalObject: Sendable, Equatable {
    package let id: UniqueID
    package var type: String
    /// The acknowledged fields that are set once: the creation date of a note, all fields of an attachment.
    package var fixed: [String: Value] = [:]
    /// The acknowledged registers, by attribute.
    package var registers: [String: Cell] = [:]
    /// The state of an object whose existence the server has not acknowledged; nil for all other objects.
    package var made: Made?
    /// The unsent edits, by attribute.
    package var edits: [String: LocalEdit] = [:]

    /// The state of an object whose existence the server has not acknowledged.
    package struct Made: Sendable, Equatable {
        package var fixed: [String: Value] = [:]
        /// For an attachment: whether its bytes must be uploaded before it is pushed.
        package var needsBytes = false
        /// Whether the object waits because the account is full.
        package var isHeld = false

        package init(fixed: [String: Value] = [:], needsBytes: Bool = false) {
            self.fixed = fixed
            self.needsBytes = needsBytes
        }
    }

    package init(id: UniqueID, type: String) {
        self.id = id
        self.type = type
    }

    /// The names of the object's texts, sorted by name.
    package var texts: [String] {
        Set(registers.keys).union(edits.keys).filter(AttributeName.isText).sorted()
    }

    /// The unsent texts, by attribute.
    package var unsentTexts: [String: LocalEdit] { edits.filter { AttributeName.isText($0.key) } }

    package var isPending: Bool { made != nil || !edits.isEmpty }
    /// Whether the object or one of its edits waits because the account is full.
    package var isHeld: Bool { made?.isHeld == true || edits.values.contains(where: \.isHeld) }

    // MARK: The visible values

    /// The register as the app sees it: the acknowledged or the unsent one, whichever has the greater clock. An unsent
    /// text is visible even if the acknowledged text has a greater clock, because the server merges both (clients.md,
    /// rule 3).
    package func cell(_ attribute: String) -> Cell? {
        guard let edit = edits[attribute], isVisible(edit, attribute) else { return registers[attribute] }
        return edit.cell
    }

    /// Whether the app sees an unsent edit, rather than the acknowledged value.
    func isVisible(_ edit: LocalEdit, _ attribute: String) -> Bool {
        guard !AttributeName.isText(attribute), let acknowledged = registers[attribute] else { return true }
        return acknowledged.clock < edit.clock
    }

    package func value(_ attribute: String) -> Value? { cell(attribute)?.value ?? visibleFixed(attribute) }

    /// All registers as the app sees them.
    package var visible: [String: Cell] {
        guard !edits.isEmpty else { return registers }
        guard !registers.isEmpty else { return edits.mapValues(\.cell) }
        var visible = registers
        for attribute in edits.keys { visible[attribute] = cell(attribute) }
        return visible
    }

    /// The fields that are set once, as the app sees them.
    package var visibleFixed: [String: Value] {
        guard let made else { return fixed }
        return made.fixed.merging(fixed) { LocalObject.earlier($0, $1) }
    }

    private func visibleFixed(_ name: String) -> Value? {
        guard let value = made?.fixed[name] else { return fixed[name] }
        return fixed[name].map { LocalObject.earlier($0, value) } ?? value
    }

    /// Whether the field that the type requires is set. Without this field, the app does not see the object (merge.md, Edits).
    package var exists: Bool {
        LocalObject.exists(type, isFixed: { visibleFixed($0) != nil }, isSet: { cell($0) != nil })
    }

    // MARK: Acknowledged values

    /// Whether the server has acknowledged or sent this object.
    package var isAcknowledged: Bool {
        LocalObject.exists(type, isFixed: { fixed[$0] != nil }, isSet: { registers[$0] != nil })
            && !(fixed.isEmpty && registers.isEmpty && made != nil)
    }

    private static func exists(_ type: String, isFixed: (String) -> Bool, isSet: (String) -> Bool) -> Bool {
        switch type {
        case TypeName.note: isFixed(AttributeName.creationDate)
        case TypeName.tag: isSet(AttributeName.name)
        case TypeName.attachment: isFixed(AttributeName.mimeType)
        default: true
        }
    }

    /// Folds values that the server acknowledged or sent into this object. A register keeps the value with the greater clock. The
    /// creation date keeps the earlier date (merge.md, The fold).
    /// - Returns: whether anything changed.
    @discardableResult
    package mutating func fold(fixed: [String: Value], registers: [String: Cell]) -> Bool {
        var hasChanged = false
        for (name, value) in fixed {
            let standing = self.fixed[name]
            let folded =
                standing.map { name == AttributeName.creationDate ? LocalObject.earlier($0, value) : $0 } ?? value
            if folded != standing {
                self.fixed[name] = folded
                hasChanged = true
            }
        }
        for (attribute, cell) in registers where self.registers[attribute].map({ $0.clock < cell.clock }) ?? true {
            self.registers[attribute] = cell
            hasChanged = true
        }
        return hasChanged
    }

    private static func earlier(_ one: Value, _ other: Value) -> Value {
        guard case .string(let date) = one, case .string(let otherDate) = other else { return one }
        return otherDate < date ? other : one
    }

    /// The object's part of the digest of the local copy (merge.md, The digest): zero unless the server has acknowledged the object.
    package var digest: Digest {
        guard isAcknowledged else { return .zero }
        var lines = "\(type)\n\(id)\n"
        for attribute in registers.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            if let cell = registers[attribute] { lines += "\(attribute)=\(cell.clock)\n" }
        }
        for name in [AttributeName.creationDate, AttributeName.sha256] {
            if case .string(let value)? = fixed[name] { lines += "\(name)=\(value)\n" }
        }
        return Digest(of: Array(lines.utf8))
    }
}
