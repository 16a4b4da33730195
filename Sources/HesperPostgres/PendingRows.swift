import HesperModel
import HesperStore

/// Rows of pushes that a transaction has merged but not sent to the database yet. Several pushes in one transaction, also of
/// different accounts, are then written by one statement for each table. ``PostgresTransaction/connection`` sends the rows before
/// any other statement, so every statement sees the rows of earlier pushes.
struct PendingRows {
    private var objects: [ObjectRow] = []
    private var parcels: [ParcelRow] = []
    private var sweeps: [SweepRow] = []
    private var heads: [ScopeID: Head] = [:]
    /// The objects in ``sweeps``. One statement must not write a row twice.
    private var sweptIDs: Set<ScopedID> = []
    private var bytes = 0

    private struct ScopedID: Hashable {
        let scope: ScopeID
        let id: UniqueID
    }

    private struct ObjectRow {
        let scope: ScopeID
        let object: RowChanges.Object
        let body: [UInt8]
    }

    private struct ParcelRow {
        let scope: ScopeID
        let number: Int64
        let numbered: RowChanges.NumberedParcel
        let body: [UInt8]
        let device: NodeID?
        let date: Timestamp
    }

    private struct SweepRow {
        let scope: ScopeID
        let object: UniqueID
        let date: Timestamp
    }

    /// The state of a scope after its last push.
    private struct Head {
        let head: ScopeHead
        let greatestClock: Clock?
        let serverClock: Clock?
        let lastEdit: Int64
        let parcelBytes: Int
    }

    /// The total size of bodies in bytes at which a statement gets no more rows. Further rows are written by another statement.
    private static let bodyBytes = 8 << 20

    /// Whether the bodies of the rows are so large that they should be sent, because they are kept in memory.
    var isLarge: Bool { bytes >= PendingRows.bodyBytes }

    /// Adds the rows of a push. An object that already has a row here cannot be added: a push reads the states of its objects first,
    /// which sends the rows.
    /// - Parameter last: the number of the scope's most recent parcel. The parcels get the following numbers.
    /// - Returns: the total size of the bodies of the parcels in bytes.
    mutating func add(_ changes: RowChanges, after last: Int64, by device: NodeID?, at date: Timestamp) -> Int {
        let scope = changes.head.scope
        for object in changes.objects {
            let row = ObjectRow(scope: scope, object: object, body: object.entity.body)
            bytes += row.body.count
            objects.append(row)
        }
        for object in changes.sweeps where sweptIDs.insert(ScopedID(scope: scope, id: object)).inserted {
            sweeps.append(SweepRow(scope: scope, object: object, date: date.adding(Sweep.firstCheckDelay)))
        }
        var (number, parcelBytes) = (last, 0)
        for numbered in changes.parcels {
            number += 1
            let body = ParcelBody.write(numbered.parcel.edits)
            parcelBytes += body.count
            parcels.append(
                ParcelRow(scope: scope, number: number, numbered: numbered, body: body, device: device, date: date))
        }
        heads[scope] = Head(
            head: changes.head, greatestClock: changes.greatestClock, serverClock: changes.serverClock,
            lastEdit: number, parcelBytes: parcelBytes + (heads[scope]?.parcelBytes ?? 0))
        bytes += parcelBytes
        return parcelBytes
    }

    /// Enqueues the statements that write all rows.
    mutating func send(to connection: Connection) {
        guard !heads.isEmpty else { return }
        put(objects.filter(\.object.isNew), PushStatements.insertObjects, connection)
        put(objects.filter { !$0.object.isNew }, PushStatements.updateObjects, connection)
        putSweeps(connection)
        putParcels(connection)
        putHeads(connection)
        self = PendingRows()
    }

