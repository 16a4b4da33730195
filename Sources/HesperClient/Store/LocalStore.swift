public import Foundation
internal import GRDB
package import HesperModel

/// The local copy of a user's objects: a SQLite database file, which works with or without an account.
///
///     let store = try await LocalStore(at: url, Recipe.self)
///     let soup = try await store.insert(Recipe(title: "Soup"))
///     try await store.write { tx in
///         try tx.update(soup.id) { $0.title = "Leek soup"; $0.cooked += 1 }
///     }
///
/// Reading and writing never wait for the network, and never fail because of it.
public final class LocalStore: Sendable {
    package let database: LocalDatabase
    /// The files with the bytes of attachments.
    package let files: any AttachmentFiles
    private let objectTypes: Set<String>
    /// The defaults of declared attributes, by type.
    private let defaults: [String: [String: Value]]
    let history = UndoHistory()
    /// Syncs the local copy while the user is signed in.
    let runner: SyncRunner
    /// Ensures that only one of the processes that have the database file open connects to the server. Nil for a database in memory.
    private let lock: ConnectionLock?
    private let isSuspended = Locked(false)
    /// Creates the transport that sends requests to a server.
    let makeTransport: @Sendable (ServerURL) -> any Transport

    /// Opens a store. The database file is created if it does not exist. The bytes of attachments are stored in a folder beside it.
    /// - Parameters:
    ///   - url: the database file.
    ///   - types: the types that the app declares. ``Note``, ``Tag`` and ``Attachment`` need not be given.
    /// - Throws: ``StoreError/invalidType(_:)`` if a type is declared in a way that cannot sync;
    ///   ``StoreError/newerVersion``, ``StoreError/unavailable(_:)`` or ``StoreError/damaged(_:)`` if the database file cannot be used.
    public convenience init(at url: URL, _ types: any SyncedObject.Type...) async throws {
        #if canImport(Security)
            try await self.init(at: url, KeychainMemory(), types)
        #else
            try await self.init(at: url, FolderMemory(), types)
        #endif
    }

    /// Opens a store, and checks whether its database file was copied from another device.
    package convenience init(
        at url: URL, _ memory: any DeviceMemory, now: @escaping @Sendable () -> Timestamp = LocalDatabase.wallClock,
        _ types: [any SyncedObject.Type],
        makeTransport: @escaping @Sendable (ServerURL) -> any Transport = { URLSessionTransport(server: $0) }
    ) async throws {
        let open = Task.detached {
            try LocalStore.reporting {
                (try LocalDatabase(path: url.path, now: now), try FolderAttachmentFiles(folder: url.path + "-files"))
            }
        }
        let (database, files) = try await open.value
        try await database.performWrite { records in
            if try CopyCheck.run(records, memory) { try TransferTable.replaceMissing(records, files) }
        }
        try await self.init(database, files, types, lock: ConnectionLock(url), makeTransport: makeTransport)
        watchOtherProcesses()
    }

    /// Opens a store on a database that is open.
    package init(
        _ database: LocalDatabase, _ files: any AttachmentFiles, _ types: [any SyncedObject.Type],
        lock: ConnectionLock? = nil,
        makeTransport: @escaping @Sendable (ServerURL) -> any Transport = { URLSessionTransport(server: $0) }
    ) async throws {
        let all = [Note.self, Tag.self, Attachment.self] + types
        try checkDeclarations(all)
        self.database = database
        self.files = files
        self.lock = lock
        self.makeTransport = makeTransport
        runner = SyncRunner(database: database, files: files, makeTransport: makeTransport)
        objectTypes = Set(all.map { $0.objectType })
        defaults = Dictionary(all.map { ($0.objectType, $0.declaredDefaults) }) { first, _ in first }
        try await database.performWrite { records in
            for type in all {
                try records.addType(type.objectType)
                try type.addIndexes(to: records.database)
            }
        }
        await runner.report()
        await connect()
    }

    // MARK: Reading and writing

    /// Reads from one snapshot.
    ///
    ///     let (soups, count) = try await store.read { tx in
    ///         (try tx.all(Recipe.self, where: { $0.$title.contains("soup") }), try tx.count(Recipe.self))
    ///     }
    public func read<Result: Sendable>(
        _ body: @Sendable (ReadTransaction) throws -> Result
    ) async throws -> Result {
        try await database.performRead { [objectTypes] records in
            try body(ReadTransaction(reader: StoreReader(records, objectTypes: objectTypes)))
        }
    }

    /// Writes in one transaction. ``undo()`` reverses the transaction as a whole. Nothing is written if `body` throws.
    ///
    ///     try await store.write { tx in
    ///         try tx.update(soup.id) { $0.title = "Leek soup" }
    ///         try tx.delete(stew.id)
    ///     }
    @discardableResult
    public func write<Result: Sendable>(
        _ body: @Sendable (WriteTransaction) throws -> Result
    ) async throws -> Result {
        try await history.inTurn {
            let (result, step) = try await perform { writer in
                let result = try body(WriteTransaction(writer: writer))
                return (result, writer.step)
            }
            history.append(step)
            return result
        }
    }

