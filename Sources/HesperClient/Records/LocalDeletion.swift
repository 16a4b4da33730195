package import HesperModel

/// A deletion that the server has not acknowledged.
package struct LocalDeletion: Sendable, Equatable {
    package var deleted: DeletedObject
    /// The time until which the deletion can be undone and is not sent; nil if it is being sent.
    package var heldUntil: Timestamp?
    /// For a note: the clock of the text that the user saw; `""` if there was none (clients.md, rule 4).
    package var textSeen: String?
    /// For a note: the clocks of the texts that this device wrote after `textSeen` and that the server has not acknowledged, but
    /// may have received.
    package var textAfter: [Clock] = []

    package init(_ deleted: DeletedObject, heldUntil: Timestamp?) {
        self.deleted = deleted
        self.heldUntil = heldUntil
    }

    /// The maximum number of milliseconds from now for which a deletion can be held. It is greater than
    /// ``StoreWriter/deletionDelay``. If a deletion would be held for longer, the wall clock was set back after the deletion was
    /// made, so the deletion is due at once.
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
            ("deletionDate", .string(deleted.deletionDate.description)), ("textSeen", textSeen.map(JSON.string)),
            ("textAfter", textAfter.isEmpty ? nil : JSON(clocks: textAfter)),
        ])
    }

    init?(change: JSON, heldUntil: Timestamp?) {
        guard let deleted = DeletedObject(json: change) else { return nil }
        self.init(deleted, heldUntil: heldUntil)
        textSeen = change["textSeen"]?.string
        textAfter = change["textAfter"]?.clocks ?? []
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
