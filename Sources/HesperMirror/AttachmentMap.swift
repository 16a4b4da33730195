import Foundation
import HesperClient

/// Stores the last known state of the file of each attachment (``AttachmentEntry``). A change of this map and the corresponding
/// edits of notes and attachments are saved in the local store in one transaction.
final class AttachmentMap {
    private let store: LocalStore
    private(set) var entries: [AttachmentID: AttachmentEntry]

    private static let prefix = "mirror.file."

    init(_ store: LocalStore) async throws {
        self.store = store
        entries = try await store.read { tx in
            var entries: [AttachmentID: AttachmentEntry] = [:]
            for (name, value) in try tx.locals(withPrefix: AttachmentMap.prefix) {
                guard let id = AttachmentID(name) else { continue }
                entries[id] = try JSONDecoder().decode(AttachmentEntry.self, from: value)
            }
            return entries
        }
    }

    /// The changed entries, by attachment; nil for entries that are removed.
    typealias Changes = [AttachmentID: AttachmentEntry?]

    /// Changes entries and objects of the store in one transaction. The entries in memory are changed only after the commit.
    @discardableResult
    func change<R: Sendable>(_ body: @Sendable (WriteTransaction, inout Changes) throws -> R) async throws -> R {
        let (changes, result) = try await store.write { tx in
            var changes: Changes = [:]
            let result = try body(tx, &changes)
            for (id, entry) in changes {
                try tx.setLocal("\(AttachmentMap.prefix)\(id)", try entry.map { try JSONEncoder().encode($0) })
            }
            return (changes, result)
        }
        for (id, entry) in changes { entries[id] = entry }
        return result
    }

    /// Changes one entry, if it exists.
    func update(_ id: AttachmentID, _ edit: @Sendable (inout AttachmentEntry) -> Void) async throws {
        guard var entry = entries[id] else { return }
        edit(&entry)
        let edited = entry
        try await change { _, changes in changes[id] = .some(edited) }
    }

    func forget(_ id: AttachmentID) async throws { try await change { _, changes in changes[id] = .some(nil) } }

    /// Saves the new stamps of files whose bytes were hashed again and have not changed.
    func confirm(_ confirmed: [AttachmentID: (stamp: FileStamp, hashed: Int64)]) async throws {
        var changed: Changes = [:]
        for (id, (stamp, hashed)) in confirmed {
            guard var entry = entries[id] else { continue }
            (entry.stamp, entry.hashed) = (stamp, hashed)
            changed[id] = .some(entry)
        }
        guard !changed.isEmpty else { return }
        let saved = changed
        try await change { _, changes in changes = saved }
    }
}
