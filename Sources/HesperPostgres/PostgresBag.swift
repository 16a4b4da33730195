import HesperModel
import HesperSQL
import HesperStore

/// Reads the data of a scope that a merge needs, in the transaction that has locked the scope.
struct PostgresBag: Bag {
    let snapshot: PostgresSnapshot
    let scope: ScopeID

    /// The number of rows that one query reads to find the newest text that a node wrote.
    private static let batch = 64

    func states(of ids: [UniqueID], counting load: inout BagLoad) throws -> [UniqueID: ObjectState] {
        try snapshot.states(of: Array(Set(ids)), in: scope) { bytes throws in try load.add(bytes) }
    }

    func tag(named foldedName: String) throws -> UniqueID? { try snapshot.tag(named: foldedName, in: scope) }

    func holders(of attachment: UniqueID) throws -> [UniqueID] {
        try snapshot.connection.all(PushStatements.holders, [.scope(scope), .id(attachment)]) { try $0.id(0) }
    }

    func parcels(of object: UniqueID, holding clock: Clock) throws -> [Parcel] {
        let found = try snapshot.connection.all(
            MergeStatements.parcelsHolding, [.scope(scope), .id(object), .clock(clock)]
        ) { row in (number: row.integer(4), parcel: try row.parcel(of: object)) }
        return found.sorted { $0.number > $1.number }.map(\.parcel)
    }

    func newest(_ text: Attribute, of object: UniqueID, by node: NodeID, before clock: Clock) throws -> Clock? {
        var newest: Clock?
        // The first query starts at a value that is greater than every clock.
        var (last, number): (PostgresValue, Int64) = (.bytes(Array(repeating: 0xff, count: 17)), .max)
        while true {
            let rows = try snapshot.connection.all(
                PushStatements.textClocks,
                [.scope(scope), .id(object), last, .int8(number), .int(PostgresBag.batch)]
            ) { row in
                (last: try row.clock(0), own: row.clockIfAny(1), number: row.integer(2), name: row.stringIfAny(3))
            }
            for row in rows {
                // Each row is a parcel. The rows are in descending order of their last clocks. Therefore no text in this row or a
                // later row has a clock that is greater than the last clock of this row.
                if let newest, row.last <= newest { return newest }
                guard let own = row.own, own.node == node, own < clock, row.name == text.textName else { continue }
                newest = max(newest ?? own, own)
            }
            guard rows.count == PostgresBag.batch, let end = rows.last else { return newest }
            (last, number) = (.clock(end.last), end.number)
        }
    }

    func descents(of text: Attribute, of object: UniqueID) throws -> [TextDescent] {
        try snapshot.connection.all(MergeStatements.textDescents, [.scope(scope), .id(object)]) { row in
            row.stringIfAny(3) == text.textName ? try row.textDescent() : nil
        }.compactMap(\.self)
    }

    func current(_ text: Attribute, of object: UniqueID, at sequence: Int64) throws -> Clock? {
        try snapshot.connection.first(
            PushStatements.currentText, [.scope(scope), .id(object), .int8(sequence), .text(text.textName)]
        ) { $0.clockIfAny(0) }
    }

    func parcels(rescuedInto object: UniqueID, holding clock: Clock) throws -> [Parcel] {
        try snapshot.connection.all(MergeStatements.rescuedParcels, [.scope(scope), .id(object), .clock(clock)]) {
            row in
            try row.parcel(of: try row.id(4))
        }
    }

    func attachmentData(of attachment: UniqueID) throws -> AttachmentData? {
        try snapshot.blob(of: attachment, in: scope)?.data
    }
}
