import Dispatch
import Foundation
import HesperClient
import HesperModel

/// Runs rounds of the mirror until nothing is left to sync, or until the user ends the process.
struct MirrorRunner {
    private let mirror: Mirror
    private let console: MirrorConsole
    private let confirmsDeletions: Bool

    init(_ mirror: Mirror, _ console: MirrorConsole, confirmsDeletions: Bool) {
        (self.mirror, self.console, self.confirmsDeletions) = (mirror, console, confirmsDeletions)
    }

    private var store: LocalStore { mirror.store }

    /// Syncs until nothing is left to send or to fetch. If the account is full, the changes that exceed the quota remain unsent.
    /// - Throws: ``MirrorError`` if the user must sign in again, if nothing was sent or fetched for five minutes, or if another
    ///   problem prevents sync. For example, the server cannot be reached.
    static func sync(_ store: LocalStore) async throws {
        var left = (toSend: SyncStatus.Amount(), toFetch: SyncStatus.Amount())
        var end = ContinuousClock.now + progressTimeout
        while ContinuousClock.now < end {
            let status = await store.syncNow(deadline: .seconds(60))
            if status.needsSignIn { throw MirrorError("Sign in again: give --server and --email.", .signInAgain) }
            if let problem = status.problem, problem.isLasting { throw MirrorError(problem.text) }
            if status.phase == .synced || status.problem == .storageFull { return }
            if left != (status.toSend, status.toFetch) { end = ContinuousClock.now + progressTimeout }
            left = (status.toSend, status.toFetch)
        }
        throw MirrorError("Sync made no progress for five minutes. Changes are kept, and the next run continues.")
    }

    private static let progressTimeout = Duration.seconds(300)

    // MARK: Once

    func runOnce() async throws {
        try await mirror.begin()
        try await MirrorRunner.sync(store)
        var total = Mirror.Report()
        var isConfirmed = confirmsDeletions
        var settling = 0
        var fetching = 0
        // The number of rounds is limited, because a round may stay incomplete without changing anything, for example
        // if a folder has the name of a new file.
        for _ in 0..<100 {
            let report = try await mirror.round(isConfirmed: isConfirmed)
            isConfirmed = false
            total.add(report)
            if report.changes > 0 { try await store.sendDeletionsNow() }
            try await MirrorRunner.sync(store)
            if report.isSettling, settling < 10 {
                settling += 1
                try await Task.sleep(for: .milliseconds(1_100))
            } else if report.isFetching, report.changes > 0 || fetching < 3 {
                fetching = report.changes > 0 ? 0 : fetching + 1
            } else if report.changes == 0, !report.isIncomplete {
                try await mirror.removeFormerFiles(&total, isAtEnd: true)
                if !total.isIncomplete { break }
                total.isIncomplete = false
            }
        }
        console.show(total.changes == 0 ? "Synced. Nothing was changed." : "Synced: \(total.text)")
        for file in total.skipped { console.warn("Skipped \(file.path): \(file.reason.rawValue)") }
        if let refused = try await refused() { throw MirrorError(refused) }
        if let problem = store.status.problem { throw MirrorError(problem.text) }
        if !total.questions.isEmpty {
            throw MirrorError(total.questions.map(\.text).joined(separator: "\n"), .question)
        }
    }

    private func refused() async throws -> String? {
        for try await changes in store.shelf {
            return changes.isEmpty
                ? nil
                : "The server refused \(counted(changes.count, "change")): "
                    + changes.map(\.message).joined(separator: " ")
        }
        return nil
    }

    // MARK: Running

    func run() async throws {
        let wakes = WakeUps(mirror.folder.path)
        let observer = Task { [store, wake = wakes.continuation] in
            for try await _ in store.versions(of: Note.self) { wake.yield() }
        }
        let attachments = Task { [store, wake = wakes.continuation] in
            for try await _ in store.versions(of: HesperClient.Attachment.self) { wake.yield() }
        }
        let statuses = Task { [store, console, wake = wakes.continuation] in
            var shown: String?
            var toFetch = 0
            for await status in store.statuses {
                // If the number of objects to fetch has decreased, the bytes of an attachment may have been downloaded. A round can
                // then write the file of the attachment.
                if status.toFetch.objects < toFetch { wake.yield() }
                toFetch = status.toFetch.objects
                let text = status.text
                if let text, text != shown { console.warn(text) }
                if status.phase != .syncing { shown = text }
            }
        }
        defer {
            observer.cancel()
            attachments.cancel()
            statuses.cancel()
            wakes.end()
        }
        console.show("Syncing \(mirror.folder.path). Press Ctrl-C to stop.")
        var isConfirmed = confirmsDeletions
        var shown: Mirror.Report?
        var failure: String?
        try await mirror.begin()
        for await _ in wakes.stream {
            let report: Mirror.Report
            do { report = try await mirror.round(isConfirmed: isConfirmed) } catch let error
                where !(error is MirrorError)
            {
                // The round failed, for example because the disk is full. Nothing is lost: the next round carries out the
                // remaining actions.
                if "\(error)" != failure { console.warn("\(error)") }
                failure = "\(error)"
                wakes.wake(after: .seconds(10))
                continue
            }
            failure = nil
            isConfirmed = false
            if report.changes > 0 { console.show(report.text) }
            show(report, after: shown)
            shown = report
            wakes.watch()
            if report.isIncomplete {
                wakes.wake(after: .milliseconds(250))
            } else if report.isSettling {
                wakes.wake(after: report.quietDelay)
            }
        }
        var last = Mirror.Report()
        try await mirror.removeFormerFiles(&last, isAtEnd: true)
        await store.syncNow(deadline: .seconds(5))
        await store.suspend()
        console.show("Ended.")
    }

