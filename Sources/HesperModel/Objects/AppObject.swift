/// An app's own object: a type and attributes that the app made up. The server need not know what it is.
public struct AppObject: Sendable, Equatable {
    public let uniqueID: UniqueID
    /// Nil while only attributes of it are known: it waits and is shown to nobody.
    public private(set) var objectType: ObjectType?
    public private(set) var attributes = CustomAttributes()

    public init(uniqueID: UniqueID) { self.uniqueID = uniqueID }

    mutating func fold(_ edit: Edit) -> Bool {
        switch (edit.attribute, edit.value, edit.clock) {
        case (.objectType, .string(let name)?, _):
            // A second type is refused when it is pushed; of two in one bag the lesser name stands, whatever came first.
            guard let type = ObjectType(name), objectType.map({ type.name < $0.name }) ?? true else { return false }
            objectType = type
            return true
        case (.custom(let name), let value?, let clock?): return attributes.fold(name, value, at: clock)
        default: return false
        }
    }

    func register(_ attribute: Attribute) -> Register<Value>? {
        if case .custom(let name) = attribute { attributes[name] } else { nil }
    }

    func forEachRegister(_ body: (Attribute, Clock) -> Void) {
        for (name, register) in attributes.sorted { body(.custom(name), register.clock) }
    }

    func writeState(to writer: inout JSONWriter) {
        writer.object { writer in
            writePlain(to: &writer)
            writer.name("clocks")
            writer.object { attributes.writeClocks(to: &$0) }
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
        if let objectType { writer.member("objectType", objectType.name) }
        attributes.write(to: &writer)
    }
}
