import HesperModel

/// The types of live objects, and the types of DeletedObjects, that a scan reads.
public struct ScanFilter: Sendable, Equatable {
    public enum Types: Sendable, Equatable {
        case none
        case all
        case allButTags
        /// The types with these names, in ascending order. If `withAppObjects` is true, all app-defined types are included too.
        case some([String], withAppObjects: Bool)
    }

    public let objects: Types
    public let deleted: Types

    public init(_ scan: Scan) {
        let selection = scan.selection
        switch (scan.rows, selection.types) {
        case _ where !selection.hasObjects: objects = .none
        case (.tagsOnly, let types): objects = ScanFilter.named(types?.contains("tag") ?? true ? ["tag"] : [])
        case (.withoutTags, nil): objects = .allButTags
        case (.all, nil): objects = .all
        case (.withoutTags, let types?): objects = ScanFilter.named(types.subtracting(["tag"]))
        case (.all, let types?): objects = ScanFilter.named(types)
        }
        switch (scan.rows, selection.deletedTypes) {
        case (.tagsOnly, _): deleted = .none
        case (_, nil): deleted = .all
        case (_, let types?): deleted = ScanFilter.named(types)
        }
    }

    /// Returns the types with these names. If all app-defined types are included, they are not listed individually.
    private static func named(_ names: Set<String>) -> Types {
        guard !names.isEmpty else { return .none }
        guard names.contains(Selection.appObjects) else { return .some(names.sorted(), withAppObjects: false) }
        let own = names.filter { ObjectType($0).map { !$0.isAppDefined } ?? false }
        return .some(own.sorted(), withAppObjects: true)
    }
}
