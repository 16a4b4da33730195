internal import Foundation
package import HesperModel

/// Carries out the effects of ``SyncCore`` and ``TransferCore``: sends their requests, reads the event stream, and runs their
/// timers.
///
/// Each core has at most one request in progress. If a step cannot be saved, for example because the disk is full, it
/// is repeated later with the same input, so that nothing is lost.
package actor SyncRunner {
    private let database: LocalDatabase
    private let files: any AttachmentFiles
    private let makeTransport: @Sendable (ServerURL) -> any Transport
    private let reports = SyncStatusReports()

    private var core: SyncCore
    private var transfers: TransferCore
    private var around = SyncStatus.Circumstances()
    private var records: SyncRecordSnapshot?
    private var transport: (any Transport)?
    /// The token of the session that ``transport`` is used for.
    private var token: String?
    /// Inputs of `core` that have not been processed yet, in their order.
    private var syncInputs: [SyncInput] = []
    /// Inputs of `transfers` that have not been processed yet, in their order.
    private var transferInputs: [TransferCore.Input] = []
    /// Whether a round of sync is in progress, as stated by the last input `isSyncing` that was added to ``transferInputs``.
    private var isSyncing = true
    private var localFailures = 0
    private var backOff: BackOff
    private var tasks: [Activity: Task<Void, Never>] = [:]
    /// The serial number of the current run of sync. It is incremented whenever sync begins or ends. Results of activities of an
    /// earlier run are ignored.
    private var run = 0
    /// The callers of ``syncNow(deadline:)``, by the serial numbers of their calls.
    private var waiters: [Int: CheckedContinuation<SyncStatus, Never>] = [:]
    private var waiterCount = 0
    /// The callers that wait for the bytes of an attachment.
    private var wanted: [(id: UniqueID, waiter: CheckedContinuation<Void, Never>)] = []

    /// Another process, or the store, has ended or replaced the session.
    private struct SessionChanged: Error {}

    private enum Activity: Hashable {
        case syncRequest, transferRequest, events, syncTimer, transferTimer, retry, serverInfo
    }

    /// The maximum duration of a timer, in milliseconds. A timer for a later time ends early and is then set again, because the
    /// wall clock may be changed while a timer runs.
    private static let longestSleep: Int64 = 600_000

    /// Creates a runner, which does not sync until ``start()``.
    /// - Parameters:
    ///   - seed: determines the random delays.
    ///   - makeTransport: makes the connection to a server.
    package init(
        database: LocalDatabase, files: any AttachmentFiles, seed: UInt64 = .random(in: .min ... .max),
        makeTransport: @escaping @Sendable (ServerURL) -> any Transport = { URLSessionTransport(server: $0) }
    ) {
        self.database = database
        self.files = files
        self.makeTransport = makeTransport
        core = SyncCore(seed: seed)
        transfers = TransferCore(seed: seed)
        backOff = BackOff(seed: seed)
    }

    deinit {
        for task in tasks.values { task.cancel() }
        reports.finish()
    }

    // MARK: For the store

    /// The status of sync, now and whenever it changes. A slow reader may miss some states, but never the last one.
    package nonisolated var statuses: AsyncStream<SyncStatus> { reports.subscribe() }
    /// The current status of sync.
    package nonisolated var status: SyncStatus { reports.latest }

    /// Begins to sync, if there is a session.
    package func start() {
        guard !around.isRunning else { return }
        around.isRunning = true
        begin()
    }

    /// Ends all requests, for example before the app is suspended, and syncs no more until ``start()``.
    package func stop() {
        guard around.isRunning else { return }
        end()
        around.isRunning = false
        report()
        resumeWaiters()
    }

    /// Ends all requests, and syncs with the current session, if there is one.
    package func sessionChanged() {
        guard around.isRunning else { return report() }
        end()
        begin()
    }

    /// Sends the changes of the local copy soon.
    package func changed() { add(.changed, .changed) }

    /// Downloads the bytes of an attachment before all other downloads. Returns when the bytes are on this device, or when they
    /// cannot be downloaded now. In that case they are downloaded later.
    package func want(_ id: UniqueID) async throws {
        try database.write { transaction in
            try TransferTable.create(transaction)
            try TransferTable(transaction).want(id)
        }
        guard around.isRunning, transport != nil, tasks[.retry] == nil else { return }
        await withCheckedContinuation { waiter in
            wanted.append((id, waiter))
            add(.changed, .retryNow)
        }
    }

    /// Syncs at once, without waiting for a scheduled retry.
    package func syncNow() { add(.syncNow, .retryNow) }

    /// Syncs at once. Returns when nothing is left to send or fetch, when sync cannot continue, or when `deadline` has passed.
    package func syncNow(deadline: Duration) async -> SyncStatus {
        syncNow()
        guard !isSettled else { return status }
        waiterCount += 1
        let number = waiterCount
        let timer = Task { [weak self] in
            try await Task.sleep(for: deadline)
            await self?.endWait(number)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { waiters[number] = $0 }
    }

    /// Resumes a caller whose deadline has passed. The round of sync that it requested has not ended, although the round before may
    /// have left nothing to send or fetch.
    private func endWait(_ number: Int) {
        guard let waiter = waiters.removeValue(forKey: number) else { return }
        var status = status
        if status.phase == .synced { status.phase = .syncing }
        waiter.resume(returning: status)
    }

    private func add(_ syncInput: SyncInput, _ transferInput: TransferCore.Input) {
        // New inputs are dropped in two cases. Without a session, they are not needed, because a new session starts by sending
        // everything that is unsent. While a failed step waits to be retried, they are not needed either, because `retryInputs`
        // adds an input that replaces them.
        guard around.isRunning, transport != nil, tasks[.retry] == nil else { return report() }
        syncInputs.append(syncInput)
        transferInputs.append(transferInput)
        takeInputs()
    }

    // MARK: Steps

    private func begin() {
        run += 1
        transport = nil
        token = nil
        syncInputs = [.session]
        isSyncing = true
        transferInputs = []
        do {
            guard let session = try database.read({ try $0.session }), let token = session.token else {
                report()
                return resumeWaiters()
            }
            let transport = makeTransport(session.server)
            self.transport = transport
            self.token = token
            transferInputs = [.isSyncing(true), .start(token: token)]
            checkServer(Accounts(server: session.server, transport: transport))
            takeInputs()
        } catch {
            failed(error) { $0.begin() }
        }
    }

    private func end() {
        run += 1
        for task in tasks.values { task.cancel() }
        tasks = [:]
        transport = nil
        resumeAllWanted()
        syncInputs = []
        transferInputs = []
        around.progress = SyncProgress()
        around.missingFeatures = []
    }

    private func takeInputs() {
        // While a step cannot be saved, the inputs that are in the queues wait for the retry.
        guard around.isRunning, transport != nil, tasks[.retry] == nil else { return }
        do {
            while true {
                if let input = syncInputs.first {
                    try take(input)
                    syncInputs.removeFirst()
                } else if let input = transferInputs.first {
                    try take(input)
                    transferInputs.removeFirst()
                } else {
                    break
                }
                localFailures = 0
                around.localFailure = nil
            }
        } catch is SessionChanged {
            return sessionChanged()
        } catch {
            failed(error) { $0.retryInputs() }
        }
        report()
        if isSettled { resumeWaiters() }
    }

    private func retryInputs() {
        syncInputs.append(.changed)
        transferInputs.append(.changed)
        takeInputs()
    }

    private func take(_ input: SyncInput) throws {
        var next = core
        let (effects, records) = try write { transaction in try next.step(input, transaction) }
        let wasOffline = core.progress.offlineSince != nil
        core = next
        self.records = records
        around.progress = core.progress
        for effect in effects { carryOut(effect) }
        if core.isBusy != isSyncing {
            isSyncing = core.isBusy
            transferInputs.append(.isSyncing(isSyncing))
        }
        if records.sync.signInAgain != nil {
            cancel(.transferRequest)
            transferInputs.append(.stop)
        } else if case .response = input {
            transferInputs.append(wasOffline && core.progress.offlineSince == nil ? .retryNow : .changed)
        } else if case .event = input {
            transferInputs.append(.changed)
        }
    }

    private func take(_ input: TransferCore.Input) throws {
        if transfers.takeIdle(input, hasTransfers: records?.hasTransfers ?? true) { return }
        var next = transfers
        let (effects, records) = try write { transaction in try next.step(input, transaction, files) }
        transfers = next
        self.records = records
        for effect in effects { carryOut(effect) }
        try resumeWanted()
    }

    /// Runs a step in a transaction, unless the session has changed. A response to a request of an earlier session must not be saved,
    /// because the local copy may have been erased, or belong to another account.
    private func write<Effects>(
        _ step: (RecordsTransaction) throws -> Effects
    ) throws -> (Effects, SyncRecordSnapshot) {
        try database.write { transaction in
            guard try transaction.sessionToken == token else { throw SessionChanged() }
            return (try step(transaction), try SyncRecordSnapshot(transaction))
        }
    }

    /// Resumes the callers whose download has ended or waits for a retry. If the user must sign in again, resumes all callers.
    private func resumeWanted() throws {
        guard !wanted.isEmpty else { return }
        let ids = Set(wanted.map(\.id))
        let due = try database.read { transaction in
            if transfers.isDownloadPaused(at: transaction.now) { return Set<UniqueID>() }
            return try ids.filter { id in
                try TransferTable(transaction).row(id).map { $0.retryAt <= transaction.now } ?? false
            }
        }
        let isStopped = records?.sync.signInAgain != nil
        for (id, waiter) in wanted where isStopped || !due.contains(id) { waiter.resume() }
        wanted.removeAll { isStopped || !due.contains($0.id) }
    }

    /// Schedules a retry of a step that could not be saved.
    private func failed(_ error: any Error, retry: @escaping @Sendable (isolated SyncRunner) -> Void) {
        // The stream is closed, because its next events could not be saved either. The next stream starts after the
        // last saved event.
        if tasks[.events] != nil {
            cancel(.events)
            syncInputs.append(.streamEnded(hasFailed: true))
        }
        resumeAllWanted()
        localFailures += 1
        around.localFailure = SyncProblem(localFailure: error)
        let delay = backOff.delay(afterFailures: localFailures, from: 1_000, upTo: 60_000)
        start(.retry) { runner in
            guard (try? await Task.sleep(for: .milliseconds(delay))) != nil else { return }
            await runner?.endRetry(retry)
        }
    }

    private func endRetry(_ retry: @Sendable (isolated SyncRunner) -> Void) {
        tasks[.retry] = nil
        retry(self)
    }

    /// Whether nothing is left to do, or nothing can be done for now.
    private var isSettled: Bool {
        guard around.isRunning, transport != nil else { return true }
        guard !core.isBusy, tasks[.transferRequest] == nil else { return false }
        guard status.phase == .syncing, let records, core.progress.hasFinished else { return status.phase != .syncing }
        // Deletions that can still be undone are sent later, so callers do not wait for them.
        return records.undoable > 0 && records.toSend == records.undoable && status.toFetch.objects == 0
    }

    private func resumeWaiters() {
        let status = status
        for waiter in waiters.values { waiter.resume(returning: status) }
        waiters = [:]
    }

    private func resumeAllWanted() {
        for (_, waiter) in wanted { waiter.resume() }
        wanted = []
    }

    /// Reports the current status to its readers, also while another process syncs.
    package func report() {
        do {
            if records == nil || transport == nil { records = try database.read { try SyncRecordSnapshot($0) } }
        } catch {
            return reports.send(SyncStatus(localFailure: around.localFailure ?? SyncProblem(localFailure: error)))
        }
        if let records { reports.send(SyncStatus(records, around)) }
    }

    // MARK: Effects

    private func carryOut(_ effect: SyncEffect) {
        switch effect {
        case .send(let number, let request):
            send(request, .syncRequest) { $0.syncInputs.append(.response(number, $1)) }
        case .openEvents(let request): readEvents(request)
        case .closeEvents: cancel(.events)
        case .wake(let moment): sleep(until: moment, .syncTimer) { $0.syncInputs.append(.wake) }
        }
    }

    private func carryOut(_ effect: TransferCore.Effect) {
        switch effect {
        case .send(let number, let request):
            send(request, .transferRequest) { $0.transferInputs.append(.response(number, $1)) }
        case .wake(let moment): sleep(until: moment, .transferTimer) { $0.transferInputs.append(.wake) }
        case .status(let status): around.transfers = status
        // The edits that add the attachment to notes waited for the upload. Sync can now send them.
        case .uploaded, .uploadRefused: syncInputs.append(.changed)
        case .downloaded: break
        // The next round of sync determines why the server refused the token, and records the reason.
        case .signInAgain: syncInputs.append(.changed)
        }
    }

    /// Starts a task for an activity, and cancels an earlier task for the same activity.
    private func start(_ activity: Activity, _ body: @escaping @Sendable (SyncRunner?) async -> Void) {
        tasks[activity]?.cancel()
        tasks[activity] = Task { [weak self] in await body(self) }
    }

    private func cancel(_ activity: Activity) { tasks.removeValue(forKey: activity)?.cancel() }

    private func send(
        _ request: ServerRequest, _ activity: Activity,
        _ add: @escaping @Sendable (isolated SyncRunner, Result<ServerResponse, NoResponse>) -> Void
    ) {
        guard let transport else { return }
        let run = run
        tasks[activity] = Task { [weak self] in
            let result: Result<ServerResponse, NoResponse>
            do throws(NoResponse) {
                result = .success(try await transport.send(request))
            } catch {
                result = .failure(error)
            }
            await self?.ended(activity, of: run) { add($0, result) }
        }
    }

    private func sleep(
        until moment: Timestamp, _ activity: Activity, _ add: @escaping @Sendable (isolated SyncRunner) -> Void
    ) {
        let milliseconds = min(max(0, moment.milliseconds - database.now().milliseconds), SyncRunner.longestSleep)
        let run = run
        tasks[activity]?.cancel()
        tasks[activity] = Task { [weak self] in
            guard (try? await Task.sleep(for: .milliseconds(milliseconds))) != nil else { return }
            await self?.ended(activity, of: run, add)
        }
    }

    /// Called when an activity has ended. Adds its input and processes it, unless sync was started again after the activity began.
    private func ended(_ activity: Activity, of run: Int, _ add: @Sendable (isolated SyncRunner) -> Void) {
        guard run == self.run else { return }
        tasks[activity] = nil
        add(self)
        takeInputs()
    }

    private func readEvents(_ request: ServerRequest) {
        guard let transport else { return }
        let stream = transport.events(request)
        let run = run
        tasks[.events]?.cancel()
        tasks[.events] = Task { [weak self] in
            var hasFailed = false
            do {
                for try await event in stream { await self?.take(event, of: run) }
            } catch {
                hasFailed = true
            }
            if Task.isCancelled { return }
            await self?.ended(.events, of: run) { [hasFailed] in
                $0.syncInputs.append(.streamEnded(hasFailed: hasFailed))
            }
        }
    }

    private func take(_ event: ServerEvent, of run: Int) {
        guard run == self.run, tasks[.events] != nil else { return }
        syncInputs.append(.event(event))
        takeInputs()
    }

    /// Checks whether the server has the features that sync needs.
    private func checkServer(_ accounts: Accounts) {
        let run = run
        tasks[.serverInfo] = Task { [weak self] in
            do throws(AccountError) {
                _ = try await accounts.serverInfo()
            } catch {
                // All other errors also occur in rounds of sync, which report them.
                guard case .serverTooOld(let missing) = error else { return }
                await self?.ended(.serverInfo, of: run) { $0.around.missingFeatures = missing }
            }
        }
    }
}

/// The latest status, and the streams that report it.
private final class SyncStatusReports: Sendable {
    private struct State {
        var latest = SyncStatus()
        var readers: [Int: AsyncStream<SyncStatus>.Continuation] = [:]
        var count = 0
    }

    private let state = Locked(State())

    var latest: SyncStatus { state.withLock { $0.latest } }

    func subscribe() -> AsyncStream<SyncStatus> {
        let (stream, continuation) = AsyncStream<SyncStatus>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.count += 1
            state.readers[state.count] = continuation
            continuation.yield(state.latest)
            return state.count
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in
                state.readers[number] = nil
            }
        }
        return stream
    }

    func send(_ status: SyncStatus) {
        state.withLock { state in
            guard status != state.latest else { return }
            state.latest = status
            for reader in state.readers.values { reader.yield(status) }
        }
    }

    func finish() {
        let readers = state.withLock { state in
            defer { state.readers = [:] }
            return Array(state.readers.values)
        }
        for reader in readers { reader.finish() }
    }
}
