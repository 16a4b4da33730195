package import HesperModel

/// A deletion that the server has not acknowledged.
package struct LocalDeletion: Sendable, Equatable {
    package var deleted: DeletedObject
    /// The deletion can be undone until this time, and is then sent. Nil if the deletion is already being sent.
    package var heldUntil: Timestamp?
    /// The versions of the object's texts that the user saw, by attribute (clients.md, rule 4). A text that is not listed was not
    /// seen. Nil if all texts count as seen, or if the object cannot have texts.
    package var seenTexts: [String: SeenText]?

    package struct SeenText: Sendable, Equatable {
        /// The clock of the newest acknowledged text that the user saw. Nil if the user saw only unacknowledged texts, or no text.
        package var clock: Clock?
        /// The clocks of this device's unacknowledged texts, which were written after the text with the clock `clock`. The server
        /// may have received them.
        package var after: [Clock] = []

        package init(clock: Clock? = nil, after: [Clock] = []) {
            self.clock = clock
            self.after = after
        }
    }

    package init(_ deleted: DeletedObject, heldUntil: Timestamp?) {
        self.deleted = deleted
        self.heldUntil = heldUntil
    }

    /// If `heldUntil` is more than this number of milliseconds in the future, the wall clock was set back after the deletion was
    /// made. The deletion is then due at once. The number is greater than ``StoreWriter/deletionDelay``.
    private static let longestHold: Int64 = 60_000

    /// Whether the deletion can no longer be undone.
    func isDue(at now: Timestamp) -> Bool {
        guard let heldUntil else { return true }
        return heldUntil <= now || heldUntil.milliseconds - now.milliseconds > LocalDeletion.longestHold
    }

    /// The deletion in JSON, as an element of `deletedObjects` in a push. The local copy stores it in the same form.
    var change: JSON {
        JSON(members: [
            ("uniqueID", .string(deleted.uniqueID.description)), ("objectType", .string(deleted.objectType.name)),
            ("mergedInto", deleted.mergedInto.map { .string($0.description) }),
            ("rescuedInto", deleted.rescuedInto.map { .string($0.description) }),
            ("deletionDate", .string(deleted.deletionDate.description)),
        ]).adding(seenMembers)
    }

    /// The members that state which version of each text the user saw. For an app's object, they list the texts by name.
    private var seenMembers: [(String, JSON?)] {
        guard let seenTexts else { return [] }
        if deleted.objectType == .note {
            let text = seenTexts[AttributeName.text] ?? SeenText()
            return [
                ("textSeen", .string(text.clock?.description ?? "")),
                ("textAfter", text.after.isEmpty ? nil : JSON(clocks: text.after)),
            ]
        }
        let texts = seenTexts.sorted { $0.key < $1.key }
            .map { (name: AttributeName.split($0.key).key ?? "", text: $0.value) }
        var seen: [(String, JSON?)] = []
        var after: [(String, JSON?)] = []
        for (name, text) in texts {
            seen.append((name, text.clock.map { .string($0.description) }))
            if !text.after.isEmpty { after.append((name, JSON(clocks: text.after))) }
        }
        return [("textsSeen", JSON(members: seen)), ("textsAfter", after.isEmpty ? nil : JSON(members: after))]
    }

    init?(change: JSON, heldUntil: Timestamp?) {
        guard let deleted = DeletedObject(json: change) else { return nil }
        self.init(deleted, heldUntil: heldUntil)
        if let clock = change["textSeen"] {
            let after = change["textAfter"]?.clocks ?? []
            seenTexts = [AttributeName.text: SeenText(clock: clock.clock, after: after)]
        } else if let clocks = change["textsSeen"] {
            let after = change["textsAfter"]
            let names = Set(clocks.members.map(\.name)).union(after?.members.map(\.name) ?? [])
            seenTexts = [:]
            for name in names {
                let text = SeenText(clock: clocks[name]?.clock, after: after?[name]?.clocks ?? [])
                seenTexts?[AttributeName.namedText(name)] = text
            }
        }
    }
}

extension DeletedObject {
    /// Reads a DeletedObject that the server sent.
    package init?(json: JSON) {
        guard let id = json["uniqueID"]?.id, let type = json["objectType"]?.string.flatMap(ObjectType.init) else {
            return nil
        }
        self.init(
            uniqueID: id, objectType: type, mergedInto: json["mergedInto"]?.id, rescuedInto: json["rescuedInto"]?.id,
            deletionDate: json["deletionDate"]?.string.flatMap(Timestamp.init) ?? Timestamp(clamping: 0))
    }
}
