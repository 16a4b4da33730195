/// A tag. Its identity is its `uniqueID`; its name is unique within a scope under ``TagName/fold(_:)`` (merge.md, Tags).
public struct Tag: Sendable, Equatable {
    public let uniqueID: UniqueID
    @Merged public var name = ""
    public private(set) var attributes = CustomAttributes()

    public init(uniqueID: UniqueID) { self.uniqueID = uniqueID }

    /// Whether its name is known: a tag without one waits and is shown to nobody.
    public var exists: Bool { $name.clock != nil }

    mutating func fold(_ edit: Edit) -> Bool {
        switch (edit.attribute, edit.value, edit.clock) {
        case (.name, .string(let name)?, let clock?): $name.fold(name, at: clock)
        case (.custom(let name), let value?, let clock?): attributes.fold(name, value, at: clock)
        default: false
        }
    }

    func register(_ attribute: Attribute) -> Register<Value>? {
        switch attribute {
        case .name: $name.clock.map { Register(.string(name), at: $0) }
        case .custom(let name): attributes[name]
        default: nil
        }
    }

    func forEachRegister(_ body: (Attribute, Clock) -> Void) {
        for (name, register) in attributes.sorted { body(.custom(name), register.clock) }
        if let clock = $name.clock { body(.name, clock) }
    }

    func writeState(to writer: inout JSONWriter) {
        writer.object { writer in
            writePlain(to: &writer)
            writer.name("clocks")
            writer.object { writer in
                if let clock = $name.clock { writer.member("name", clock) }
                attributes.writeClocks(to: &writer)
            }
        }
    }

    /// For readers that keep no clocks.
    public var plain: [UInt8] {
        var writer = JSONWriter(capacity: 200)
        writer.object { writePlain(to: &$0) }
        return writer.bytes
    }

    private func writePlain(to writer: inout JSONWriter) {
        writer.member("uniqueID", uniqueID)
        if exists { writer.member("name", name) }
        attributes.write(to: &writer)
    }
}
