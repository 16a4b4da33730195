public import Foundation
internal import GRDB
internal import HesperModel

/// Values of the app that stay on this device: they are in the database file, but are never sent. A transaction can write them
/// together with objects, so that the values always match the objects.
///
///     try await store.write { tx in
///         try tx.merge(text, base: base, into: note.id)
///         try tx.setLocal("base.\(note.id)", Data(text.utf8))
///     }
extension WriteTransaction {
    /// Saves a value under a name.
    /// - Parameters:
    ///   - name: the name of the value.
    ///   - value: the value; nil to remove it.
    public func setLocal(_ name: String, _ value: Data?) throws {
        let database = writer.records.database
        if let value {
            try database.cachedStatement(
                sql: "INSERT INTO local VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
            ).execute(arguments: [name, value])
        } else {
            try database.cachedStatement(sql: "DELETE FROM local WHERE name = ?").execute(arguments: [name])
        }
    }

    /// The value that was saved under a name; nil if there is none.
    public func local(_ name: String) throws -> Data? { try writer.reader.local(name) }

    /// The version of an object. See ``ReadTransaction/version(of:)``.
    public func version<Object: SyncedObject>(of id: ObjectID<Object>) throws -> String? {
        try writer.reader.version(of: id)
    }
}

extension ReadTransaction {
    /// The value that was saved under a name; nil if there is none.
    public func local(_ name: String) throws -> Data? { try reader.local(name) }

    /// The values whose names begin with a prefix. The keys are the parts of the names after the prefix.
    public func locals(withPrefix prefix: String) throws -> [String: Data] { try reader.locals(withPrefix: prefix) }

    /// The version of an object: a text that changes whenever the object changes. Nil if there is no such object.
    public func version<Object: SyncedObject>(of id: ObjectID<Object>) throws -> String? {
        try reader.version(of: id)
    }

    /// The versions of all objects of a type. In contrast to reading all objects, this is fast and needs little memory.
    public func versions<Object: SyncedObject>(of type: Object.Type) throws -> [ObjectID<Object>: String] {
        try reader.versions(of: type)
    }
}

extension LocalStore {
    /// The versions of all objects of a type, now and whenever one changes. See ``ReadTransaction/versions(of:)``.
    public func versions<Object: SyncedObject>(of type: Object.Type) -> Snapshots<[ObjectID<Object>: String]> {
        snapshots { try $0.versions(of: type) }
    }
}

extension StoreReader {
    func local(_ name: String) throws -> Data? {
        let statement = try records.database.cachedStatement(sql: "SELECT value FROM local WHERE name = ?")
        return try Data.fetchOne(statement, arguments: [name])
    }

    func locals(withPrefix prefix: String) throws -> [String: Data] {
        let sql = "SELECT substr(name, ?), value FROM local WHERE substr(name, 1, ?) = ?"
        let length = prefix.unicodeScalars.count
        let cursor = try Row.fetchCursor(records.database, sql: sql, arguments: [length + 1, length, prefix])
        var values: [String: Data] = [:]
        while let row = try cursor.next() { values[row[0]] = row[1] }
        return values
    }

    func version<Object: SyncedObject>(of id: ObjectID<Object>) throws -> String? {
        try check(Object.self)
        let sql = "SELECT clocks FROM \(LocalDatabase.table(Object.objectType)) WHERE id = ? AND isHidden = 0"
        let statement = try records.database.cachedStatement(sql: sql)
        return try String.fetchOne(statement, arguments: [id.uniqueID.data]).map(StoreReader.version)
    }

    func versions<Object: SyncedObject>(of type: Object.Type) throws -> [ObjectID<Object>: String] {
        try check(type)
        let sql = "SELECT id, clocks FROM \(LocalDatabase.table(type.objectType)) WHERE isHidden = 0"
        let cursor = try Row.fetchCursor(records.database, sql: sql)
        var versions: [ObjectID<Object>: String] = [:]
        while let row = try cursor.next() {
            guard let id = UniqueID(row: row) else { throw StoreError.damaged("an ID of \(type.objectType)") }
            versions[ObjectID(id)] = StoreReader.version(row[1])
        }
        return versions
    }

    /// Computes the version of an object from its clocks. A clock identifies a value (merge.md, Clocks), so the clocks of an object
    /// identify its values.
    private static func version(_ clocks: String) -> String { Digest(of: Array(clocks.utf8)).description }
}
