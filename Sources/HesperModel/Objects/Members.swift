/// Which tags, or which attachments, a note has: one register a member, true for in, false for out (merge.md, Edits).
public struct Members: Sendable, Equatable {
    public private(set) var registers: [UniqueID: Register<Bool>] = [:]

    public init() {}

    public var count: Int { registers.count }

    public subscript(member: UniqueID) -> Register<Bool>? { registers[member] }

    @discardableResult
    mutating func fold(_ member: UniqueID, _ isIn: Bool, at clock: Clock) -> Bool {
        if registers[member] == nil {
            registers[member] = Register(isIn, at: clock)
            return true
        }
        return registers[member]?.fold(isIn, at: clock) ?? false
    }

    /// Those whose own register says in, in the order of their clocks.
    public var raw: [UniqueID] { Members.listed(registers) }

    /// The live objects that are in, for a reader: dead members followed through `mergedInto`, the greatest clock of all
    /// registers that lead to one object deciding, in the order of these clocks (merge.md, Membership).
    ///
    /// - Parameter resolve: the live object that an ID leads to; nil for the dead and the unknown.
    public func resolved(_ resolve: (UniqueID) throws -> UniqueID?) rethrows -> [UniqueID] {
        var live: [UniqueID: Register<Bool>] = [:]
        for (member, register) in registers {
            guard let target = try resolve(member) else { continue }
            guard let standing = live[target] else {
                live[target] = register
                continue
            }
            // Two registers may have one clock, as they are two attributes: then in stands.
            if (standing.clock, standing.value ? 1 : 0) < (register.clock, register.value ? 1 : 0) {
                live[target] = register
            }
        }
        return Members.listed(live)
    }

    /// Those that are in, by clock; of one clock, by ID: the list is the same on every device and in every run.
    private static func listed(_ registers: [UniqueID: Register<Bool>]) -> [UniqueID] {
        // Most objects have none.
        guard !registers.isEmpty else { return [] }
        return registers.filter(\.value.value)
            .sorted { ($0.value.clock, $0.key) < ($1.value.clock, $1.key) }.map(\.key)
    }

    /// By ID: the order of the lines of a digest.
    var sorted: [(id: UniqueID, register: Register<Bool>)] {
        registers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
