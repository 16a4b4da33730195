import Foundation
import HesperClient
import HesperClientTesting
import HesperModel
import Testing

@testable import HesperMirror

typealias Note = HesperClient.Note

/// A server in memory, and folders that are mirrors of one account.
final class MirrorWorld {
    let server = MemoryServer()
    private let place = FileManager.default.temporaryDirectory.appending(path: "mirror-\(UUID().uuidString)")
    private var count = 0
    /// How far the clock of the mirrors is ahead.
    private let ahead = Ahead()
    private final class Ahead: @unchecked Sendable {
        // Only set between rounds, by the task of the test.
        var seconds = 0.0
    }

    deinit { try? FileManager.default.removeItem(at: place) }

    /// A store that is signed in.
    func device() async throws -> LocalStore {
        count += 1
        let store = try await server.openStore(at: file("store-\(count).sqlite"))
        let (address, email, password) = ("https://notes.example.org", "ada@example.org", "correct horse battery")
        if count == 1 {
            try await store.signUp(to: address, email: email, password: password)
        } else {
            try await store.signIn(to: address, email: email, password: password)
        }
        await store.syncNow()
        return store
    }

    func machine(name: String = "Notes", isPullOnly: Bool = false) async throws -> Machine {
        let store = try await device()
        let url = try file("\(count)/\(name)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let folder = try Folder(url.path)
        try Marker(folder: UUID().uuidString.lowercased(), host: Marker.host).write(folder)
        return try await Machine(url, store, isPullOnly) { [ahead] in Date().addingTimeInterval(ahead.seconds) }
    }

    private func file(_ name: String) throws -> URL {
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return place.appending(path: name)
    }

    func pass(_ seconds: Double) { ahead.seconds += seconds }
}

/// A folder on a machine, and the mirror that keeps it.
final class Machine {
    let url: URL
    let store: LocalStore
    private(set) var mirror: Mirror
    private let isPullOnly: Bool
    private let now: @Sendable () -> Date

    init(_ url: URL, _ store: LocalStore, _ isPullOnly: Bool, now: @escaping @Sendable () -> Date) async throws {
        (self.url, self.store, self.isPullOnly, self.now) = (url, store, isPullOnly, now)
        mirror = try await Mirror(
            try Folder(url.path), store, isPullOnly: isPullOnly, quietTime: 0, now: now)
    }

    /// Begins again as a new process does.
    func restart() async throws {
        mirror = try await Mirror(try Folder(url.path), store, isPullOnly: isPullOnly, quietTime: 0, now: now)
    }

    /// Syncs, and runs rounds until nothing is left to do.
    @discardableResult
    func sync(isConfirmed: Bool = false) async throws -> Mirror.Report {
        await store.syncNow()
        var total = try await mirror.round(isConfirmed: isConfirmed)
        for _ in 0..<6 {
            try await store.sendDeletionsNow()
            await store.syncNow()
            let next = try await mirror.round(isConfirmed: false)
            total.created += next.created
            total.edited += next.edited
            total.written += next.written
            total.made += next.made
            total.moved += next.moved
            total.trashed += next.trashed
            total.deleted += next.deleted
            total.attached += next.attached
            total.detached += next.detached
            total.adopted += next.adopted
            (total.skipped, total.questions, total.waiting) = (next.skipped, next.questions, next.waiting)
            if next.changes == 0 && !next.isIncomplete && !next.isFetching { return total }
        }
        Issue.record("The rounds do not end: \(total)")
        return total
    }

    func write(_ path: String, _ text: String) throws { try write(path, Data(text.utf8)) }

    func write(_ path: String, _ bytes: Data) throws {
        let file = url.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try bytes.write(to: file)
    }

    func read(_ path: String) -> String? {
        (try? Data(contentsOf: url.appending(path: path))).map { String(decoding: $0, as: UTF8.self) }
    }

    func remove(_ path: String) throws { try FileManager.default.removeItem(at: url.appending(path: path)) }

    func move(_ path: String, _ other: String) throws {
        let target = url.appending(path: other)
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.moveItem(at: url.appending(path: path), to: target)
    }

    /// The contents of all files, by path, without `.hesper`.
    var contents: [String: String] {
        var contents: [String: String] = [:]
        for path in FileManager.default.subpaths(atPath: url.path) ?? [] where !path.hasPrefix(".hesper") {
            contents[path] = read(path)
        }
        return contents
    }

    /// The contents of the trash, without the dates.
    var trash: [String: String] {
        var contents: [String: String] = [:]
        for path in FileManager.default.subpaths(atPath: url.appending(path: ".hesper/trash").path) ?? [] {
            guard let text = read(".hesper/trash/\(path)"), let slash = path.firstIndex(of: "/") else { continue }
            contents[String(path[path.index(after: slash)...])] = text
        }
        return contents
    }

    func texts() async throws -> [String] { try await store.all(Note.self).map(\.text.string).sorted() }
}

extension LocalStore {
    /// Syncs with a deadline that a busy machine does not reach, instead of the default of 30 seconds.
    @discardableResult
    func syncNow() async -> SyncStatus { await syncNow(deadline: .seconds(600)) }
}
