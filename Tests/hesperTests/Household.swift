import Foundation
import HesperModel
import HesperSQLite
import HesperStore

@testable import hesper

/// One account on a store of its own, into which folders are imported and whose notes a device edits.
final class Household: Sendable {
    let store: SQLiteStore
    let scope: ScopeID
    private let folder = TemporaryFolder()
    private let queue: PushQueue
    private let device = NodeID(0xd)

    init() async throws {
        store = try SQLiteStore(folder: folder.url.appending(path: "data"))
        queue = PushQueue(store: store)
        let account = try await store.write {
            try $0.insertAccount(.random(), email: "ada@example.org", passwordHash: "-", creationDate: .now)
        }
        guard let account else { throw Failure("The account was not made.") }
        scope = account.scope
    }

    deinit { try? store.close() }

    @discardableResult
    func importFolder(_ path: String) async throws -> ImportReport {
        try await Importer(store: store, scope: scope).run(try SourceFolder(path)) { _, _ in }
    }

    // MARK: What there is

    func head() async throws -> ScopeHead? { try await store.read { [scope] in try $0.head(of: scope) } }

    private func entities() async throws -> [Entity] {
        try await store.read { [scope] snapshot in
            var ids: [UniqueID] = []
            try snapshot.digests(in: scope, prefix: "") { id, _, _ in ids.append(id) }
            return try ids.compactMap { id in
                guard case .entity(let entity, _)? = try snapshot.state(of: id, in: scope) else { return nil }
                return entity
            }
        }
    }

    /// All notes, by their texts.
    func notes() async throws -> [Note] {
        try await entities().compactMap { if case .note(let note) = $0 { note } else { nil } }
            .sorted { $0.text < $1.text }
    }

    func tags() async throws -> [Tag] {
        try await entities().compactMap { if case .tag(let tag) = $0 { tag } else { nil } }.sorted { $0.name < $1.name }
    }

    /// The names of a note's live tags.
    func tagNames(of note: Note) async throws -> Set<String> {
        let tags = try await tags()
        return Set(note.tags.raw.compactMap { id in tags.first { $0.uniqueID == id }?.name })
    }

    func findings() async throws -> [String] {
        try await store.read { [scope] snapshot in
            var findings: [String] = []
            try snapshot.inconsistencies(in: scope) { findings.append($0) }
            return findings
        }
    }

    // MARK: What a device does

    private func push(_ elements: [Push.Element]) async throws {
        let scope = Scope(scope, queue: queue, installation: store.installation, now: { .now })
        _ = try await scope.apply(Push(elements), by: device, since: nil, of: Feed(.all))
    }

    private func clock() throws -> Clock {
        guard let clock = Clock(milliseconds: UInt64(Timestamp.now.milliseconds), node: device) else {
            throw Failure("No clock shows the time.")
        }
        return clock
    }

    func edit(_ note: Note, text: String) async throws {
        let edits = [Edit(.text, .string(text), at: try clock())]
        try await push([
            .change(Change(uniqueID: note.uniqueID, section: .notes, edits: edits, textBase: note.$text.clock))
        ])
    }

    func takeOut(_ tag: Tag, of note: Note) async throws {
        let edits = [Edit(.tag(tag.uniqueID), .bool(false), at: try clock())]
        try await push([.change(Change(uniqueID: note.uniqueID, section: .notes, edits: edits))])
    }

    func makeTag(_ id: UniqueID, _ name: String) async throws {
        let edits = [Edit(.name, .string(name), at: try clock())]
        try await push([.change(Change(uniqueID: id, section: .tags, edits: edits))])
    }

    func delete(_ id: UniqueID, _ type: ObjectType) async throws {
        try await push([.deletion(Deletion(uniqueID: id, objectType: type))])
    }
}
