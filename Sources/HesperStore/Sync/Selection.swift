import HesperModel

/// Which kinds of objects a feed carries, and which of their DeletedObjects.
public struct Selection: Sendable, Equatable, Hashable {
    /// Nil for all types; else the types by name, and ``appObjects`` for all that apps made up.
    public let types: Set<String>?
    /// Whether live objects are sent at all.
    public let hasObjects: Bool

    /// Stands for every type that an app made up.
    public static let appObjects = "*"

    private init(types: Set<String>?, hasObjects: Bool = true) {
        self.types = types
        self.hasObjects = hasObjects
    }

    /// Everything: what sync and changes carry.
    public static let all = Selection(types: nil)
    public static let notes = Selection(types: ["note"])
    public static let tags = Selection(types: ["tag"])
    public static let attachments = Selection(types: ["attachment"])
    /// All objects of types that apps made up.
    public static let objects = Selection(types: [appObjects])
    /// DeletedObjects of every type, and nothing else.
    public static let deletedObjects = Selection(types: nil, hasObjects: false)

    /// Objects of these types.
    public static func types(_ names: Set<ObjectType>) -> Selection { Selection(types: Set(names.map(\.name))) }

    /// Whether live notes are among what is sent.
    public var hasNotes: Bool { hasObjects && types?.contains("note") ?? true }

    /// The types whose DeletedObjects a reader needs: of notes, also those of what they hold (protocol.md, Resources).
    public var deletedTypes: Set<String>? {
        guard let types else { return nil }
        return types.contains("note") ? types.union(["tag", "attachment"]) : types
    }

    /// A name that is the same for equal selections, for tokens.
    public var name: String {
        let kinds = types.map { $0.sorted().joined(separator: ",") } ?? "all"
        return hasObjects ? kinds : "deleted"
    }
}
