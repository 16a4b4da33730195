/// Checks the elements of a push against the account's quota (protocol.md, Quota).
struct MergeQuota {
    /// The account's storage use; nil if no element needs to be checked.
    private let storageUse: Merge.StorageUse?
    /// The total size of the parcels that this push has added so far, in bytes. It is counted only if ``storageUse`` is not
    /// nil.
    private var pushBytes: Int64 = 0

    init(_ storageUse: Merge.StorageUse?) { self.storageUse = storageUse }

    /// The problem if storing a change would exceed the quota; nil if the change may be stored. A change that makes no value
    /// longer is always accepted. A change that was already stored is always accepted too, because it needs no space.
    func refusal(of edits: [Edit], of entity: Entity, _ change: Change, in draft: ScopeDraft) throws -> Problem? {
        guard let storageUse else { return nil }
        func isNew(_ edit: Edit) throws -> Bool {
            if let clock = edit.clock {
                let current = entity.register(edit.attribute)
                return try draft.lookUp(edit, clock, of: entity.uniqueID, current: current) == .absent
            }
            var entity = entity
            return entity.fold(edit)
        }
        guard try edits.contains(where: { try $0.isLonger(than: entity) && isNew($0) }) else { return nil }
        let used = storageUse.used + pushBytes
        guard used + Int64(ParcelBody.write(try edits.filter(isNew)).count) > storageUse.limit else { return nil }
        return .quotaExceeded(used: used, limit: storageUse.limit, at: change.pointer)
    }

    /// Counts the sizes of added parcels. Parcels that the server made are skipped here. They count as stored bytes when the next
    /// push is checked.
    mutating func count(_ parcels: ArraySlice<Parcel>) {
        guard storageUse != nil else { return }
        for parcel in parcels where !parcel.isServerMade && !parcel.edits.isEmpty {
            pushBytes += Int64(ParcelBody.write(parcel.edits).count)
        }
    }
}

extension Edit {
    /// Whether the edit makes a text, or a string attribute of an app, longer than it is now.
    fileprivate func isLonger(than entity: Entity) -> Bool {
        switch attribute {
        case .field(.text), .custom, .namedText: value.textBytes > (entity.register(attribute)?.value).textBytes
        // Values of other fields and of members are always short.
        case .field, .tag, .attachment, .file: false
        }
    }
}

extension Value? {
    fileprivate var textBytes: Int {
        if case .string(let text)? = self { text.utf8.count } else { 0 }
    }
}

extension Problem {
    /// The problem that the account's storage is full.
    /// - Parameter used: the number of bytes that are already stored.
    public static func quotaExceeded(used: Int64, limit: Int64, at pointer: String? = nil) -> Problem {
        Problem(
            .quotaExceeded, "The account's storage is full: \(used) of \(limit) bytes are used.", at: pointer,
            context: ["limit": .integer(limit), "used": .integer(used)])
    }
}
