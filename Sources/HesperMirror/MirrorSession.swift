import CFolder
import Foundation
import HesperClient
import HesperModel

/// Runs `hesper sync`: opens a folder, its state and its account, and runs the mirror.
public struct MirrorSession {
    private let options: MirrorOptions
    private let console: MirrorConsole

    public init(_ options: MirrorOptions, _ console: MirrorConsole) {
        (self.options, self.console) = (options, console)
    }

    /// Runs the command `hesper sync`.
    /// - Throws: ``MirrorError``.
    public func run() async throws {
        try await reporting { try await start() }
    }

    /// Runs `body`, and replaces errors with a ``MirrorError``, whose message is for the user.
    private func reporting(_ body: () async throws -> Void) async throws {
        do { try await body() } catch let error as MirrorError { throw error } catch let error as AccountError {
            throw MirrorError(error.description)
        } catch {
            throw MirrorError("\(error)")
        }
    }

    private func start() async throws {
        // With a single malloc arena, the process needs at most 92 MB for 10,000 files, instead of 138 MB.
        folder_use_one_heap()
        let folder = try openFolder()
        if let marker = try Marker.read(folder) {
            try await run(folder, marker)
        } else {
            try await begin(folder, Marker(folder: UniqueID.random().description, host: Marker.host), isNew: true)
        }
    }

    private func openFolder() throws -> Folder {
        do { return try Folder(options.folder) } catch let failure as Folder.Failure {
            throw MirrorError("\(failure). The folder must exist.", .usage)
        }
    }

    // MARK: The first run

    /// Signs in, shows the plan, and carries it out if the user agrees.
    private func begin(_ folder: Folder, _ marker: Marker, isNew: Bool) async throws {
        guard let server = options.server, let email = options.email else {
            throw MirrorError(
                isNew
                    ? "\(folder.path) is not synced yet, or its folder \(Marker.folderName) is missing. "
                        + "To begin, give --server and --email."
                    : "The state of \(folder.path) is not on this machine. To begin again, give --server and --email.",
                .usage)
        }
        if let above = Marker.mirror(above: folder) {
            throw MirrorError("\(above) is synced. A folder within it cannot be synced separately.")
        }
        let password = try password(email)
        let state = MirrorState(folder: marker.folder)
        try state.lock()
        var isBegun = false
        do {
            let store = try await state.openStore()
            try await store.signIn(to: server, email: email, password: password)
            do {
                try await sync(store)
                let mirror = try await Mirror(folder, store, isPullOnly: options.isPullOnly)
                let plan = try await settledPlan(mirror)
                show(plan, folder)
                guard !options.isDryRun, try isAccepted() else {
                    try await store.signOut(erasing: .always)
                    state.remove()
                    return
                }
                try marker.write(folder)
                isBegun = true
                mirror.marker = marker
                try await run(mirror)
            } catch {
                // If the marker was not written, nothing refers to the state, so the state is removed. If it was written and cannot be
                // found now, the folder may be unmounted. The state is then kept, because it may have unsent changes.
                if !isBegun, try Marker.read(folder) == nil {
                    try? await store.signOut(erasing: .always)
                    state.remove()
                }
                throw error
            }
        } catch {
            if !isBegun, try Marker.read(folder) == nil { state.remove() }
            throw error
        }
    }

    private func isAccepted() throws -> Bool {
        if options.isAccepted { return true }
        guard let answer = console.ask("Continue? [y/N] ") else {
            throw MirrorError("Nothing was changed. Without a terminal, give --yes.", .usage)
        }
        return ["y", "yes"].contains(answer.trimmingCharacters(in: .whitespaces).lowercased())
    }

    private func password(_ email: String) throws -> String {
        if let password = options.password { return password }
        guard let password = console.askSecretly("Password of \(email): "), !password.isEmpty else {
            throw MirrorError("No password was given. Without a terminal, give --password-file.", .usage)
        }
        return password
    }

    /// Makes a plan. If files were changed a moment ago, waits and makes a new plan, at most five times.
    private func settledPlan(_ mirror: Mirror) async throws -> (notes: MirrorPlan, attachments: AttachmentPlan) {
        var plan = try await mirror.plan(isConfirmed: options.confirmsDeletions)
        for _ in 0..<5 where plan.notes.isSettling || plan.attachments.isSettling {
            try await Task.sleep(for: .milliseconds(1_100))
            plan = try await mirror.plan(isConfirmed: options.confirmsDeletions)
        }
        return plan
    }

    // MARK: Later runs

    private func run(_ folder: Folder, _ found: Marker) async throws {
        var marker = found
        if marker.host != Marker.host {
            guard options.takesOver else {
                throw MirrorError(
                    "\(folder.path) is synced by \(marker.host). Two machines must not sync one shared folder. "
                        + "If \(marker.host) no longer syncs it, give --take-over.")
            }
            marker.host = Marker.host
        }
        let state = MirrorState(folder: marker.folder)
        guard state.exists else { return try await begin(folder, marker, isNew: false) }
        try state.lock()
        let store = try await state.openStore()
        try await signInAgainIfNeeded(store)
        let mirror = try await Mirror(folder, store, isPullOnly: options.isPullOnly)
        if options.isDryRun {
            try await sync(store)
            show(try await settledPlan(mirror), folder)
            return
        }
        if marker != found { try marker.write(folder) }
        mirror.marker = marker
        try await run(mirror)
    }

