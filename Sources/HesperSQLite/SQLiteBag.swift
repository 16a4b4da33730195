import HesperModel
import HesperSQL
import HesperStore

/// Reads the data of a scope that a merge needs, in the transaction that has locked the scope.
struct SQLiteBag: Bag {
    let snapshot: SQLiteSnapshot
    let scope: ScopeID

    func states(of ids: [UniqueID], counting load: inout BagLoad) throws -> [UniqueID: ObjectState] {
        let reader = try StateReader(snapshot, scope: scope)
        var states: [UniqueID: ObjectState] = [:]
        for id in ids where states[id] == nil {
            let state = try reader.state(of: id) { bytes throws in try load.add(bytes) }
            if let state { states[id] = state }
        }
        return states
    }

    func tag(named foldedName: String) throws -> UniqueID? {
        try snapshot.tag(named: foldedName, in: scope)
    }

    func holders(of attachment: UniqueID) throws -> [UniqueID] {
        let row = try snapshot.prepare(PushStatements.holders)
        row.bind(scope, attachment)
        return try row.all { try row.id(0) }
    }

    func parcels(of object: UniqueID, holding clock: Clock) throws -> [Parcel] {
        let row = try snapshot.prepare(MergeStatements.parcelsHolding)
        row.bind(scope, object, clock)
        let found = try row.all { (number: row.integer(4), parcel: try row.parcel(of: object)) }
        return found.sorted { $0.number > $1.number }.map(\.parcel)
    }

    func newest(_ text: Attribute, of object: UniqueID, by node: NodeID, before clock: Clock) throws -> Clock? {
        let row = try snapshot.prepare(PushStatements.textClocks)
        row.bind(scope, object)
        defer { row.reset() }
        var newest: Clock?
        while try row.step() {
            // Each row is a parcel. The rows are in descending order of their last clocks. Therefore no text in this row or a later
            // row has a clock that is greater than the last clock of this row.
            if let newest, let last = row.clockIfAny(0), last <= newest { break }
            guard let own = row.clockIfAny(1), own.node == node, own < clock, row.stringIfAny(2) == text.textName
            else { continue }
            newest = max(newest ?? own, own)
        }
        return newest
    }

    func descents(of text: Attribute, of object: UniqueID) throws -> [TextDescent] {
        let row = try snapshot.prepare(MergeStatements.textDescents)
        row.bind(scope, object)
        return try row.all { row.stringIfAny(3) == text.textName ? try row.textDescent() : nil }.compactMap(\.self)
    }

    func current(_ text: Attribute, of object: UniqueID, at sequence: Int64) throws -> Clock? {
        let row = try snapshot.prepare(PushStatements.currentText)
        row.bind(scope, object, sequence, text.textName)
        return try row.first { row.clockIfAny(0) }
    }

    func parcels(rescuedInto object: UniqueID, holding clock: Clock) throws -> [Parcel] {
        let row = try snapshot.prepare(MergeStatements.rescuedParcels)
        row.bind(scope, object, clock)
        return try row.all { try row.parcel(of: try row.id(4)) }
    }

    func attachmentData(of attachment: UniqueID) throws -> AttachmentData? {
        try snapshot.blob(of: attachment, in: scope)?.data
    }
}