    /// Runs a transaction. If the transaction made changes that must be sent, starts a round of sync.
    private func perform<Result: Sendable>(_ body: @Sendable (StoreWriter) throws -> Result) async throws -> Result {
        let (result, hasNewEdits) = try await database.performWrite { [objectTypes] records in
            let result = try body(StoreWriter(StoreReader(records, objectTypes: objectTypes)))
            return (result, records.hasNewEdits)
        }
        if hasNewEdits { await runner.changed() }
        return result
    }

    /// Adds a new object. See ``WriteTransaction/insert(_:)``.
    @discardableResult
    public func insert<Object: SyncedObject>(_ object: Object) async throws -> Object {
        try await write { try $0.insert(object) }
    }

    /// Changes an object. See ``WriteTransaction/update(_:_:)``.
    @discardableResult
    public func update<Object: SyncedObject>(
        _ id: ObjectID<Object>, _ edit: @Sendable (inout Object) throws -> Void
    ) async throws -> Object {
        try await write { try $0.update(id, edit) }
    }

    /// Writes the properties of an object that were changed since it was read. See ``WriteTransaction/save(_:)``.
    @discardableResult
    public func save<Object: SyncedObject>(_ object: Object) async throws -> Object {
        try await write { try $0.save(object) }
    }

    /// Deletes an object. See ``WriteTransaction/delete(_:)``.
    public func delete<Object: SyncedObject>(_ id: ObjectID<Object>) async throws {
        try await write { try $0.delete(id) }
    }

    /// The object with an ID; nil if there is none.
    public func get<Object: SyncedObject>(_ id: ObjectID<Object>) async throws -> Object? {
        try await read { try $0.get(id) }
    }

    /// The objects of a type. See ``ReadTransaction/all(_:where:order:limit:)``.
    public func all<Object: SyncedObject>(
        _ type: Object.Type = Object.self, where condition: ((Fields<Object>) -> Condition<Object>)? = nil,
        order: Order<Object>? = nil, limit: Int? = nil
    ) async throws -> [Object] {
        let query = Query(condition, order, limit)
        return try await read { try $0.reader.all(query) }
    }

    /// The number of objects of a type.
    public func count<Object: SyncedObject>(
        _ type: Object.Type = Object.self, where condition: ((Fields<Object>) -> Condition<Object>)? = nil
    ) async throws -> Int {
        let query = Query(condition)
        return try await read { try $0.reader.count(query) }
    }

    // MARK: Undo

    /// Whether this process has a transaction that can be undone.
    public var canUndo: Bool { history.canUndo }
    /// Whether this process has an undone transaction that can be redone.
    public var canRedo: Bool { history.canRedo }

    /// Undoes the last transaction of this process, with new edits. Later changes, made here or on another device, are kept. An
    /// object that was deleted more than 10 seconds ago is restored with a new ID, except an attachment, which is not restored.
    /// - Returns: whether there was something to undo.
    @discardableResult
    public func undo() async throws -> Bool { try await reverse(isRedo: false) }

    /// Repeats the transaction that was undone last.
    /// - Returns: whether there was something to redo.
    @discardableResult
    public func redo() async throws -> Bool { try await reverse(isRedo: true) }

    private func reverse(isRedo: Bool) async throws -> Bool {
        // Another process may have erased the local copy.
        await noticeOtherProcesses()
        return try await history.inTurn {
            guard let step = history.last(isRedo: isRedo) else { return false }
            let (reversal, remade) = try await perform { [defaults] writer in
                let remade = try writer.reverse(step) { defaults[$0]?[$1] }
                return (writer.step, remade)
            }
            history.reversed(isRedo: isRedo, by: reversal, remade: remade)
            return true
        }
    }

    /// Sends deletions now, instead of 10 seconds after they were made. Undo then creates new objects instead of restoring the
    /// deleted ones. Call this method when the app leaves the foreground.
    public func sendDeletionsNow() async throws {
        try await perform { writer in
            for var deletion in try writer.records.deletions() where deletion.heldUntil != nil {
                deletion.heldUntil = writer.records.now
                try writer.records.save(deletion)
            }
        }
    }

    // MARK: Several processes

    /// Checks regularly whether another process changed the database file or has stopped syncing. The checks end when the store is
    /// released.
    private func watchOtherProcesses() {
        Task.detached(priority: .utility) { [weak self] in
            while await self?.lookAtOtherProcesses() != nil {
                try? await Task.sleep(for: .milliseconds(500), tolerance: .milliseconds(250))
            }
        }
    }