    private func signInAgainIfNeeded(_ store: LocalStore) async throws {
        let status = await store.syncNow(deadline: .seconds(1))
        guard status.needsSignIn else { return }
        guard let account = try await store.account else {
            throw MirrorError("The saved state of the folder contains no account.")
        }
        guard let server = options.server else {
            if !options.isOnce { return }
            throw MirrorError("Sign in again: give --server, and --email \(account).", .signInAgain)
        }
        try await store.signIn(to: server, email: options.email ?? account, password: try password(account))
    }

    /// Prints the status of the folder. Nothing is changed, and another process may sync the folder.
    /// - Throws: ``MirrorError``.
    public func showStatus(asJSON: Bool) async throws {
        try await reporting { try await look(asJSON: asJSON) }
    }

    private func look(asJSON: Bool) async throws {
        let folder = try openFolder()
        guard let marker = try Marker.read(folder), MirrorState(folder: marker.folder).exists else {
            throw MirrorError("\(folder.path) is not synced on this machine.", .usage)
        }
        let store = try await MirrorState(folder: marker.folder).openStore()
        await store.suspend()
        let status = try await MirrorStatus(
            try await Mirror(folder, store, isPullOnly: options.isPullOnly, isLooking: true))
        if asJSON { console.show(try status.json) } else { status.lines.forEach(console.show) }
    }

    private func run(_ mirror: Mirror) async throws {
        let runner = MirrorRunner(mirror, console, confirmsDeletions: options.confirmsDeletions)
        if options.isOnce { try await runner.runOnce() } else { try await runner.run() }
    }

    /// Syncs a store. See ``MirrorRunner/sync(_:)``.
    private func sync(_ store: LocalStore) async throws {
        try await MirrorRunner.sync(store)
    }

    // MARK: The plan

    private func show(_ plan: (notes: MirrorPlan, attachments: AttachmentPlan), _ folder: Folder) {
        let counts = plan.notes.counts.merging(plan.attachments.counts, uniquingKeysWith: +)
        console.show(counts.isEmpty ? "Nothing to do." : "\(folder.path):")
        for (text, count) in counts.sorted(by: { $0.key < $1.key }) { console.show("  \(text): \(count)") }
        for file in plan.notes.skipped + plan.attachments.skipped {
            console.show("  Skipped \(file.path): \(file.reason.rawValue)")
        }
    }
}

extension SyncStatus {
    /// Whether the user must sign in before anything can be sent.
    var needsSignIn: Bool {
        if case .signInAgain? = problem { return true }
        return phase == .signedOut
    }
}

extension MirrorPlan {
    /// The number of actions of each kind. The keys are the descriptions of the kinds that the user sees.
    var counts: [String: Int] {
        var counts: [String: Int] = [:]
        for text in actions.compactMap(\.text) { counts[text, default: 0] += 1 }
        return counts
    }
}

extension AttachmentPlan {
    /// The number of actions of each kind. The keys are the descriptions of the kinds that the user sees.
    var counts: [String: Int] {
        var counts: [String: Int] = [:]
        for text in actions.compactMap(\.text) { counts[text, default: 0] += 1 }
        return counts
    }
}

extension AttachmentPlan.Action {
    fileprivate var text: String? {
        switch self {
        case .create: "Files that become attachments"
        case .adopt: "Files that are equal to attachments"
        case .replace: "Changed files that become new attachments"
        case .follow: "Files that were moved"
        case .handOver: "Attachments that are moved to another note"
        case .make, .fetch: "Attachments that become files"
        case .renew: "Files that are moved to the new paths of their attachments"
        case .trash: "Files that are moved to \(Trash.path), because their attachments were removed"
        case .miss: "Files that are missing; their attachments are removed after five minutes"
        case .remove, .drop, .yield: "Attachments that are removed"
        case .regain, .forget, .note: nil
        }
    }
}

extension MirrorPlan.Action {
    fileprivate var text: String? {
        switch self {
        case .follow: "Files that were moved"
        case .edit: "Changed files whose text is merged into their notes"
        case .create: "Files that become notes"
        case .adopt: "Files that are equal to notes"
        case .reconcile:
            "Files that differ from the note with the same path; each becomes a new note, or is updated if it has an older "
                + "text of the note"
        case .write: "Files that are updated from their notes"
        case .make: "Notes that become files"
        case .relocate: "Files that are moved to the new paths of their notes"
        case .trash: "Files that are moved to \(Trash.path), because their notes were deleted"
        case .detach: "Changed files whose notes were deleted; the files become notes again"
        case .miss: "Files that are missing; their notes are deleted after five minutes"
        case .delete: "Notes that are deleted, because their files were deleted"
        case .regain, .forget, .note: nil
        }
    }
}
