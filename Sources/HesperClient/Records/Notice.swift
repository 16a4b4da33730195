internal import Foundation
internal import GRDB
package import HesperModel

/// A change that the server rejected. It is kept so that the app can show it (clients.md, rule 9).
package struct ShelvedChange: Sendable, Equatable {
    package var number: Int64 = 0
    package var id: UniqueID
    package var type: String
    /// The name of the rejected register; nil if the object itself or its deletion was rejected.
    package var attribute: String?
    package var value: Value?
    package var isDeletion = false
    package var slug: String
    package var detail: String
    /// The clock of the rejected edit; nil if the object itself or its deletion was rejected.
    package var clock: Clock?
    package var moment: Timestamp

    var json: JSON {
        JSON(members: [
            ("type", .string(type)), ("attribute", attribute.map(JSON.string)), ("value", value?.json),
            ("clock", clock.map { .string($0.description) }),
            ("isDeletion", isDeletion ? true : nil), ("slug", .string(slug)), ("detail", .string(detail)),
            ("moment", .integer(moment.milliseconds)),
        ])
    }
}

/// A change that sync made to a text and that the user should know of.
package struct Notice: Sendable, Equatable {
    package enum Kind: String, Sendable {
        /// Two devices replaced the same words, and a merge kept one version. The versions that it did not keep are in `texts`.
        case merged
        /// The object was deleted on another device while this device had unsent changes of its texts. The unsent texts are
        /// now in the object `into`.
        case rescued
        /// This device deleted the object without having received all of its texts. The missing texts are now in the object
        /// `into`.
        case unseen
    }

    package var number: Int64 = 0
    package var kind: Kind
    package var id: UniqueID
    package var type: String
    /// The text that was merged; nil for other kinds.
    package var attribute: String?
    package var into: UniqueID?
    package var texts: [String] = []
    package var clock: Clock?
    package var moment: Timestamp

    var json: JSON {
        JSON(members: [
            ("kind", .string(kind.rawValue)), ("type", .string(type)), ("attribute", attribute.map(JSON.string)),
            ("into", into.map { .string($0.description) }),
            ("texts", .array(texts.map(JSON.string))), ("clock", clock.map { .string($0.description) }),
            ("moment", .integer(moment.milliseconds)),
        ])
    }
}

extension RecordsTransaction {
    package func add(_ change: ShelvedChange) throws {
        noteChange(of: "shelf")
        try database.cachedStatement(sql: "INSERT INTO shelf (id, record) VALUES (?, ?)")
            .execute(arguments: [change.id.data, change.json.text])
    }

    package func shelf() throws -> [ShelvedChange] {
        let statement = try database.cachedStatement(sql: "SELECT number, id, record FROM shelf ORDER BY number")
        return try Row.fetchAll(statement).compactMap { row in
            let json = try JSON(text: row[2])
            guard let id = UniqueID(bytes: row[1] as Data), let moment = json["moment"]?.integer else { return nil }
            return ShelvedChange(
                number: row[0], id: id, type: json["type"]?.string ?? "", attribute: json["attribute"]?.string,
                value: json["value"].flatMap(Value.init(scalar:)), isDeletion: json["isDeletion"]?.bool ?? false,
                slug: json["slug"]?.string ?? "", detail: json["detail"]?.string ?? "", clock: json["clock"]?.clock,
                moment: Timestamp(clamping: moment))
        }
    }

    package func removeFromShelf(_ number: Int64) throws {
        noteChange(of: "shelf")
        try database.execute(sql: "DELETE FROM shelf WHERE number = ?", arguments: [number])
    }

    package func add(_ notice: Notice) throws {
        noteChange(of: "notices")
        try database.cachedStatement(sql: "INSERT INTO notices (id, record) VALUES (?, ?)")
            .execute(arguments: [notice.id.data, notice.json.text])
    }

    /// The notices about one object, or about all objects if `object` is nil.
    package func notices(of object: UniqueID? = nil) throws -> [Notice] {
        let sql = "SELECT number, id, record FROM notices WHERE ?1 IS NULL OR id = ?1 ORDER BY number"
        return try Row.fetchAll(database, sql: sql, arguments: [object?.data]).compactMap { row in
            let json = try JSON(text: row[2])
            guard let id = UniqueID(bytes: row[1] as Data), let moment = json["moment"]?.integer,
                let kind = json["kind"]?.string.flatMap(Notice.Kind.init)
            else { return nil }
            return Notice(
                number: row[0], kind: kind, id: id, type: json["type"]?.string ?? TypeName.note,
                attribute: json["attribute"]?.string, into: json["into"]?.id,
                texts: json["texts"]?.elements.compactMap(\.string) ?? [], clock: json["clock"]?.clock,
                moment: Timestamp(clamping: moment))
        }
    }

    /// Finds the object that now contains the texts of a deleted object. This device or the server may have moved the texts to
    /// another object (a rescue). If that object was deleted too, its own rescue is followed, and so on, for at most ten rescues.
    /// Returns nil if the texts were not moved, or if the last object is deleted.
    package func continuation(of id: UniqueID) throws -> UniqueID? {
        var last = id
        for _ in 0..<10 {
            let kept = try notices(of: last).last { $0.kind == .rescued }?.into
            guard let next = try kept ?? deleted(last)?.rescuedInto else { break }
            last = next
        }
        return try last == id || isDeleted(last) || deletion(of: last) != nil ? nil : last
    }

    package func removeNotice(_ number: Int64) throws {
        noteChange(of: "notices")
        try database.execute(sql: "DELETE FROM notices WHERE number = ?", arguments: [number])
    }

    // MARK: Bytes of attachments

    /// Whether the bytes of an attachment are on this device.
    package func hasBytes(_ id: UniqueID) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM bytes WHERE id = ?)"), arguments: [id.data])
            ?? false
    }

    /// The name of the file with an attachment's bytes. The name is the ID of the attachment for which the file was written, which
    /// may be another attachment with the same bytes.
    package func file(of id: UniqueID) throws -> UniqueID? {
        try Data.fetchOne(
            database.cachedStatement(sql: "SELECT file FROM bytes WHERE id = ?"), arguments: [id.data]
        ).flatMap { UniqueID(bytes: $0) }
    }

    /// Records that the bytes of an attachment are in a file. Several attachments may have the same file.
    package func setBytes(of id: UniqueID, file: UniqueID, byteCount: Int64) throws {
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO bytes VALUES (?, ?, ?, ?)")
            .execute(arguments: [id.data, file.data, byteCount, now.milliseconds])
    }
}
