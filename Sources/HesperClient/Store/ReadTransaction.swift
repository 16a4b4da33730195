internal import Foundation
internal import GRDB
internal import HesperModel

/// Reads from one snapshot of the store. See ``LocalStore/read(_:)``.
public struct ReadTransaction {
    let reader: StoreReader

    /// The object with an ID; nil if there is none.
    public func get<Object: SyncedObject>(_ id: ObjectID<Object>) throws -> Object? { try reader.get(id) }

    /// The objects of a type.
    /// - Parameters:
    ///   - condition: the predicate, for example `{ $0.$title.contains("soup") }`. By default, all objects are
    ///     returned.
    ///   - order: the order. By default, objects are in the order of their IDs.
    ///   - limit: the maximum number of objects.
    public func all<Object: SyncedObject>(
        _ type: Object.Type = Object.self, where condition: ((Fields<Object>) -> Condition<Object>)? = nil,
        order: Order<Object>? = nil, limit: Int? = nil
    ) throws -> [Object] {
        try reader.all(Query(condition, order, limit))
    }

    /// The number of objects of a type.
    public func count<Object: SyncedObject>(
        _ type: Object.Type = Object.self, where condition: ((Fields<Object>) -> Condition<Object>)? = nil
    ) throws -> Int {
        try reader.count(Query(condition))
    }
}

/// A query for objects of a type: the condition, the order and the limit.
struct Query<Object: SyncedObject>: Sendable {
    let condition: Condition<Object>?
    let order: Order<Object>?
    let limit: Int?

    init(
        _ condition: ((Fields<Object>) -> Condition<Object>)?, _ order: Order<Object>? = nil, _ limit: Int? = nil
    ) {
        self.condition = condition?(Fields())
        self.order = order
        self.limit = limit
    }
}

/// Reads objects of declared types from the records.
final class StoreReader {
    let records: RecordsTransaction
    private let objectTypes: Set<String>
    private lazy var membership = Membership(records)

    init(_ records: RecordsTransaction, objectTypes: Set<String>) {
        self.records = records
        self.objectTypes = objectTypes
    }

    /// Throws unless the type was declared when the store was opened.
    func check<Object: SyncedObject>(_ type: Object.Type) throws {
        guard objectTypes.contains(Object.objectType) else { throw StoreError.typeNotDeclared(Object.objectType) }
    }

    /// The record of an object; nil if the app sees no object with this ID.
    func record<Object: SyncedObject>(_ id: ObjectID<Object>) throws -> LocalObject? {
        try check(Object.self)
        guard let object = try records.object(id.uniqueID, type: Object.objectType), object.exists,
            try records.deletion(of: object.id) == nil
        else { return nil }
        return object
    }

    func get<Object: SyncedObject>(_ id: ObjectID<Object>) throws -> Object? {
        try record(id).map(read)
    }

    /// Reads an object from its record.
    func read<Object: SyncedObject>(_ record: LocalObject) throws -> Object {
        let visible = record.visible
        var image = ObjectImage(id: record.id, values: visible.mapValues(\.value))
        for (name, value) in record.visibleFixed where visible[name] == nil { image.values[name] = value }
        if Shape<Object>.shared.hasSets { image.clocks = visible.mapValues(\.clock) }
        return try read(image)
    }

    private func read<Object: SyncedObject>(_ image: ObjectImage) throws -> Object {
        try Object(image: image) { [membership] in try membership.target(of: $0) }
    }

    func all<Object: SyncedObject>(_ query: Query<Object>) throws -> [Object] {
        let limit: SQL = query.limit.map { "LIMIT \(max(0, $0))" } ?? ""
        let sql: SQL = """
            SELECT id, body, clocks FROM \(sql: LocalDatabase.table(Object.objectType)) WHERE \(try filter(query))
            ORDER BY \(try Order.sql(query.order)) \(limit)
            """
        return try fetch(sql)
    }

    /// Reads the objects of a statement that returns `id`, `body` and `clocks`.
    func fetch<Object: SyncedObject>(_ sql: SQL) throws -> [Object] {
        let hasSets = Shape<Object>.shared.hasSets
        let rows = try SQLRequest<Row>(literal: sql).fetchCursor(records.database)
        var objects: [Object] = []
        while let row = try rows.next() {
            guard let id = UniqueID(row: row) else {
                throw StoreError.damaged("an object of type \(Object.objectType) has no ID")
            }
            var image = ObjectImage(id: id, values: [:])
            for member in try JSON(text: row[1]).members { image.values[member.name] = Value(scalar: member.value) }
            if hasSets {
                for member in try JSON(text: row[2]).members { image.clocks[member.name] = member.value.clock }
            }
            objects.append(try read(image))
        }
        return objects
    }

    func count<Object: SyncedObject>(_ query: Query<Object>) throws -> Int {
        let sql: SQL = """
            SELECT count(*) FROM \(sql: LocalDatabase.table(Object.objectType)) WHERE \(try filter(query))
            """
        return try SQLRequest<Int>(literal: sql).fetchOne(records.database) ?? 0
    }

    private func filter<Object: SyncedObject>(_ query: Query<Object>) throws -> SQL {
        try check(Object.self)
        guard let condition = query.condition else { return "isHidden = 0" }
        let context = QueryContext { [membership] in try membership.sources(of: $0) }
        return "isHidden = 0 AND \(try condition.sql(context))"
    }
}

/// Finds the live tag or attachment for an ID: for a merged tag, the tag into which it was merged; for a deleted object, none
/// (merge.md, Membership). Each ID is looked up once.
final class Membership {
    private let records: RecordsTransaction
    private var targets: [UniqueID: UniqueID?] = [:]

    init(_ records: RecordsTransaction) { self.records = records }

    /// The ID of the live tag or attachment for an ID; nil if there is none.
    func target(of id: UniqueID) throws -> UniqueID? {
        if let known = targets[id] { return known }
        let target =
            try records.resolve(id, type: TypeName.tag) ?? records.resolve(id, type: TypeName.attachment)
        targets[id] = .some(target)
        return target
    }

    /// Returns all IDs by which a note may refer to the tag or attachment with this ID: the given ID and, for a tag, the IDs of the
    /// tags that were merged into this tag. Returns no IDs if the tag or attachment is not live.
    func sources(of id: UniqueID) throws -> [UniqueID] {
        guard try target(of: id) == id else { return [] }
        var found = [id]
        var index = 0
        while index < found.count {
            let statement = try records.database.cachedStatement(
                sql: """
                    SELECT id FROM deleted WHERE mergedInto = ?
                    UNION SELECT id FROM deletions WHERE record ->> '$.mergedInto' = ?
                    """)
            let former = try Row.fetchAll(statement, arguments: [found[index].data, found[index].description])
                .compactMap(UniqueID.init(row:))
            found += former.filter { !found.contains($0) }
            index += 1
        }
        return found
    }
}