    private func lookAtOtherProcesses() async {
        await noticeOtherProcesses()
        await connect()
    }

    private func noticeOtherProcesses() async {
        // Errors are ignored here, for example if the database is busy or damaged: the app's next access to the store reports them.
        let tables = (try? await database.noticeOtherProcesses()) ?? []
        if tables.contains(RecordsTransaction.erasures) { history.clear() }
        if tables.contains("meta") {
            await runner.sessionChanged()
        } else if !tables.isEmpty {
            await runner.changed()
        }
    }

    /// Begins to sync, unless the store is suspended or another process syncs.
    func connect() async {
        guard !isSuspended.withLock({ $0 }) else { return }
        // Another process can have the lock although this one syncs, if `resume` was called while `suspend` was running.
        guard lock?.take() ?? true else { return await runner.stop() }
        await runner.start()
        if isSuspended.withLock({ $0 }) { await disconnect() }
    }

    private func disconnect() async {
        await runner.stop()
        guard isSuspended.withLock({ $0 }) else { return await connect() }
        lock?.release()
    }

    /// Ends all requests. Call it before the app is suspended. The store remains usable, and another process may sync.
    public func suspend() async {
        isSuspended.withLock { $0 = true }
        await disconnect()
    }

    /// Continues to sync after ``suspend()``.
    public func resume() async {
        isSuspended.withLock { $0 = false }
        await connect()
    }

    // MARK: Observation

    /// The objects of a type, now and whenever they change. The first element is the current value.
    ///
    ///     for try await recipes in store.values(Recipe.self, order: .ascending(\.$title)) { show(recipes) }
    ///
    /// A slow observer may miss some states, but never the last one.
    public func values<Object: SyncedObject>(
        _ type: Object.Type = Object.self, where condition: ((Fields<Object>) -> Condition<Object>)? = nil,
        order: Order<Object>? = nil, limit: Int? = nil
    ) -> Snapshots<[Object]> {
        let query = Query(condition, order, limit)
        return snapshots { try $0.all(query) }
    }

    /// An object, now and whenever it changes; nil while there is none.
    public func value<Object: SyncedObject>(of id: ObjectID<Object>) -> Snapshots<Object?> {
        snapshots { try $0.get(id) }
    }

    func snapshots<Value: Sendable & Equatable>(
        _ fetch: @escaping @Sendable (StoreReader) throws -> Value
    ) -> Snapshots<Value> {
        Snapshots(database) { [objectTypes] records in
            try fetch(StoreReader(records, objectTypes: objectTypes))
        }
    }

    /// Runs `body`, and replaces errors of the database with the corresponding ``StoreError``.
    static func reporting<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw StoreError.reported(error) }
    }
}

extension StoreError {
    /// The error to report to the app instead of an error of the database.
    static func reported(_ error: any Error) -> any Error {
        switch error {
        case LocalDatabaseError.newerVersion: StoreError.newerVersion
        case LocalDatabaseError.damaged(let reason): StoreError.damaged(reason)
        case let error as DatabaseError where error.resultCode == .SQLITE_FULL: StoreError.diskFull
        case let error as DatabaseError
        where error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_NOTADB:
            StoreError.damaged(error.message ?? "the file is not a database")
        case let error as DatabaseError
        where [.SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM].contains(error.resultCode):
            StoreError.unavailable(error.message ?? "SQLite error \(error.resultCode.rawValue)")
        case is Problem: StoreError.damaged("a row cannot be read")
        default: error
        }
    }
}

extension SyncedObject {
    fileprivate static var declaredDefaults: [String: Value] { Shape<Self>.shared.defaults }

    fileprivate static func addIndexes(to database: Database) throws {
        for index in indexes { try database.execute(sql: index.sql(table: LocalDatabase.table(objectType))) }
    }
}

extension LocalDatabase {
    /// Runs one transaction without blocking the caller's thread.
    func performWrite<Result: Sendable>(
        _ body: @Sendable (RecordsTransaction) throws -> Result
    ) async throws -> Result {
        do {
            return try await withoutActuallyEscaping(body) { body in
                try await writer.write { [now, makeID, tableVersions] database in
                    let transaction = RecordsTransaction(
                        database, now: now(), makeID: makeID, tableVersions: tableVersions)
                    let result = try body(transaction)
                    try transaction.finish()
                    return result
                }
            }
        } catch {
            throw StoreError.reported(error)
        }
    }

    /// Reads from one snapshot without blocking the caller's thread.
    func performRead<Result: Sendable>(
        _ body: @Sendable (RecordsTransaction) throws -> Result
    ) async throws -> Result {
        do {
            return try await withoutActuallyEscaping(body) { body in
                try await writer.read { [now, makeID] database in
                    try body(RecordsTransaction(database, now: now(), makeID: makeID))
                }
            }
        } catch {
            throw StoreError.reported(error)
        }
    }
}
