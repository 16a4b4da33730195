/// The tags or attachments of a note: one register per member. A register is true if the note has the member, and false if the
/// member was removed (merge.md, Edits).
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

    /// The members whose own register is true, sorted by clock. A merged tag is listed with its own ID, not with the ID of the
    /// tag that it was merged into.
    public var raw: [UniqueID] { Members.listed(registers) }

    /// The live tags or attachments of the note, as shown to users. A tag that was merged is replaced by the tag into which it
    /// was merged. If several registers then refer to the same object, the register with the greatest clock counts (merge.md,
    /// Membership).
    ///
    /// - Parameter resolve: receives the ID of a member. Returns this ID if the member is live. If the member was merged into a
    ///   live object, returns the ID of that object. Otherwise, returns nil.
    public func resolved(_ resolve: (UniqueID) throws -> UniqueID?) rethrows -> [UniqueID] {
        var live: [UniqueID: Register<Bool>] = [:]
        for (member, register) in registers {
            guard let target = try resolve(member) else { continue }
            guard let current = live[target] else {
                live[target] = register
                continue
            }
            // Registers of two members may have the same clock. In that case true takes precedence over false.
            if (current.clock, current.value ? 1 : 0) < (register.clock, register.value ? 1 : 0) {
                live[target] = register
            }
        }
        return Members.listed(live)
    }

    /// The members whose register is true, sorted by clock and then by ID, so that the order is the same on every device.
    private static func listed(_ registers: [UniqueID: Register<Bool>]) -> [UniqueID] {
        // Most objects have no members. For these, this check avoids the work below.
        guard !registers.isEmpty else { return [] }
        return registers.filter(\.value.value)
            .sorted { ($0.value.clock, $0.key) < ($1.value.clock, $1.key) }.map(\.key)
    }

    /// The members and their registers, sorted by ID, like the lines of a digest.
    var sorted: [(id: UniqueID, register: Register<Bool>)] {
        registers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
