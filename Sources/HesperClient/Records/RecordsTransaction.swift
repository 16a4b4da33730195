internal import Foundation
package import GRDB
package import HesperModel

/// Reads and writes the records of the local copy within one transaction (clients.md, rules 2 to 5).
///
/// The device's clock and the state of sync, which contains the digest, are read when they are first needed, and saved at
/// the end of the transaction.
package final class RecordsTransaction {
    package let database: Database
    /// The time of the wall clock at the beginning of the transaction.
    package let now: Timestamp
    private let makeID: () -> UniqueID
    private let tableVersions: TableVersions?
    /// The tables that this transaction changed and that observers may read.
    private var changedTables: Set<String> = []
    private var deviceClock: (value: DeviceClock, saved: DeviceClock?)?
    private var syncRecord: (value: SyncRecord, saved: SyncRecord)?
    private var knownTypes: [String]?
    /// Whether this transaction made changes that must be sent.
    package private(set) var hasNewEdits = false

    init(
        _ database: Database, now: Timestamp, makeID: @escaping () -> UniqueID, tableVersions: TableVersions? = nil
    ) {
        self.tableVersions = tableVersions
        self.database = database
        self.now = now
        self.makeID = makeID
    }

    /// Makes an ID for a new object.
    package func newID() -> UniqueID { makeID() }

    func finish() throws {
        if let (value, saved) = deviceClock, value != saved { try setMeta("clock", value.json) }
        if let (value, saved) = syncRecord, value != saved { try setMeta("sync", value.json) }
        try tableVersions?.raise(changedTables, database)
    }

    /// Records that the transaction changed a table. The count of changes of the table is incremented at the end of the
    /// transaction, which causes other processes to read the table again.
    func noteChange(of table: String) { changedTables.insert(table) }

    // MARK: State

    /// Forgets the clock and the state of sync, so that they are read again. Called after all records were removed.
    func forgetState() {
        deviceClock = nil
        syncRecord = nil
    }

    package func meta(_ name: String) throws -> JSON? {
        let text = try String.fetchOne(
            database.cachedStatement(sql: "SELECT value FROM meta WHERE name = ?"), arguments: [name])
        return try text.map { try JSON(text: $0) }
    }

    package func setMeta(_ name: String, _ value: JSON?) throws {
        if name == "session" { noteChange(of: "meta") }
        if let value {
            try database.cachedStatement(
                sql: "INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
            ).execute(arguments: [name, value.text])
        } else {
            try database.cachedStatement(sql: "DELETE FROM meta WHERE name = ?").execute(arguments: [name])
        }
    }

    /// The clock of this local copy. A new local copy has a random node ID until a server assigns one.
    package var clock: DeviceClock {
        get throws {
            if let deviceClock { return deviceClock.value }
            let saved = try meta("clock").flatMap(DeviceClock.init(json:))
            let value = saved ?? DeviceClock(node: NodeID(newID().high | 1))
            deviceClock = (value, saved)
            return value
        }
    }

    package func withClock<R>(_ body: (inout DeviceClock) -> R) throws -> R {
        var clock = try clock
        let result = body(&clock)
        deviceClock?.value = clock
        return result
    }

    /// Switches to another node ID after signing in, or after the database file was copied from another device, which continues to
    /// use the former node ID. Unsent edits keep their clocks.
    package func setNode(_ node: NodeID) throws { try withClock { $0 = $0.continued(by: node) } }

    package func tick() throws -> Clock { try withClock { $0.tick(now) } }

    /// The state of sync. It is saved in the same transaction as the changes that were received, so that the sync token and the
    /// digest always fit the stored objects.
    package var sync: SyncRecord {
        get throws {
            if let syncRecord { return syncRecord.value }
            let saved = try meta("sync").map(SyncRecord.init(json:)) ?? SyncRecord()
            syncRecord = (saved, saved)
            return saved
        }
    }

    package func withSync(_ body: (inout SyncRecord) -> Void) throws {
        var record = try sync
        body(&record)
        syncRecord?.value = record
    }

    // MARK: Objects

    /// The types that have a table.
    package var types: [String] {
        get throws {
            if let knownTypes { return knownTypes }
            let names = try String.fetchAll(
                database.cachedStatement(sql: "SELECT name FROM types ORDER BY name"))
            knownTypes = names
            return names
        }
    }

    /// Creates the table of a type, unless it exists.
    package func addType(_ type: String) throws {
        guard try !types.contains(type) else { return }
        try database.execute(sql: LocalDatabase.schema(of: type))
        try database.execute(sql: "INSERT INTO types VALUES (?)", arguments: [type])
        knownTypes = nil
    }

    package func object(_ id: UniqueID, type: String) throws -> LocalObject? {
        guard try types.contains(type) else { return nil }
        let statement = try database.cachedStatement(
            sql: "SELECT body, clocks, pending FROM \(LocalDatabase.table(type)) WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id.data]).map { try LocalObject(id: id, type: type, row: $0) }
    }

    /// The object with an ID, whatever its type is.
    package func object(_ id: UniqueID) throws -> LocalObject? {
        for type in try types {
            if let object = try object(id, type: type) { return object }
        }
        return nil
    }

    /// Calls `body` with each object of a type, in the order of the rows, until `body` returns false. Objects without unsent
    /// changes are skipped.
    package func forEachPending(_ type: String, _ body: (LocalObject) throws -> Bool) throws {
        let sql =
            "SELECT id, body, clocks, pending FROM \(LocalDatabase.table(type)) WHERE pending IS NOT NULL ORDER BY row"
        let cursor = try Row.fetchCursor(database.cachedStatement(sql: sql))
        while let row = try cursor.next() {
            guard let id = UniqueID(row: row) else {
                throw LocalDatabaseError.damaged("an object of type \(type) has no ID")
            }
            if try !body(LocalObject(id: id, type: type, row: row, from: 1)) { return }
        }
    }

    /// The IDs of the objects of a type, in the order of the rows.
    /// - Parameter onlyShown: whether to leave out objects that the app does not see.
    package func ids(_ type: String, onlyShown: Bool = false) throws -> [UniqueID] {
        guard try types.contains(type) else { return [] }
        let sql = "SELECT id FROM \(LocalDatabase.table(type)) \(onlyShown ? "WHERE isHidden = 0" : "") ORDER BY row"
        return try Row.fetchAll(database.cachedStatement(sql: sql)).compactMap(UniqueID.init(row:))
    }

    /// Writes an object, and brings the digest up to date.
    package func save(_ object: LocalObject) throws {
        try addType(object.type)
        noteChange(of: "object.\(object.type)")
        let columns = object.columns
        let digest = object.digest
        let table = LocalDatabase.table(object.type)
        let before = try Data.fetchOne(
            database.cachedStatement(sql: "SELECT coalesce(digest, x'') FROM \(table) WHERE id = ?"),
            arguments: [object.id.data])
        let standing = Digest(data: before) ?? .zero
        if standing != digest { try withSync { $0.digest ^= standing ^ digest } }
        let stored: Data? = digest == .zero ? nil : Data(digest.bytes)
        let isHidden = "?6 OR EXISTS (SELECT 1 FROM deletions WHERE id = ?1)"
        let sql =
            before == nil
            ? """
            INSERT INTO \(table) (id, body, clocks, pending, digest, isHidden) VALUES (?1, ?2, ?3, ?4, ?5, \(isHidden))
            """
            : """
            UPDATE \(table) SET body = ?2, clocks = ?3, pending = ?4, digest = ?5, isHidden = \(isHidden) WHERE id = ?1
            """
        try database.cachedStatement(sql: sql).execute(
            arguments: [object.id.data, columns.body, columns.clocks, columns.pending, stored, !object.exists])
    }

    /// Removes an object's row, and removes the object from the digest. The object's digest is read from the row, because `object`
    /// may have been changed after it was stored.
    package func remove(_ object: LocalObject) throws {
        let sql = "DELETE FROM \(LocalDatabase.table(object.type)) WHERE id = ? RETURNING digest"
        let stored = try Data.fetchOne(database.cachedStatement(sql: sql), arguments: [object.id.data])
        if let digest = Digest(data: stored) { try withSync { $0.digest ^= digest } }
        noteChange(of: "object.\(object.type)")
    }

    // MARK: Edits

    /// Sets a register: ticks the clock, and marks the register as unsent. The caller saves the object.
    @discardableResult
    package func edit(_ object: inout LocalObject, _ attribute: String, _ value: Value) throws -> Clock {
        let clock = try tick()
        hasNewEdits = true
        guard AttributeName.isText(attribute) else {
            object.edits[attribute] = LocalEdit(value, at: clock)
            return clock
        }
        // If the text already has an unsent edit, the new edit has the same base as that edit. The server has the base, but may not
        // have the unsent text (clients.md, rule 3).
        var descent = object.edits[attribute]?.descent
        if descent == nil {
            var base: LocalEdit.Base?
            if let cell = object.registers[attribute], case .string(let text) = cell.value {
                base = LocalEdit.Base(text, at: cell.clock)
            }
            descent = LocalEdit.Descent(base: base)
        }
        object.edits[attribute] = LocalEdit(value, at: clock, descent: descent)
        return clock
    }

    /// Records that this transaction made changes that must be sent, so that a round of sync follows.
    package func noteNewEdits() { hasNewEdits = true }

    /// Adds a new object.
    /// - Returns: the object; nil if an object of this type or a DeletedObject has this ID.
    package func insert(_ object: LocalObject, values: [(attribute: String, value: Value)]) throws -> LocalObject? {
        var object = object
        let hadNewEdits = hasNewEdits
        object.made = object.made ?? LocalObject.Made()
        object.edits.reserveCapacity(values.count)
        for (attribute, value) in values { try edit(&object, attribute, value) }
        try addType(object.type)
        noteChange(of: "object.\(object.type)")
        let columns = object.columns
        // The statement that inserts the row also checks whether the ID is free.
        try database.cachedStatement(
            sql: """
                INSERT INTO \(LocalDatabase.table(object.type)) (id, body, clocks, pending, isHidden)
                SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS (SELECT 1 FROM deleted WHERE id = ?1)
                ON CONFLICT (id) DO NOTHING
                """
        ).execute(
            arguments: [object.id.data, columns.body, columns.clocks, columns.pending, !object.exists])
        guard database.changesCount > 0 else {
            hasNewEdits = hadNewEdits
            return nil
        }
        hasNewEdits = true
        return object
    }

    /// Assigns new clocks to all unsent edits, in the order of their former clocks. The new clocks follow the greatest clock that
    /// the server accepted or sent (merge.md, Clock skew).
    package func stampAgain() throws {
        var objects: [UniqueID: LocalObject] = [:]
        for type in try types {
            try forEachPending(type) { object in
                if !object.edits.isEmpty { objects[object.id] = object }
                return true
            }
        }
        let order = objects.values.flatMap { object in object.edits.map { (object.id, $0.key, $0.value.clock) } }
            .sorted { ($0.2, $0.0, $0.1) < ($1.2, $1.0, $1.1) }
        try withClock { $0.setBack() }
        for (id, attribute, _) in order { objects[id]?.edits[attribute]?.clock = try tick() }
        for id in objects.keys.sorted() { if let object = objects[id] { try save(object) } }
        if !order.isEmpty { hasNewEdits = true }
    }

    // MARK: Deletions

    package func deleted(_ id: UniqueID) throws -> DeletedObject? {
        let statement = try database.cachedStatement(
            sql: "SELECT type, mergedInto, rescuedInto, date FROM deleted WHERE id = ?")
        guard let row = try Row.fetchOne(statement, arguments: [id.data]) else { return nil }
        return try DeletedObject(id: id, row: row)
    }

    /// Whether there is a DeletedObject with this ID.
    package func isDeleted(_ id: UniqueID) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM deleted WHERE id = ?)"), arguments: [id.data])
            ?? false
    }

    package func forEachDeleted(_ body: (DeletedObject) throws -> Void) throws {
        let sql = "SELECT type, mergedInto, rescuedInto, date, id FROM deleted ORDER BY id"
        let cursor = try Row.fetchCursor(database.cachedStatement(sql: sql))
        while let row = try cursor.next() {
            guard let id = UniqueID(bytes: row[4] as Data) else {
                throw LocalDatabaseError.damaged("a DeletedObject has no ID")
            }
            try body(DeletedObject(id: id, row: row))
        }
    }

    /// Stores a DeletedObject that the server sent or acknowledged, and removes its object with all unsent edits. If the object
    /// has unsent texts, the caller must move them to another object.
    /// - Returns: the object that was removed.
    @discardableResult
    package func put(_ incoming: DeletedObject) throws -> LocalObject? {
        let id = incoming.uniqueID
        let standing = try deleted(id)
        var folded = standing ?? incoming
        _ = folded.fold(incoming)
        let delta = (standing?.digest ?? .zero) ^ folded.digest
        if delta != .zero { try withSync { $0.digest ^= delta } }
        if folded != standing {
            noteChange(of: "deleted")
            try database.cachedStatement(sql: "INSERT OR REPLACE INTO deleted VALUES (?, ?, ?, ?, ?)").execute(
                arguments: [
                    id.data, folded.objectType.name, folded.mergedInto?.data, folded.rescuedInto?.data,
                    folded.deletionDate.milliseconds,
                ])
        }
        guard let object = try object(id) else { return nil }
        try remove(object)
        return object
    }

    /// The unacknowledged deletion of an object; nil if there is none.
    package func deletion(of id: UniqueID) throws -> LocalDeletion? {
        let statement = try database.cachedStatement(sql: "SELECT heldUntil, record FROM deletions WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id.data]).flatMap { try LocalDeletion(row: $0) }
    }

    /// All unacknowledged deletions, in the order of the IDs of their objects.
    package func deletions() throws -> [LocalDeletion] {
        try Row.fetchAll(database.cachedStatement(sql: "SELECT heldUntil, record FROM deletions ORDER BY id"))
            .compactMap { try LocalDeletion(row: $0) }
    }

    /// Saves a deletion and hides its object.
    package func save(_ deletion: LocalDeletion) throws {
        let id = deletion.deleted.uniqueID
        let type = deletion.deleted.objectType.name
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO deletions VALUES (?, ?, ?, ?)").execute(
            arguments: [id.data, type, deletion.heldUntil?.milliseconds ?? 0, deletion.change.text])
        noteChange(of: "deletions")
        try hide(id, type: type, true)
        hasNewEdits = true
    }

    /// Removes a deletion, and shows its object again if the local copy still has it.
    package func removeDeletion(of id: UniqueID) throws {
        guard let deletion = try deletion(of: id) else { return }
        noteChange(of: "deletions")
        try database.cachedStatement(sql: "DELETE FROM deletions WHERE id = ?").execute(arguments: [id.data])
        if let object = try object(id, type: deletion.deleted.objectType.name) {
            try hide(id, type: object.type, !object.exists)
        }
    }

    private func hide(_ id: UniqueID, type: String, _ isHidden: Bool) throws {
        guard try types.contains(type) else { return }
        noteChange(of: "object.\(type)")
        try database.cachedStatement(sql: "UPDATE \(LocalDatabase.table(type)) SET isHidden = ? WHERE id = ?")
            .execute(arguments: [isHidden, id.data])
    }

    /// Deletes an object. The deletion names the texts that the user saw (merge.md, Deleting a text that was not seen).
    package func delete(
        _ object: LocalObject, mergedInto: UniqueID? = nil, heldUntil: Timestamp?
    ) throws {
        guard let type = ObjectType(object.type) else { return }
        let date = try clock.now(now)
        var deletion = LocalDeletion(
            DeletedObject(uniqueID: object.id, objectType: type, mergedInto: mergedInto, deletionDate: date),
            heldUntil: heldUntil)
        if type.hasTexts {
            var seen: [String: LocalDeletion.SeenText] = [:]
            for attribute in object.texts { seen[attribute] = object.seenText(attribute) }
            deletion.seenTexts = seen
        }
        try save(deletion)
    }

    // MARK: Counts

    /// The counts of unsent changes. `toSend` is the number of unsent deletions plus the number of objects with unsent changes.
    /// `held` is the number of objects that wait because the account is full.
    package func pendingCounts() throws -> (toSend: Int, held: Int) {
        var toSend = try Int.fetchOne(database.cachedStatement(sql: "SELECT count(*) FROM deletions")) ?? 0
        var held = 0
        for type in try types {
            let table = LocalDatabase.table(type)
            let sql = """
                SELECT count(*), coalesce(sum(pending LIKE '%"held":true%'), 0) FROM \(table)
                WHERE pending IS NOT NULL AND id NOT IN (SELECT id FROM deletions)
                """
            if let row = try Row.fetchOne(database.cachedStatement(sql: sql)) {
                toSend += row[0] as Int
                held += row[1] as Int
            }
        }
        return (toSend, held)
    }
}

