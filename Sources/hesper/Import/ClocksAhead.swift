import HesperModel
import HesperStore

/// What of a push was refused because its clocks are ahead of this server's.
struct ClocksAhead: Sendable {
    fileprivate var changes: [Change] = []

    var isEmpty: Bool { changes.isEmpty }

    /// The same under the server's own clock. What has been set here already stays: importing again undoes nothing.
    func stamped(in bag: any Bag, stamp: inout Stamp) throws -> Push {
        let states = try bag.states(of: changes.map(\.uniqueID))
        return Push(
            changes.compactMap { change in
                var entity: Entity?
                switch states[change.uniqueID] {
                case .deleted?: return nil
                case .entity(let standing, _)?: entity = standing
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
    /// Those edits whose receipts say `clock-ahead`.
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
