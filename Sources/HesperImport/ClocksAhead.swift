import HesperModel
import HesperStore

/// The changes of a push that were refused because their clocks are too far ahead of this server's clock.
struct ClocksAhead: Sendable {
    fileprivate var changes: [Change] = []

    var isEmpty: Bool { changes.isEmpty }

    /// A push of the same changes, in which each clock is replaced with a new clock of this server. Attributes that already have a
    /// value in the bag are left out, so that a repeated import does not overwrite later changes.
    func stamped(in bag: any Bag, stamp: inout Stamp) throws -> Push {
        let states = try bag.states(of: changes.map(\.uniqueID))
        return Push(
            changes.compactMap { change in
                var entity: Entity?
                switch states[change.uniqueID] {
                case .deleted?: return nil
                case .entity(let current, _)?: entity = current
                case nil: break
                }
                let clock = stamp.tick(after: entity)
                let edits = change.edits.filter { entity?.register($0.attribute) == nil }
                    .map { Edit($0.attribute, $0.value, at: clock) }
                guard !edits.isEmpty else { return nil }
                return .change(
                    Change(uniqueID: change.uniqueID, section: change.section, pointer: change.pointer, edits: edits))
            })
    }
}

extension [Push.Element] {
    /// Returns the edits of this push that were refused with `clock-ahead`, and the changes to which they belong.
    func withClocksAhead(_ receipts: [Receipt]) -> ClocksAhead {
        var ahead = ClocksAhead()
        for (element, receipt) in zip(self, receipts) {
            guard case .change(let change) = element else { continue }
            let edits = change.edits.filter { receipt.isAhead($0.attribute) }
            guard !edits.isEmpty else { continue }
            ahead.changes.append(
                Change(uniqueID: change.uniqueID, section: change.section, pointer: change.pointer, edits: edits))
        }
        return ahead
    }
}

extension Receipt {
    func isAhead(_ attribute: Attribute) -> Bool { fields[attribute.description]?.problem?.slug == .clockAhead }
}
