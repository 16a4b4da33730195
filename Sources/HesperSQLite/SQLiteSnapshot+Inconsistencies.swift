import HesperModel
import HesperStore

extension SQLiteSnapshot {
    func inconsistencies(in scope: ScopeID, _ body: (String) -> Void) throws {
        guard let head = try head(of: scope) else {
            body("Scope \(scope.rawValue) does not exist.")
            return
        }
        try withoutActuallyEscaping(body) { report in
            var inspection = Inspection(snapshot: self, scope: scope, head: head, report: report)
            try inspection.inspectObjects()
            try inspection.inspectScope()
            try IndexInspection(snapshot: self, scope: scope, report: report).inspect()
            try BlobInspection(snapshot: self, scope: scope, report: report).inspect()
        }
    }
}

/// Folds every bag of a scope again and compares what is kept beside it. Objects, DeletedObjects and edits are read side by
/// side in the order of their IDs, so that memory does not grow with the scope.
struct Inspection {
    let snapshot: SQLiteSnapshot
    let scope: ScopeID
    let head: ScopeHead
    let report: (String) -> Void
    private var digest = Digest.zero
    private var greatestClock: Clock?

    init(snapshot: SQLiteSnapshot, scope: ScopeID, head: ScopeHead, report: @escaping (String) -> Void) {
        self.snapshot = snapshot
        self.scope = scope
        self.head = head
        self.report = report
    }

    mutating func inspectObjects() throws {
        let objects = try ordered(
            "SELECT id, section, type, sequence, bytes, digest, body FROM objects WHERE scope = ?1 ORDER BY id")
        let deleted = try ordered(
            "SELECT id, type, merged_into, deletion_date, sequence, bytes FROM tombstones WHERE scope = ?1 ORDER BY id")
        let edits = try ordered(
            """
            SELECT type, is_servers, text_origin, body, object, first_clock, last_clock, text_clock FROM edits
            WHERE scope = ?1 ORDER BY object, number
            """)
        defer { for rows in [objects, deleted, edits] { rows.reset() } }
        func step(_ rows: Prepared, _ column: Int32) throws -> UniqueID? { try rows.step() ? rows.id(column) : nil }
        var object = try step(objects, 0)
        var dead = try step(deleted, 0)
        var parcel = try step(edits, 4)
        while let id = [object, dead, parcel].compactMap(\.self).min() {
            var fold: [Edit] = []
            while parcel == id {
                fold += editsOfParcel(edits, of: id)
                parcel = try step(edits, 4)
            }
            if object == id {
                inspect(objects, id: id, edits: fold)
                if dead == id { report("\(id) is both an object and a DeletedObject.") }
                object = try step(objects, 0)
            } else if dead != id {
                report("\(id) has edits, but is neither an object nor a DeletedObject.")
            }
            if dead == id {
                inspect(deleted, id: id)
                dead = try step(deleted, 0)
            }
        }
    }

    private func ordered(_ sql: String) throws -> Prepared {
        let rows = try snapshot.prepare(sql)
        rows.bind(1, scope)
        return rows
    }

    private mutating func editsOfParcel(_ row: Prepared, of id: UniqueID) -> [Edit] {
        do {
            let parcel = try row.parcel(of: id)
            let clocks = [row.clockIfAny(5), row.clockIfAny(6), row.clockIfAny(7)]
            if clocks != [parcel.firstClock, parcel.lastClock, parcel.textClock] {
                report("\(id) has a parcel of edits whose clocks are not those of its columns.")
            }
            greatestClock = [greatestClock, parcel.lastClock].compactMap(\.self).max()
            return parcel.edits
        } catch {
            report("\(id) has a parcel of edits that cannot be read: \(error)")
            return []
        }
    }

    private mutating func inspect(_ row: Prepared, id: UniqueID, edits: [Edit]) {
        guard let section = try? row.section(1) else { return report("\(id) is in a section that there is not.") }
        var entity = section.empty(id)
        for edit in edits { entity.fold(edit) }
        let body = row.bytes(6)
        if !entity.body.elementsEqual(body) { report("\(id) is not what its edits come to.") }
        if row.integer(4) != body.count { report("\(id) has \(body.count) bytes, not \(row.integer(4)).") }
        if row.stringIfAny(2) != entity.objectType?.name { report("\(id) has another type than its edits say.") }
        if row.digestIfAny(5) != entity.digest { report("\(id) has another digest than its edits come to.") }
        inspect(sequence: row.integerIfAny(3), of: id, exists: entity.exists)
        digest ^= entity.digest
    }

    private mutating func inspect(_ row: Prepared, id: UniqueID) {
        guard let deleted = try? row.deletedObject(id: id, from: 1) else {
            return report("\(id) is a DeletedObject of a type that there is not.")
        }
        if row.int(5) != deleted.body.count { report("\(id) has \(deleted.body.count) bytes, not \(row.int(5)).") }
        inspect(sequence: row.integerIfAny(4), of: id, exists: true)
        digest ^= deleted.digest
    }

    private func inspect(sequence: Int64?, of id: UniqueID, exists: Bool) {
        switch sequence {
        case nil where exists: report("\(id) exists, but has no sequence number.")
        case let sequence? where !exists: report("\(id) waits, but has sequence number \(sequence).")
        case let sequence? where !(1...max(head.sequence, 1)).contains(sequence):
            report("\(id) has sequence number \(sequence), but the last one given out is \(head.sequence).")
        default: break
        }
    }

    /// What the scope's row says of all its objects together.
    func inspectScope() throws {
        if digest != head.digest { report("The scope's digest is \(head.digest), but its objects come to \(digest).") }
        let row = try snapshot.prepare("SELECT greatest_clock FROM scopes WHERE id = ?1")
        row.bind(1, scope)
        let kept = try row.first { row.clockIfAny(0) }
        if let greatestClock, kept.map({ $0 < greatestClock }) ?? true {
            report("The bag holds a clock, \(greatestClock), that is greater than the scope's greatest.")
        }
        let twice = try snapshot.prepare(
            """
            SELECT sequence, count(*) FROM (
                SELECT sequence FROM objects WHERE scope = ?1 AND sequence IS NOT NULL
                UNION ALL SELECT sequence FROM tombstones WHERE scope = ?1)
            GROUP BY sequence HAVING count(*) > 1
            """)
        twice.bind(1, scope)
        try twice.eachRow { report("Sequence number \(twice.integer(0)) was given out \(twice.integer(1)) times.") }
    }
}
