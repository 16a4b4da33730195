import HesperModel
import HesperStore

extension SQLiteTransaction {
    /// Has what may leave something for time to remove looked at later: objects that were changed or deleted.
    func scheduleSweeps(of changes: [StateChange], in scope: ScopeID, at date: Timestamp) throws {
        for change in changes where change.before != nil || change.isDeletion {
            try scheduleSweep(of: change.uniqueID, in: scope, at: date)
        }
    }

    /// An object that is to be looked at already keeps its date.
    func scheduleSweep(of object: UniqueID, in scope: ScopeID, at date: Timestamp) throws {
        let schedule = try prepare(PushStatements.scheduleSweep)
        schedule.bind(1, scope)
        schedule.bind(2, object)
        schedule.bind(3, Timestamp(clamping: date.milliseconds + Sweep.firstLook))
        try schedule.run()
    }
}

extension StateChange {
    fileprivate var isDeletion: Bool { if case .deleted = after { true } else { false } }
}
