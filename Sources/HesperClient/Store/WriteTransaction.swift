internal import GRDB
internal import HesperModel

/// Reads and writes the store in one transaction. See ``LocalStore/write(_:)``.
public struct WriteTransaction {
    let writer: StoreWriter

    // MARK: Reading

    /// The object with an ID; nil if there is none.
    public func get<Object: SyncedObject>(_ id: ObjectID<Object>) throws -> Object? {
        try writer.reader.get(id)
    }

    /// The objects of a type. See ``ReadTransaction/all(_:where:order:limit:)``.
    public func all<Object: SyncedObject>(
        _ type: Object.Type = Object.self, where condition: ((Fields<Object>) -> Condition<Object>)? = nil,
        order: Order<Object>? = nil, limit: Int? = nil
    ) throws -> [Object] {
        try writer.reader.all(Query(condition, order, limit))
    }

    /// The number of objects of a type.
    public func count<Object: SyncedObject>(
        _ type: Object.Type = Object.self, where condition: ((Fields<Object>) -> Condition<Object>)? = nil
    ) throws -> Int {
        try writer.reader.count(Query(condition))
    }

    // MARK: Writing

    /// Adds a new object.
    /// - Returns: the object as it was stored. To change the object again, change and save this value instead of the argument.
    /// - Throws: ``StoreError/idIsTaken(objectType:id:)`` if there is or was an object with this ID;
    ///   ``StoreError/invalidValue(_:)`` if a value is out of range.
    @discardableResult
    public func insert<Object: SyncedObject>(_ object: Object) throws -> Object {
        try writer.insert(object)
    }

    /// Changes an object.
    ///
    ///     try tx.update(soup.id) { $0.title = "Leek soup"; $0.cooked += 1 }
    ///
    /// Only the properties that `edit` changes are written. A text that was read and edited before this call would overwrite the
    /// changes that have arrived since it was read. Use ``save(_:)`` for such a text, which merges it with these changes.
    /// - Returns: the object as it was stored.
    /// - Throws: ``StoreError/notFound(objectType:id:)`` if there is no such object.
    @discardableResult
    public func update<Object: SyncedObject>(
        _ id: ObjectID<Object>, _ edit: (inout Object) throws -> Void
    ) throws -> Object {
        try writer.update(id, edit)
    }

    /// Writes the properties of an object that were changed since it was read, and leaves all other properties as they are. A text
    /// is merged with the changes that arrived since it was read. If the object was not read from the store and does not exist, it
    /// is added.
    /// - Returns: the object as it is now, with the changes of other devices. To change the object again, change and save this
    ///   value instead of the argument.
    /// - Throws: ``StoreError/notFound(objectType:id:)`` if the object was deleted since it was read.
    @discardableResult
    public func save<Object: SyncedObject>(_ object: Object) throws -> Object {
        try writer.save(object)
    }

    /// Replaces the text of a note with a text that was edited from `base`, for example in a file. If the current text of the note
    /// differs from `base`, the differences are merged into the new text.
    /// - Returns: the note as it is now.
    /// - Throws: ``StoreError/notFound(objectType:id:)`` if there is no such note; ``StoreError/invalidValue(_:)`` if the merged
    ///   text is too large.
    @discardableResult
    public func merge(_ text: String, base: String, into id: ObjectID<Note>) throws -> Note {
        try writer.merge(text, base: base, into: id, \.$text)
    }

    /// Replaces a text of an object with a text that was edited from `base`. If the current text of the object differs from `base`,
    /// the differences are merged into the new text.
    ///
    ///     try tx.merge(text, base: base, into: soup.id, \.$method)
    ///
    /// - Returns: the object as it is now.
    /// - Throws: ``StoreError/notFound(objectType:id:)`` if there is no such object; ``StoreError/invalidValue(_:)`` if the merged
    ///   text is too large.
    @discardableResult
    public func merge<Object: SyncedObject>(
        _ text: String, base: String, into id: ObjectID<Object>, _ property: KeyPath<Object, Merged<MergedText>>
    ) throws -> Object {
        try writer.merge(text, base: base, into: id, property)
    }

    /// Deletes an object. Nothing happens if there is none.
    ///
    /// The deletion is sent to the server after 10 seconds. Until then, undo restores the same object.
    public func delete<Object: SyncedObject>(_ id: ObjectID<Object>) throws {
        try writer.delete(id.uniqueID, type: Object.self)
    }
}

extension RecordsTransaction {
    /// Returns this transaction as a ``WriteTransaction``, for the simulator. Apps get a ``WriteTransaction`` from ``LocalStore``.
    package func forApp(_ objectTypes: Set<String>) -> WriteTransaction {
        WriteTransaction(writer: StoreWriter(StoreReader(self, objectTypes: objectTypes)))
    }
}

/// Writes objects of declared types to the records, and collects the entries to undo the changes.
final class StoreWriter {
    let reader: StoreReader
    let records: RecordsTransaction
    /// The entries for the changes that were made so far, in order.
    private(set) var step: [UndoEntry] = []

    /// The time for which a deletion can be undone without creating a new object, in milliseconds.
    static let deletionDelay: Int64 = 10_000

