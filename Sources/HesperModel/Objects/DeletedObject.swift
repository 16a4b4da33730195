/// What stands for an object that was deleted: there is no un-deleting (merge.md, Deleting).
public struct DeletedObject: Sendable, Equatable {
    public let uniqueID: UniqueID
    public let objectType: ObjectType
    /// For a tag: the tag that has its notes now.
    public private(set) var mergedInto: UniqueID?
    /// For a note: the note that was made of words which its deletion had not seen. No digest contains it.
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

    /// Of two, one with `mergedInto` stands before one without, of two with, the smaller target; and the earlier date.
    /// What one knows of a rescue stands.
    /// - Returns: whether anything changed.
    mutating func fold(_ other: DeletedObject) -> Bool {
        let before = self
        switch (mergedInto, other.mergedInto) {
        case (nil, let target?): mergedInto = target
        case (let standing?, let target?): mergedInto = min(standing, target)
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
    /// Somebody asks for an object that is deleted.
    public init(deleted: DeletedObject) {
        let members: [(String, JSON)] = [
            ("uniqueID", .string(deleted.uniqueID.description)), ("objectType", .string(deleted.objectType.name)),
            ("deletionDate", .string(deleted.deletionDate.description)),
        ]
        let target = [("mergedInto", deleted.mergedInto), ("rescuedInto", deleted.rescuedInto)].compactMap { name, id in
            id.map { (name, JSON.string($0.description)) }
        }
        self.init(
            .deleted, "\(deleted.uniqueID) was deleted; there is no un-deleting.",
            context: ["deletedObject": .object(JSONObject(members + target))])
    }
}
