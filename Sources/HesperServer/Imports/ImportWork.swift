import Foundation
import HesperArchive
import HesperImport
import HesperModel
import HesperMoveIn
import HesperStore
import Logging

/// The background work of one import: reads the file for a preview, or writes its notes to the account.
struct ImportWork: Sendable {
    let worker: ImportWorker
    let scope: ScopeID
    let record: ImportRecord

    private var store: any Store { worker.backend.store }

    /// Does the work that the state of the import requires, and stores the result.
    /// - Throws: an error after which the work can be repeated.
    func run() async throws {
        // If a file crashes the server, for example because it needs too much memory, the server must not try it forever.
        guard record.attempts < ImportWork.maximumAttempts else {
            return try await fail(
                "The server stopped several times while it imported this file. Split the file, or ask the operator to check the log."
            )
        }
        try await setAttempts(record.attempts + 1)
        do {
            try await workAndFinish()
        } catch {
            // The process was not killed, so the number of attempts is reset. This is done in a new task, because this task may
            // have been cancelled. An error is ignored, because the store may be unavailable.
            let work = self
            await Task { try? await work.setAttempts(0) }.value
            throw error
        }
    }

    /// The number of attempts after which an import fails.
    private static let maximumAttempts: Int64 = 5

    private func setAttempts(_ count: Int64) async throws {
        try await store.write { try $0.setImportAttempts(count, of: record.uniqueID, in: scope) }
    }

    private func workAndFinish() async throws {
        let folder = try ImportFolder(in: worker.limits.folder)
        do {
            let result = try await result(in: folder)
            try await finish(result)
        } catch is ImportDeleted {
            return
        } catch let error as CancellationError {
            throw error
        } catch let error as StoreError where error.isUnavailable {
            throw error
        } catch is UploadMissing {
            try await fail("The server no longer has the file. Upload it again.")
        } catch let error as Problem {
            try await fail(error.detail)
        } catch let error as MoveInError {
            try await fail(error.message.removing(folder))
        } catch let error as ArchiveError {
            try await fail(error.message.removing(folder))
        } catch let error as SourceNote.Rejected {
            try await fail(error.reason.removing(folder))
        } catch {
            try Task.checkCancellation()
            worker.logger.error(
                "Import failed", metadata: ["error": "\(error)", "scope": "\(scope.rawValue)"])
            try await fail("The server could not import the file. Ask the operator to check the server's log.")
        }
    }

    private func result(in folder: ImportFolder) async throws -> ImportRecord {
        let path = "\(folder.path)/\(record.name ?? "files.zip")"
        try await worker.stage.write(record.uniqueID, to: path)
        let source = try await ImportSource(
            path,
            worker.limits.source(attachmentBytes: worker.maximumAttachmentBytes, folder: folder.path),
            isLoose: record.name == nil, MarkupProcess())
        let progress = ImportProgress(self, total: Int64(source.count))
        var result = record
        if record.state == .reading {
            result.preview = try await source.preview { try await progress.add($0) }.json
            result.state = .ready
        } else {
            let target = ImportTarget(
                store: store, blobs: worker.backend.blobs, scope: scope, by: record.requestedBy,
                maximumAttachmentBytes: worker.maximumAttachmentBytes, quota: worker.backend.quota,
                queue: worker.backend.queue, now: worker.backend.now, checking: check)
            result.report = try await source.run(into: target) { done, _ in try await progress.add(done) }.json
            result.state = .done
        }
        result.total = Int64(source.count)
        result.done = result.total
        return result
    }

    /// Checks, in a transaction that writes notes, that the import was not deleted meanwhile.
    @Sendable private func check(_ transaction: any Transaction) throws {
        let current = try transaction.importRecord(of: scope)
        guard current?.uniqueID == record.uniqueID, current?.state == record.state else { throw ImportDeleted() }
    }

    /// Stores the progress, and sends it to event streams.
    /// - Throws: ``ImportDeleted`` if the import was deleted.
    func announce(_ done: Int64, of total: Int64) async throws {
        try await store.writeDerived { transaction in
            try check(transaction)
            try transaction.setImportProgress(done, of: total, record.uniqueID, in: scope)
        }
        var current = record
        (current.done, current.total) = (done, total)
        worker.backend.hub.announceImport(current.event, in: scope)
    }

    private func fail(_ problem: String) async throws {
        var result = record
        result.problem = problem
        result.state = .failed
        try await finish(result)
    }

    private func finish(_ result: ImportRecord) async throws {
        let state = record.state
        guard try await store.write({ try $0.update(result, in: scope, from: state) }) else { return }
        if !result.state.hasBytes { try await worker.stage.remove(record.uniqueID) }
        worker.backend.hub.announceImport(result.event, in: scope)
    }
}

/// The error for work on an import that was deleted.
private struct ImportDeleted: Error {}

/// Counts the completed steps of an import. Stores the count and sends it to event streams at most once a second.
private actor ImportProgress {
    private let work: ImportWork
    private let total: Int64
    private var done: Int64 = 0
    private var next = ContinuousClock.now
    private static let interval = Duration.seconds(1)

    init(_ work: ImportWork, total: Int64) { (self.work, self.total) = (work, total) }

    func add(_ count: Int) async throws {
        done = min(done + Int64(count), total)
        try Task.checkCancellation()
        guard ContinuousClock.now >= next else { return }
        next = .now + ImportProgress.interval
        try await work.announce(done, of: total)
    }
}

extension String {
    /// The message without the path of the temporary folder, which is of no use to the user.
    fileprivate func removing(_ folder: ImportFolder) -> String {
        replacingOccurrences(of: folder.path + "/", with: "").replacingOccurrences(of: folder.path, with: "It")
    }
}
