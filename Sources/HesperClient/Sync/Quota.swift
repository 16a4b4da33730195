internal import GRDB
internal import HesperModel

/// Changes that the server rejected because the account is full (clients.md, rule 14). They are held: no push contains them until
/// the time of the next retry.
extension RecordsTransaction {
    private static let firstWait: Int64 = 60_000
    private static let longestWait: Int64 = 3_600_000

    /// Schedules the next attempt to send held changes, unless one is scheduled. The delay doubles each time.
    func waitForSpace() throws {
        try withSync { sync in
            if let until = sync.fullUntil, until > now { return }
            let wait = sync.fullWait.map { min(2 * $0, RecordsTransaction.longestWait) } ?? RecordsTransaction.firstWait
            sync.fullWait = wait
            sync.fullUntil = Timestamp(clamping: now.milliseconds + wait)
        }
    }

    /// Holds the changes of a part that exceeds the quota. A new object is held as a whole. For an existing object, only the large
    /// values are held. The small values are sent again at once. If an existing object has only small values, all of them are held.
    func hold(_ part: PushBatch.Part, isRelay: Bool) throws {
        guard var object = try object(part.id, type: part.type) else { return }
        if part.made != nil {
            if isRelay { object.made = object.made ?? part.made }
            object.made?.isHeld = true
        }
        let isWhole = part.made != nil || !part.edits.contains { $0.value.isLarge($0.key) }
        for (attribute, sent) in part.edits {
            guard var edit = object.edits[attribute] ?? (isRelay ? sent : nil) else { continue }
            edit.isHeld = edit.clock == sent.clock && (isWhole || sent.isLarge(attribute))
            edit.descent?.after.removeAll { $0 == sent.clock }
            edit.descent?.last = nil
            object.edits[attribute] = edit
        }
        try save(object)
    }

    /// Releases the held changes, so that they are sent again, if their delay is over or the user requested a sync. If no changes
    /// are held, resets the delay.
    func releaseHeld(isAsked: Bool) throws {
        guard let until = try sync.fullUntil else { return }
        let isDue = isAsked || until <= now
        var hasHeld = false
        for type in try types {
            var held: [LocalObject] = []
            try forEachPending(type) { object in
                if object.isHeld { held.append(object) }
                return true
            }
            hasHeld = hasHeld || !held.isEmpty
            guard isDue else { continue }
            for var object in held {
                object.made?.isHeld = false
                for attribute in object.edits.keys { object.edits[attribute]?.isHeld = false }
                try save(object)
            }
        }
        if !hasHeld {
            try withSync { sync in
                sync.fullUntil = nil
                sync.fullWait = nil
            }
        }
    }
}