    private func put(_ rows: [ObjectRow], _ sql: String, _ connection: Connection) {
        inParts(rows, of: \.body) { rows in
            connection.enqueue(
                sql,
                [
                    scopes(rows.map(\.scope)), .uuidArray(rows.map(\.object.entity.uniqueID)),
                    .array(.int4, rows.map { .int4(Int32($0.object.entity.section.rawValue)) }),
                    .array(.text, rows.map { .text($0.object.entity.objectType?.name) }),
                    .array(.int8, rows.map { .int8($0.object.sequence) }),
                    .array(.int8, rows.map { .int($0.body.count) }),
                    .array(.bytes, rows.map { .digest($0.object.digest) }),
                    .array(.json, rows.map { .json($0.body) }),
                ], expecting: rows.count)
        }
    }

    private func putSweeps(_ connection: Connection) {
        guard !sweeps.isEmpty else { return }
        connection.enqueue(
            PushStatements.scheduleSweeps,
            [
                scopes(sweeps.map(\.scope)), .uuidArray(sweeps.map(\.object)),
                .array(.date, sweeps.map { .date($0.date) }),
            ])
    }

    private func putParcels(_ connection: Connection) {
        inParts(parcels, of: \.body) { rows in
            func values(_ type: PostgresType, _ value: (ParcelRow) -> PostgresValue) -> PostgresValue {
                .array(type, rows.map(value))
            }
            func clocks(_ clock: (Parcel) -> Clock?) -> PostgresValue {
                values(.bytes) { .clock(clock($0.numbered.parcel)) }
            }
            connection.enqueue(
                PushStatements.insertParcels,
                [
                    scopes(rows.map(\.scope)), .int8Array(rows.map(\.number)),
                    .uuidArray(rows.map(\.numbered.parcel.object)), .int8Array(rows.map(\.numbered.sequence)),
                    values(.text) { .text($0.numbered.parcel.objectType?.name) },
                    values(.bool) { .bool($0.numbered.parcel.isServerMade) },
                    values(.bool) { .bool($0.numbered.hasLostWords) }, clocks(\.firstClock), clocks(\.lastClock),
                    clocks(\.textClock), clocks(\.textOrigin), values(.json) { .json($0.body) },
                    values(.bytes) { $0.numbered.missingAncestors.map { .bytes($0) } ?? .null },
                    values(.bytes) { .node($0.numbered.parcel.isRescue ? nil : $0.device) },
                    values(.int8) {
                        .int8(ParcelChecksum.of($0.numbered, body: $0.body, in: $0.scope, by: $0.device, at: $0.date))
                    },
                    values(.text) { .text($0.numbered.parcel.text?.textName) }, values(.date) { .date($0.date) },
                ], expecting: rows.count)
        }
    }

    private func putHeads(_ connection: Connection) {
        let rows = heads.sorted { $0.key < $1.key }
        connection.enqueue(
            PushStatements.advance,
            [
                scopes(rows.map(\.key)), .int8Array(rows.map(\.value.head.sequence)),
                .array(.bytes, rows.map { .digest($0.value.head.digest) }),
                .array(.bytes, rows.map { .clock($0.value.greatestClock) }),
                .array(.bytes, rows.map { .clock($0.value.serverClock) }), .int8Array(rows.map(\.value.lastEdit)),
                .array(.int8, rows.map { .int($0.value.parcelBytes) }),
            ], expecting: rows.count)
    }

    private func scopes(_ scopes: [ScopeID]) -> PostgresValue { .int8Array(scopes.map(\.rawValue)) }

    /// Passes rows to `write`. If the total size of the bodies is large, `write` is called several times, each time with a part of
    /// the rows.
    private func inParts<Row>(_ rows: [Row], of body: (Row) -> [UInt8], _ write: (ArraySlice<Row>) -> Void) {
        var (start, bytes) = (0, 0)
        for index in rows.indices {
            bytes += body(rows[index]).count
            guard bytes >= PendingRows.bodyBytes || index == rows.count - 1 else { continue }
            write(rows[start...index])
            (start, bytes) = (index + 1, 0)
        }
    }
}
