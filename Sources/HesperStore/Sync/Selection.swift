import HesperModel

/// The objects and DeletedObjects that a feed contains, by their types.
public struct Selection: Sendable, Equatable, Hashable {
    /// The names of the selected types. ``appObjects`` stands for all app-defined types. Nil for all types.
    public let types: Set<String>?
    /// Whether live objects are included.
    public let hasObjects: Bool

    /// The name that stands for all app-defined types.
    public static let appObjects = "*"

    private init(types: Set<String>?, hasObjects: Bool = true) {
        self.types = types
        self.hasObjects = hasObjects
    }

    /// All types, as in the feeds `/v1/sync` and `/v1/changes`.
    public static let all = Selection(types: nil)
    public static let notes = Selection(types: ["note"])
    public static let tags = Selection(types: ["tag"])
    public static let attachments = Selection(types: ["attachment"])
    /// All objects of app-defined types.
    public static let objects = Selection(types: [appObjects])
    /// Only DeletedObjects, of all types.
    public static let deletedObjects = Selection(types: nil, hasObjects: false)

    public static func types(_ names: Set<ObjectType>) -> Selection { Selection(types: Set(names.map(\.name))) }

    /// Whether live notes are included.
    public var hasNotes: Bool { hasObjects && types?.contains("note") ?? true }

    /// The types whose DeletedObjects are included; nil for all types. A feed of notes also includes the DeletedObjects of tags
    /// and attachments (protocol.md, Resources).
    public var deletedTypes: Set<String>? {
        guard let types else { return nil }
        return types.contains("note") ? types.union(["tag", "attachment"]) : types
    }

    /// The text from which the fingerprint in sync tokens is computed. Equal selections have equal names.
    public var name: String {
        let kinds = types.map { $0.sorted().joined(separator: ",") } ?? "all"
        return hasObjects ? kinds : "deleted"
    }
}
