import HesperModel

/// The action that undoes the changes of a lost device to one object. It is computed in a snapshot, so that no lock is held while
/// a long history is read.
struct RevocationPlan: Sendable {
    let entity: Entity
    /// The position of the object's most recent parcel; nil if the object has no parcels. The plan is outdated if a later parcel
    /// exists.
    let lastPosition: Int64?
    let action: Action

    enum Action: Sendable {
        case delete
        case set([Restored], keeps: Bool)
    }

    /// A register and the value to which it is restored. If the value is nil, the register is restored to its default.
    struct Restored: Sendable {
        let setting: Rewind.Restoration
        let value: Value?
    }

    /// The maximum number of parcels that are read in one query.
    private static let page = 16

    /// Computes the plan for an object; nil if the object no longer exists.
    init?(of id: UniqueID, _ revocation: Revocation, after moment: Timestamp, in snapshot: any Snapshot) throws {
        guard case .entity(let entity, .some)? = try snapshot.state(of: id, in: revocation.scope) else { return nil }
        self.entity = entity
        var rewind = Rewind(of: revocation.node, after: moment)
        var before: Int64?
        while case let parcels = try snapshot.history(
            of: id, in: revocation.scope, before: before, limit: RevocationPlan.page), let last = parcels.last
        {
            for stored in parcels {
                rewind.add(stored.parcel, by: stored.pushedBy, at: stored.pushedAt, position: stored.position)
            }
            before = last.position
        }
        lastPosition = rewind.lastPosition
        switch rewind.outcome(for: entity) {
        case .delete: action = .delete
        case .restore(let settings, let keeps):
            let values = try settings.map { setting in
                Restored(
                    setting: setting,
                    value: try setting.version.flatMap {
                        try snapshot.value(of: setting.attribute, $0, of: id, in: revocation.scope)
                    })
            }
            action = .set(values.filter { $0.setting.edit(of: entity, $0.value, at: .zero) != nil }, keeps: keeps)
        }
    }

    /// The approximate number of bytes that are loaded and written when the plan is executed.
    var bytes: Int {
        let loaded = entity.body.count
        guard case .set(let values, _) = action else { return loaded }
        return values.reduce(loaded) { sum, value in
            if case .string(let text)? = value.value { sum + text.utf8.count } else { sum + 64 }
        }
    }

    /// The attachments that the plan restores to the object.
    var claimedAttachments: [UniqueID] {
        guard case .set(let values, _) = action else { return [] }
        return values.compactMap { $0.setting.attribute.heldAttachment($0.value) }
    }

    /// Whether the object has not changed since the plan was computed.
    func isCurrent(in transaction: any Transaction, _ scope: ScopeID) throws -> Bool {
        guard case .entity? = try transaction.state(of: entity.uniqueID, in: scope) else { return false }
        let last = try transaction.history(of: entity.uniqueID, in: scope, before: nil, limit: 1).first
        return last?.position == lastPosition
    }

    /// The change or deletion to push in order to execute the plan; nil if nothing needs to be done.
    func element(stamp: inout Stamp) -> Push.Element? {
        switch action {
        case .delete:
            return entity.objectType.map { .deletion(Deletion(uniqueID: entity.uniqueID, objectType: $0)) }
        case .set(let values, _):
            guard !values.isEmpty else { return nil }
            let clock = stamp.tick(after: entity)
            let edits = values.compactMap { $0.setting.edit(of: entity, $0.value, at: clock) }
            return .change(
                Change(
                    uniqueID: entity.uniqueID, section: entity.section, edits: edits,
                    ancestries: entity.ancestries(of: edits)))
        }
    }
}

extension Snapshot {
    /// Reads an earlier value of an attribute from the object's history; nil if the value is no longer stored.
    fileprivate func value(
        of attribute: Attribute, _ version: Rewind.Version, of id: UniqueID, in scope: ScopeID
    ) throws -> Value? {
        let stored = try history(of: id, in: scope, before: version.position + 1, limit: 1).first
        return stored?.parcel.edits.first { $0.attribute == attribute && $0.clock == version.clock }?.value
    }
}
