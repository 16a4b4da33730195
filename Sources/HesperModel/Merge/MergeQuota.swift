/// What a push may store while the account is at its quota (protocol.md, Quota).
struct MergeQuota {
    /// Nil if no element needs to be judged.
    private let room: Merge.StorageUse?
    /// How many bytes the parcels have that were taken from the push so far; counted only with ``room``.
    private var bytesOfPush: Int64 = 0

    init(_ room: Merge.StorageUse?) { self.room = room }

    /// Why a change cannot be stored; nil if it can. What makes nothing longer always can, and so can a change that is sent
    /// again: it stores nothing.
    func refusal(of edits: [Edit], of entity: Entity, _ change: Change, in draft: ScopeDraft) throws -> Problem? {
        guard let room else { return nil }
        func isNew(_ edit: Edit) throws -> Bool {
            if let clock = edit.clock {
                let standing = entity.register(edit.attribute)
                return try draft.known(edit, clock, of: entity.uniqueID, standing: standing) == .unknown
            }
            var entity = entity
            return entity.fold(edit)
        }
        guard try edits.contains(where: { try $0.isLonger(than: entity) && isNew($0) }) else { return nil }
        let used = room.used + bytesOfPush
        guard used + Int64(ParcelBody.write(try edits.filter(isNew)).count) > room.limit else { return nil }
        return .quotaExceeded(used: used, limit: room.limit, at: change.pointer)
    }

    /// Counts parcels that were added; the server's own only count for the next push.
    mutating func count(_ parcels: ArraySlice<Parcel>) {
        guard room != nil else { return }
        for parcel in parcels where !parcel.isServerMade && !parcel.edits.isEmpty {
            bytesOfPush += Int64(ParcelBody.write(parcel.edits).count)
        }
    }
}

extension Edit {
    /// Whether it gives an object a longer text, or an attribute of an app's own a longer string, than it has.
    fileprivate func isLonger(than entity: Entity) -> Bool {
        switch attribute {
        case .field(.text), .custom: value.textBytes > (entity.register(attribute)?.value).textBytes
        // No other field is long, and no member is.
        case .field, .tag, .attachment: false
        }
    }
}

extension Value? {
    fileprivate var textBytes: Int {
        if case .string(let text)? = self { text.utf8.count } else { 0 }
    }
}

extension Problem {
    /// - Parameter used: how many bytes are stored already.
    public static func quotaExceeded(used: Int64, limit: Int64, at pointer: String? = nil) -> Problem {
        Problem(
            .quotaExceeded, "The account's storage is full: \(used) of \(limit) bytes are used.", at: pointer,
            context: ["limit": .integer(limit), "used": .integer(used)])
    }
}