    init(_ reader: StoreReader) {
        self.reader = reader
        records = reader.records
    }

    func insert<Object: SyncedObject>(_ object: Object) throws -> Object {
        try reader.check(Object.self)
        guard Object.self != Attachment.self else { throw StoreError.readOnly(objectType: Object.objectType) }
        let (fixed, changes) = try object.insertion()
        let node = try records.clock.node
        let values = changes.map { change -> (attribute: String, value: Value) in
            switch change {
            case .set(let attribute, let value): (attribute, value)
            case .add(let attribute, let count): ("\(attribute).\(node)", .integer(Int64(count)))
            case .text(let attribute, _, let text): (attribute, .string(text))
            }
        }
        try Shape<Object>.shared.checkLimits(values.map(\.attribute))
        var record = LocalObject(id: object.id.uniqueID, type: Object.objectType)
        record.made = LocalObject.Made(fixed: fixed)
        guard let inserted = try records.insert(record, values: values) else {
            throw StoreError.idIsTaken(objectType: Object.objectType, id: object.id.description)
        }
        step.append(.inserted(inserted.id, type: Object.objectType))
        return try reader.read(inserted)
    }

    func update<Object: SyncedObject>(_ id: ObjectID<Object>, _ edit: (inout Object) throws -> Void) throws -> Object {
        guard let record = try reader.record(id) else { throw notFound(id) }
        var object: Object = try reader.read(record)
        try edit(&object)
        guard object.id == id else { throw StoreError.invalidValue("The ID of an object must not change.") }
        return try write(object.changes(), to: record)
    }

    func save<Object: SyncedObject>(_ object: Object) throws -> Object {
        guard let record = try reader.record(object.id) else {
            if try object.wasRead { throw notFound(object.id) }
            return try insert(object)
        }
        return try write(object.changes(), to: record)
    }

    func delete<Object: SyncedObject>(_ id: UniqueID, type: Object.Type) throws {
        guard let record = try reader.record(ObjectID<Object>(id)) else { return }
        try delete(record)
    }

    func delete(_ record: LocalObject) throws {
        let heldUntil = Timestamp(clamping: records.now.milliseconds + StoreWriter.deletionDelay)
        try records.delete(record, heldUntil: heldUntil)
        step.append(.deleted(record))
    }

    func merge<Object: SyncedObject>(
        _ text: String, base: String, into id: ObjectID<Object>, _ property: KeyPath<Object, Merged<MergedText>>
    ) throws -> Object {
        guard let record = try reader.record(id) else { throw notFound(id) }
        let attribute = Shape<Object>.shared.probe[keyPath: property].name
        return try write([.text(attribute, base: base, now: text)], to: record)
    }

    private func notFound<Object: SyncedObject>(_ id: ObjectID<Object>) -> StoreError {
        .notFound(objectType: Object.objectType, id: id.description)
    }

    // MARK: Changes

    private func write<Object: SyncedObject>(_ changes: [AttributeChange], to record: LocalObject) throws -> Object {
        guard !changes.isEmpty else { return try reader.read(record) }
        var record = record
        for change in changes {
            switch change {
            case .set(let attribute, let value):
                let before = record.value(attribute)
                let clock = try records.edit(&record, attribute, value)
                note(record, .set(attribute, before: before, after: value, clock))
            case .add(let attribute, let delta):
                try add(delta, to: attribute, of: &record)
                note(record, .add(attribute, delta))
            case .text(let attribute, let base, let now):
                try write(text: now, base: base, to: attribute, of: &record)
            }
        }
        try Shape<Object>.shared.checkLimits(record.visible.keys)
        try records.save(record)
        return try reader.read(record)
    }

    /// Adds a number to this node's register of a counter.
    func add(_ delta: Int, to attribute: String, of record: inout LocalObject) throws {
        let part = "\(attribute).\(try records.clock.node)"
        var standing: Int64 = 0
        if case .integer(let value)? = record.value(part) { standing = value }
        let sum = min(max(standing + Int64(delta), -Limits.integer), Limits.integer)
        try records.edit(&record, part, .integer(sum))
    }

    /// Merges `text` with the current text of the attribute, and writes the result.
    /// - Parameter base: the text from which `text` was edited. Nil has the same effect as an empty text.
    func write(
        text: String, base: String?, to attribute: String, of record: inout LocalObject
    ) throws {
        var standing = ""
        if case .string(let value)? = record.value(attribute) { standing = value }
        let merged = TextMerge.merge(base: base ?? "", older: standing, newer: text)
        guard merged.utf8.count <= Limits.textBytes else {
            let name = AttributeName.split(attribute).key ?? attribute
            throw StoreError.invalidValue("\(name) must have at most \(Limits.textBytes) bytes of UTF-8.")
        }
        guard !merged.isIdentical(to: standing) else { return }
        try records.edit(&record, attribute, .string(merged))
        note(record, .text(attribute, before: standing, after: merged))
    }

    func note(_ record: LocalObject, _ change: UndoEntry.Change) {
        step.append(.changed(record.id, type: record.type, change))
    }

    func note(_ entry: UndoEntry) { step.append(entry) }
}
