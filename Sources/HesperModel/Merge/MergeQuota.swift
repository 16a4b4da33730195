/// What a push may store while the account is at its quota (protocol.md, Quota).
extension Merge {
    /// How many bytes an account stores before the push, and how many it may.
    public struct Room: Sendable, Equatable {
        public let used: Int64
        public let limit: Int64

        public init(used: Int64, limit: Int64) {
            self.used = used
            self.limit = limit
        }

        /// Whether a push fits, without looking at what it changes: then none of its elements needs to be judged.
        public func fits(_ push: Push) -> Bool { Int64(push.greatestBytes) <= limit - used }
    }

    /// Why a change cannot be stored; nil if it can. What makes nothing longer always can, and so can a change that is sent
    /// again: it stores nothing.
    func overQuota(_ edits: [Edit], of entity: Entity, _ change: Change) throws -> Problem? {
        guard let room = context.room else { return nil }
        let isGrowing = try edits.contains { try $0.isLonger(than: entity) && isNew($0, in: entity) }
        guard isGrowing else { return nil }
        let new = try edits.filter { try isNew($0, in: entity) }
        let used = room.used + bytesOfPush
        guard used + Int64(ParcelBody.write(new).count) > room.limit else { return nil }
        return .quotaExceeded(used: used, limit: room.limit, at: change.pointer)
    }

    private func isNew(_ edit: Edit, in entity: Entity) throws -> Bool {
        if let clock = edit.clock {
            return try known(edit, clock, of: entity.uniqueID, standing: entity.register(edit.attribute)) == .unknown
        }
        var entity = entity
        return entity.fold(edit)
    }

    /// Counts the parcels that were added since there were `count`; the server's own only count for the next push.
    mutating func countBytes(ofParcelsFrom count: Int) {
        guard context.room != nil else { return }
        for parcel in parcels[count...] where !parcel.isServers && !parcel.edits.isEmpty {
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