extension UniqueID {
    /// The bytes of the ID, as a value of SQLite.
    var data: Data { Data(bytes) }

    init?(row: Row) { self.init(bytes: row[0] as Data) }
}

extension Digest {
    init?(data: Data?) {
        guard let data else { return nil }
        self.init(bytes: data)
    }
}

extension LocalObject {
    /// Reads an object from the columns `body`, `clocks` and `pending` of its row. `first` is the index of `body`.
    init(id: UniqueID, type: String, row: Row, from first: Int = 0) throws {
        let columns = ObjectColumns(body: row[first], clocks: row[first + 1], pending: row[first + 2])
        do {
            try self.init(id: id, type: type, columns)
        } catch {
            throw LocalDatabaseError.damaged("the object \(id) cannot be read")
        }
    }

    /// The version of a text that the user sees, for the deletion of the object.
    fileprivate func seenText(_ attribute: String) -> LocalDeletion.SeenText {
        guard let text = edits[attribute], let descent = text.descent else {
            return LocalDeletion.SeenText(clock: registers[attribute]?.clock)
        }
        let own = descent.after.filter { $0 != text.clock } + [text.clock]
        return LocalDeletion.SeenText(clock: descent.base?.clock, after: own.suffix(Limits.textAfter))
    }
}

extension DeletedObject {
    fileprivate init(id: UniqueID, row: Row) throws {
        guard let type = ObjectType(row[0] as String) else {
            throw LocalDatabaseError.damaged("the DeletedObject \(id) has an invalid type")
        }
        self.init(
            uniqueID: id, objectType: type, mergedInto: (row[1] as Data?).flatMap { UniqueID(bytes: $0) },
            rescuedInto: (row[2] as Data?).flatMap { UniqueID(bytes: $0) },
            deletionDate: Timestamp(clamping: row[3]))
    }
}

extension LocalDeletion {
    fileprivate init?(row: Row) throws {
        let heldUntil = row[0] as Int64
        self.init(change: try JSON(text: row[1]), heldUntil: heldUntil == 0 ? nil : Timestamp(clamping: heldUntil))
    }
}