    /// Prints the parts of a report that the report of the previous round did not contain.
    private func show(_ report: Mirror.Report, after former: Mirror.Report?) {
        for file in report.skipped where former?.skipped.contains(file) != true {
            console.warn("Skipped \(file.path): \(file.reason.rawValue)")
        }
        for question in report.questions where former?.questions.contains(question) != true {
            console.warn(question.text)
        }
        for path in report.waiting where former?.waiting.contains(path) != true {
            console.warn(
                "\(path) is missing. Its note or attachment will be removed in five minutes, unless the file returns.")
        }
    }
}

extension Mirror.Report {
    /// The time to wait before another round. After this time, the files that were just changed can be read, unless they are
    /// changed again.
    fileprivate var quietDelay: DispatchTimeInterval {
        let since = settlingSince.map { Folder.now - $0 } ?? 0
        let left = FolderScanner.defaultQuietTime - min(max(since, 0), FolderScanner.defaultQuietTime)
        return .nanoseconds(Int(left) + 10_000_000)
    }

    mutating func add(_ other: Mirror.Report) {
        created += other.created
        edited += other.edited
        adopted += other.adopted
        written += other.written
        made += other.made
        moved += other.moved
        trashed += other.trashed
        deleted += other.deleted
        attached += other.attached
        detached += other.detached
        (skipped, questions, waiting) = (other.skipped, other.questions, other.waiting)
    }

    /// A sentence with the numbers of changes, for the user.
    var text: String {
        let counts = [
            (created, "new note"), (edited, "edited note"), (adopted, "matched file"), (made, "new file"),
            (written, "updated file"), (moved, "moved file"), (trashed, "trashed file"), (deleted, "deleted note"),
            (attached, "new attachment"), (detached, "removed attachment"),
        ].filter { $0.0 > 0 }
        return counts.map { counted($0, $1) }.joined(separator: ", ") + "."
    }
}

extension MirrorPlan.Question {
    /// The text of the question for the user.
    var text: String {
        switch self {
        case .deletions(let notes):
            counted(notes.count, "missing file") + ": the notes are kept. To delete the notes too, run once with "
                + "--confirm-deletions."
        case .attachments(let attachments):
            counted(attachments.count, "missing file")
                + ": the attachments are kept. To remove the attachments too, run "
                + "once with --confirm-deletions."
        case .reversions(let notes):
            "\(notes.count) files returned to older versions, for example after git checkout. They were not sent. To "
                + "send them, run once with --confirm-deletions."
        }
    }
}

extension SyncProblem {
    /// Whether the problem ends ``MirrorRunner/sync(_:)`` with an error.
    fileprivate var isLasting: Bool {
        switch self {
        case .refused, .clockWrong, .storageFull: false
        case .offline, .signInAgain, .accountDisabled, .diskFull, .serverTooOld, .serverFailed, .localCopyFailed: true
        }
    }

    /// A description of the problem for the user.
    var text: String {
        switch self {
        case .offline: "The server cannot be reached."
        case .signInAgain:
            "Sign in again: stop this command, and run it with --server and --email. Changes are kept until then."
        case .accountDisabled: "The operator of the server has disabled the account."
        case .storageFull: "The account is full. Some changes are not sent."
        case .diskFull: "The disk is full. Free some space."
        case .clockWrong(let error): "The clock of this machine is wrong by \(error). Correct the clock."
        case .refused(let count): "The server refused \(counted(count, "change"))."
        case .serverTooOld(let missing): "The server must be updated: it lacks \(missing.joined(separator: ", "))."
        case .serverFailed(let reason): reason
        case .localCopyFailed(let reason): "The local copy cannot be used: \(reason)"
        }
    }
}

extension SyncStatus {
    /// A message about the problem of sync; nil if there is none.
    fileprivate var text: String? {
        if let problem { return problem.text }
        return phase == .signedOut ? SyncProblem.signInAgain(.expired).text : nil
    }
}
