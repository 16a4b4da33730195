package import HesperModel

/// Tags and attachments of a note (merge.md, Membership).
extension RecordsTransaction {
    /// Returns the ID of the live object to which an ID refers. This is the given ID or, if a tag with this ID was merged into
    /// another tag, the ID of that other tag. Returns nil if the object is deleted or unknown.
    package func resolve(_ id: UniqueID, type: String) throws -> UniqueID? {
        var current = id
        // Each step follows one merge of tags. The number of steps is limited as in merge.md, because a faulty server may send
        // DeletedObjects that form a cycle.
        for _ in 0..<10_000 {
            let target: UniqueID?
            if let deletion = try deletion(of: current) {
                target = deletion.deleted.mergedInto
            } else if let deleted = try deleted(current) {
                target = deleted.mergedInto
            } else {
                return try object(current, type: type)?.exists == true ? current : nil
            }
            guard let target else { return nil }
            current = target
        }
        return nil
    }

    /// The live members of a note, in the order of their clocks. A tag has several registers if other tags were merged into it. The
    /// register with the greatest clock then determines whether the tag is a member. If several registers have this clock, the
    /// value true takes precedence.
    /// - Parameter section: `tags` or `attachments`.
    package func members(of note: LocalObject, _ section: String) throws -> [UniqueID] {
        let prefix = section + "."
        let type = String(section.dropLast())
        var found: [(clock: Clock, isIn: Bool, id: UniqueID)] = []
        for (attribute, cell) in note.visible where attribute.hasPrefix(prefix) {
            guard let raw = UniqueID(String(attribute.dropFirst(prefix.count))),
                let id = try resolve(raw, type: type)
            else { continue }
            found.append((cell.clock, cell.value == .bool(true), id))
        }
        found.sort { one, other in
            if one.clock != other.clock { return one.clock < other.clock }
            if one.isIn != other.isIn { return !one.isIn }
            return one.id < other.id
        }
        var members: [UniqueID] = []
        for (_, isIn, id) in found {
            members.removeAll { $0 == id }
            if isIn { members.append(id) }
        }
        return members
    }
}
