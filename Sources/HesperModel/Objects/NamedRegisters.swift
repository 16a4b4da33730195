/// Registers whose names an app chose. In JSON, they are the `attributes`, `texts` or `files` of an object.
public struct NamedRegisters: Sendable, Equatable {
    public private(set) var registers: [String: Register<Value>] = [:]

    public init() {}

    public var count: Int { registers.count }

    public subscript(name: String) -> Register<Value>? { registers[name] }

    @discardableResult
    mutating func fold(_ name: String, _ value: Value, at clock: Clock) -> Bool {
        if registers[name] == nil {
            registers[name] = Register(value, at: clock)
            return true
        }
        return registers[name]?.fold(value, at: clock) ?? false
    }

    /// The registers, sorted by the bytes of their names, like the lines of a digest.
    var sorted: [(name: String, register: Register<Value>)] {
        registers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension JSONWriter {
    mutating func member(_ name: String, valuesOf registers: NamedRegisters) {
        self.name(name)
        object { writer in
            for (name, register) in registers.sorted { writer.member(name, register.value) }
        }
    }

    mutating func member(_ name: String, clocksOf registers: NamedRegisters) {
        self.name(name)
        object { writer in
            for (name, register) in registers.sorted { writer.member(name, register.clock) }
        }
    }
}
