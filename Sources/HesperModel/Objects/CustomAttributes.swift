/// The attributes that apps define, by name: `attributes` in JSON. The server stores and merges them without interpreting them.
public struct CustomAttributes: Sendable, Equatable {
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

    /// The attributes, sorted by the bytes of their names, like the lines of a digest.
    var sorted: [(name: String, register: Register<Value>)] {
        registers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    func write(to writer: inout JSONWriter) {
        writer.name("attributes")
        writer.object { writer in
            for (name, register) in sorted { writer.member(name, register.value) }
        }
    }

    func writeClocks(to writer: inout JSONWriter) {
        writer.name("attributes")
        writer.object { writer in
            for (name, register) in sorted { writer.member(name, register.clock) }
        }
    }
}
