/// The permanent record of a deleted object. A deletion cannot be undone (merge.md, Deleting).
public struct DeletedObject: Sendable, Equatable {
    public let uniqueID: UniqueID
    public let objectType: ObjectType
    /// For a tag that was merged into another tag: the other tag's ID.
    public private(set) var mergedInto: UniqueID?
    /// For a note or an app's own object: the ID of the new object with the words that the deleting device had not seen. This ID is
    /// not part of the digest.
    public private(set) var rescuedInto: UniqueID?
    public private(set) var deletionDate: Timestamp

    public init(
        uniqueID: UniqueID, objectType: ObjectType, mergedInto: UniqueID? = nil, rescuedInto: UniqueID? = nil,
        deletionDate: Timestamp
    ) {
        self.rescuedInto = rescuedInto
        self.uniqueID = uniqueID
        self.objectType = objectType
        self.mergedInto = mergedInto
        self.deletionDate = deletionDate
    }

    /// Combines this DeletedObject with another DeletedObject of the same object. If both have a `mergedInto`, the smaller ID is
    /// kept. If both have a `rescuedInto`, this DeletedObject's ID is kept. If only one of them has such an ID, that ID is kept.
    /// The earlier deletion date is kept.
    /// - Returns: whether anything changed.
    public mutating func fold(_ other: DeletedObject) -> Bool {
        let before = self
        switch (mergedInto, other.mergedInto) {
        case (nil, let target?): mergedInto = target
        case (let current?, let target?): mergedInto = min(current, target)
        case (_, nil): break
        }
        rescuedInto = rescuedInto ?? other.rescuedInto
        deletionDate = min(deletionDate, other.deletionDate)
        return self != before
    }

    public var digest: Digest {
        var lines = Array("deleted\n".utf8)
        uniqueID.append(to: &lines)
        lines.append(UInt8(ascii: "\n"))
        if let mergedInto {
            mergedInto.append(to: &lines)
            lines.append(UInt8(ascii: "\n"))
        }
        return Digest(of: lines)
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("uniqueID", uniqueID)
            writer.member("objectType", objectType.name)
            if let mergedInto { writer.member("mergedInto", mergedInto) }
            if let rescuedInto { writer.member("rescuedInto", rescuedInto) }
            writer.member("deletionDate", deletionDate)
        }
    }

    public var body: [UInt8] {
        var writer = JSONWriter(capacity: 160)
        write(to: &writer)
        return writer.bytes
    }
}

extension Problem {
    /// The error for a request that concerns a deleted object.
    public init(deleted: DeletedObject) {
        let members: [(String, JSON)] = [
            ("uniqueID", .string(deleted.uniqueID.description)), ("objectType", .string(deleted.objectType.name)),
            ("deletionDate", .string(deleted.deletionDate.description)),
        ]
        let target = [("mergedInto", deleted.mergedInto), ("rescuedInto", deleted.rescuedInto)].compactMap { name, id in
            id.map { (name, JSON.string($0.description)) }
        }
        self.init(
            .deleted, "\(deleted.uniqueID) was deleted. A deletion cannot be undone.",
            context: ["deletedObject": .object(JSONObject(members + target))])
    }
}
