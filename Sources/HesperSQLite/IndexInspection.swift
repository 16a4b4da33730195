import HesperModel
import HesperStore

/// Compares what is kept to find objects by (members, names of tags, terms) with the objects.
struct IndexInspection {
    let snapshot: SQLiteSnapshot
    let scope: ScopeID
    let report: (String) -> Void

    func inspect() throws {
        let indexed = try snapshot.indexedSequence(of: scope)
        let objects = try bound("SELECT id, section, sequence, body FROM objects WHERE scope = ?1 ORDER BY id")
        try objects.eachRow {
            let id = try objects.id(0)
            guard let section = try? objects.section(1),
                let entity = try? Entity.read(objects.bytes(3), id: id, section: section)
            else { return report("\(id) cannot be read.") }
            for member in entity.heldMembers.sorted() where try !holds(member, id) {
                report("\(id) holds \(member), but is not found by it.")
            }
            if let name = entity.foldedTagName, try snapshot.tag(named: name, in: scope) != id {
                report("Tag \(id) is not found by its name.")
            }
            if case .note(let note) = entity, let sequence = objects.integerIfAny(2), sequence <= indexed {
                try inspectTerms(of: note)
            }
        }
        try inspectStrays(indexed: indexed)
    }

    private func bound(_ sql: String) throws -> Prepared {
        let rows = try snapshot.prepare(sql)
        rows.bind(1, scope)
        return rows
    }

    private func holds(_ member: UniqueID, _ note: UniqueID) throws -> Bool {
        let row = try bound("SELECT 1 FROM members WHERE scope = ?1 AND member = ?2 AND object = ?3")
        row.bind(2, member)
        row.bind(3, note)
        return try row.first { true } ?? false
    }

    private func inspectTerms(of note: Note) throws {
        let id = note.uniqueID
        let row = try bound(
            """
            SELECT d.sort_date, d.archived, d.text_clock, t.text FROM documents d LEFT JOIN terms t ON t.rowid = d.number
            WHERE d.scope = ?1 AND d.note = ?2
            """)
        row.bind(2, id)
        let found: Void? = try row.first {
            if row.timestamp(0) != note.effectiveSortDate || (row.integer(1) != 0) != note.archived
                || row.clockIfAny(2) != note.$text.clock
            {
                report("\(id) stands in the index of terms as it was, not as it is.")
            }
            if row.isNull(3) || !ScopedTerms.joined(in: note.text, scope: scope).elementsEqual(row.bytes(3)) {
                report("\(id) stands in the index of terms with other terms than its text has.")
            }
        }
        if found == nil { report("\(id) is missing in the index of terms.") }
    }

    /// Entries whose object is gone, or is no longer what they say.
    private func inspectStrays(indexed: Int64) throws {
        let reader = try StateReader(snapshot, scope: scope)
        func entity(_ id: UniqueID) throws -> Entity? {
            if case .entity(let entity, _)? = try? reader.state(of: id) { entity } else { nil }
        }
        let members = try bound("SELECT member, object FROM members WHERE scope = ?1")
        try members.eachRow {
            let (member, id) = (try members.id(0), try members.id(1))
            if try !(entity(id)?.heldMembers.contains(member) ?? false) {
                report("\(id) is found by \(member), but does not hold it.")
            }
        }
        let names = try bound("SELECT folded_name, tag FROM tag_names WHERE scope = ?1")
        try names.eachRow {
            let id = try names.id(1)
            if try entity(id)?.foldedTagName != names.string(0) {
                report("Tag \(id) is found by a name that is not its own.")
            }
        }
        let documents = try bound("SELECT note FROM documents WHERE scope = ?1")
        try documents.eachRow {
            let id = try documents.id(0)
            switch try? reader.state(of: id) {
            case .entity(.note, _?)?: break
            case .deleted(_, let sequence)? where sequence > indexed: break
            default: report("\(id) stands in the index of terms, but is no note.")
            }
        }
    }
}
