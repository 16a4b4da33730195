package import HesperModel

/// The input of a step of sync.
package enum SyncInput: Sendable {
    /// The local copy changed.
    case changed
    /// The user requested to sync now.
    case syncNow
    /// The time of the most recent effect ``SyncEffect/wake(at:)`` has come, or sync starts.
    case wake
    /// The response to the request with this serial number, or the reason why there is none.
    case response(Int, Result<ServerResponse, NoResponse>)
    case event(ServerEvent)
    /// The event stream ended. `hasFailed` is true if it was interrupted.
    case streamEnded(hasFailed: Bool)
    /// The session began or ended.
    case session
}

/// An action to carry out after the transaction of a step is committed.
package enum SyncEffect: Sendable, Equatable {
    /// Send a request. The number is the serial number of the request. The input `response` contains this number and the response.
    case send(Int, ServerRequest)
    case openEvents(ServerRequest)
    case closeEvents
    /// Take a step with the input `wake` at this time. Replaces an earlier effect `wake`.
    case wake(at: Timestamp)
}

/// The state of sync after a step.
package struct SyncProgress: Sendable, Equatable {
    /// Whether the last round that ended was successful; false until the first round has ended.
    package var hasFinished = false
    /// The number of objects that are left to read.
    package var objectsToFetch = 0
    /// The number of bytes that are left to read.
    package var bytesToFetch: Int64 = 0
    /// The time since which the server cannot be reached.
    package var offlineSince: Timestamp?
    /// The time of the next attempt after a failed one.
    package var nextTry: Timestamp?
    /// Whether an event stream is open and its first event has arrived.
    package var isLive = false
    /// The number of other devices that have an event stream open.
    package var listeners = 0
    /// The reason why the last attempt failed. Nil if the attempt was successful, or if the server could not be reached.
    package var problem: ServerProblem?
    /// The features that unsent fields need, but that the server lacks. These fields are sent when the server has the features.
    package var missingFeatures: [String] = []

    package init() {}
}

/// Runs rounds of sync. A round sends pushes and receives pages, until nothing is left to send or to receive (protocol.md, Sync
/// cycle).
///
/// This value is synchronous. It does not use tasks, timers or the network, and a seed determines its random delays. Each step
/// runs in one transaction, and returns the effects to carry out after the transaction is committed. If the transaction fails,
/// the value must be replaced with a copy from before the step.
package struct SyncCore: Sendable {
    package private(set) var progress = SyncProgress()
    private var backOff: BackOff
    private var number = 0
    private var request: (number: Int, kind: RequestKind)?
    /// Whether an event with changes was received after the last request was sent. The digest in the response may then be older
    /// than the local copy.
    private var hasNewerEvent = false
    /// The time of the next sync that a change, an event or the user has requested; nil if none is requested. If the time is 0,
    /// the sync starts immediately, even before a scheduled retry.
    private var due: Timestamp?
    private var round: Round?
    private var failures = 0
    private var idlePolls = 0
    /// The time of the next sync if nothing happens and no event stream is open.
    private var nextPoll = Timestamp(clamping: 0)
    /// Whether the user has requested to sync since the last request was sent.
    private var isAsked = false
    private var stream = Stream()
    /// The time of the last step.
    private var lastStep = Timestamp(clamping: 0)

    private enum RequestKind {
        case sync(PushBatch)
        /// Asks which features the server has.
        case features
    }

    /// The state of a round between its requests.
    private struct Round {
        var hasMore = true
        var withBases: Bool
        var clockRefusals = 0
        /// Whether one more request was sent to find out whether the digests still differ.
        var isConfirmed = false
        var hasNews = false
        var objectLimit = PushBatch.objectLimit
        var requests = 0
        var hasAskedForFeatures = false
    }

    private struct Stream {
        var isOpen = false
        var openedAt = Timestamp(clamping: 0)
        /// The number of times in succession that the stream was interrupted.
        var breaks = 0
        /// The earliest time at which the stream may be opened again.
        var after = Timestamp(clamping: 0)
        var retry: Int64?
    }

    /// Creates the state of sync before the first round.
    /// - Parameter seed: determines the random delays.
    package init(seed: UInt64) { backOff = BackOff(seed: seed) }

    /// Whether the response to a request is awaited.
    package var isBusy: Bool { request != nil }

    // All times are in milliseconds.

    /// Changes made within this time are sent together.
    private static let batchDelay: Int64 = 150
    private static let firstRetry: Int64 = 1_000
    private static let firstPoll: Int64 = 5_000
    /// The maximum delay before a retry or a poll.
    private static let longestDelay: Int64 = 60_000
    /// If a stream was open for longer than this before it was interrupted, it is opened again at once.
    private static let stableStream: Int64 = 30_000
    private static let hour: Int64 = 3_600_000
    /// The maximum number of objects that are requested for a page.
    private static let page = 500
    /// The maximum number of requests of one round.
    private static let requestLimit = 10_000
    /// The maximum number of responses with refused clocks in one round.
    private static let clockRefusalLimit = 5

    /// Processes an input, and returns the effects to carry out.
    package mutating func step(_ input: SyncInput, _ transaction: RecordsTransaction) throws -> [SyncEffect] {
        let now = transaction.now
        if now < lastStep { clockWasSetBack(to: now) }
        lastStep = now
        try transaction.withSync { $0.limitWaits(at: now) }
        var effects: [SyncEffect] = []
        switch input {
        case .changed:
            idlePolls = 0
            schedule(now.adding(SyncCore.batchDelay))
        case .syncNow:
            isAsked = true
            schedule(Timestamp(clamping: 0))
        case .wake: break
        case .session: restart(&effects)
        case .response(let number, let result):
            // The response to a request of an earlier session is ignored.
            if let request, request.number == number {
                self.request = nil
                try take(result, of: request.kind, transaction, &effects)
            }
        case .event(let event): try take(event, transaction, &effects)
        case .streamEnded(let hasFailed): streamEnded(hasFailed: hasFailed, at: now)
        }
        try proceed(transaction, &effects)
        return effects
    }

    /// Makes all scheduled actions due immediately. A time that was scheduled while the clock was ahead may be years away.
    private mutating func clockWasSetBack(to now: Timestamp) {
        due = due.map { min($0, now) }
        progress.nextTry = progress.nextTry.map { min($0, now) }
        nextPoll = min(nextPoll, now)
        stream.after = min(stream.after, now)
    }

    private mutating func restart(_ effects: inout [SyncEffect]) {
        if stream.isOpen { effects.append(.closeEvents) }
        request = nil
        round = nil
        failures = 0
        idlePolls = 0
        stream = Stream()
        progress = SyncProgress()
        due = Timestamp(clamping: 0)
    }

    private mutating func schedule(_ moment: Timestamp) { due = due.map { min($0, moment) } ?? moment }

    // MARK: Rounds

    /// Sends the next request if one is due. Otherwise, schedules a step for the time at which the next request is due.
    private mutating func proceed(_ transaction: RecordsTransaction, _ effects: inout [SyncEffect]) throws {
        guard request == nil, let token = try transaction.sessionToken, try transaction.sync.signInAgain == nil else {
            return
        }
        let now = transaction.now
        if round == nil {
            let next = try nextSync(transaction)
            guard next <= now else {
                effects.append(.wake(at: next))
                return
            }
            due = nil
            progress.nextTry = nil
            let sync = try transaction.sync
            let isLongAgo = sync.lastSync.map { now.milliseconds - $0.milliseconds > 24 * SyncCore.hour } ?? false
            round = Round(withBases: sync.hasStartedOver || isLongAgo)
        }
        try sendNext(token, transaction, &effects)
    }

    private mutating func sendNext(
        _ token: String, _ transaction: RecordsTransaction, _ effects: inout [SyncEffect]
    ) throws {
        guard var round else { return }
        try transaction.releaseHeld(isAsked: isAsked)
        if isAsked {
            // If this round is in progress already, its last response may be older than the user's request.
            round.hasMore = true
            round.hasAskedForFeatures = false
            due = nil
            isAsked = false
        }
        if !round.hasAskedForFeatures, try !transaction.sync.isReading && transaction.mustAskForFeatures() {
            round.hasAskedForFeatures = true
            self.round = round
            number += 1
            request = (number, .features)
            effects.append(.send(number, ServerRequest("GET", "/v1/server")))
            return
        }
        var push = PushBatch()
        if try !transaction.sync.isReading {
            if try transaction.sync.hasStartedOver { push = try transaction.nextRelays(limit: round.objectLimit) }
            if push.isEmpty { push = try transaction.nextPush(limit: round.objectLimit) }
        }
        if push.isEmpty, !round.hasMore, !round.isConfirmed, try transaction.sync.isIdentical == false {
            // The local copy is repaired only if the digests differ twice in succession, because an event that is newer than this
            // response may have been processed before it (protocol.md, Events).
            round.isConfirmed = true
            round.hasMore = true
        }
        if push.isEmpty, !round.hasMore, hasNewerEvent, try transaction.sync.isIdentical == false {
            try finish(round, token, transaction, &effects)
            schedule(transaction.now.adding(SyncCore.firstRetry))
            effects.append(.wake(at: try nextSync(transaction)))
            return
        }
        if push.isEmpty && !round.hasMore {
            guard try startsRepair(transaction) else { return try finish(round, token, transaction, &effects) }
            round.hasMore = true
            round.withBases = true
        }
        round.requests += 1
        self.round = round
        guard round.requests <= SyncCore.requestLimit else {
            return fail(
                ServerProblem(slug: "endless", detail: "The server keeps reporting that there are more changes."),
                at: transaction.now,
                &effects)
        }
        let body = JSON(members: [
            ("limit", .integer(Int64(SyncCore.page))), ("syncToken", try transaction.sync.token.map(JSON.string)),
            ("changes", push.isEmpty ? nil : push.changes(withBases: round.withBases)),
        ])
        number += 1
        push.sent = transaction.now
        request = (number, .sync(push))
        hasNewerEvent = false
        let headers = ["content-type": "application/json"]
        effects.append(
            .send(number, ServerRequest("POST", "/v1/sync", headers: headers, body: body.bytes, token: token)))
    }

    /// Records that no full sync is in progress. If the digests differ although nothing is unsent, then starts a full sync, which
    /// reads the feed from its beginning. This happens at most once an hour.
    /// - Returns: whether a full sync was started.
    private func startsRepair(_ transaction: RecordsTransaction) throws -> Bool {
        let now = transaction.now
        let sync = try transaction.sync
        let isRecent = sync.repaired.map { now.milliseconds - $0.milliseconds < SyncCore.hour } ?? false
        let differs = try sync.isIdentical == false && transaction.pendingCounts().toSend == 0 && !isRecent
        try transaction.withSync {
            $0.hasStartedOver = false
            if differs { $0.repaired = now }
        }
        if differs { try transaction.startOver() }
        return differs
    }

    private mutating func finish(
        _ round: Round, _ token: String, _ transaction: RecordsTransaction, _ effects: inout [SyncEffect]
    ) throws {
        self.round = nil
        failures = 0
        idlePolls = round.hasNews ? 0 : idlePolls + 1
        progress.hasFinished = true
        progress.offlineSince = nil
        progress.nextTry = nil
        progress.problem = nil
        progress.missingFeatures = try transaction.missingFeatures()
        progress.objectsToFetch = 0
        progress.bytesToFetch = 0
        let now = transaction.now
        var delay = SyncCore.firstPoll
        for _ in 0..<min(idlePolls, 10) { delay += delay / 2 }
        nextPoll = now.adding(min(delay, SyncCore.longestDelay))
        if try transaction.pendingCounts().toSend == 0 { due = nil }
        if !stream.isOpen, stream.after <= now, let since = try transaction.sync.token {
            stream.isOpen = true
            stream.openedAt = now
            let path = "/v1/events?since=\(since.percentEncoded)"
            effects.append(
                .openEvents(ServerRequest("GET", path, headers: ["accept": "text/event-stream"], token: token)))
        }
        effects.append(.wake(at: try nextSync(transaction)))
    }

    private mutating func take(
        _ result: Result<ServerResponse, NoResponse>, of kind: RequestKind, _ transaction: RecordsTransaction,
        _ effects: inout [SyncEffect]
    ) throws {
        let now = transaction.now
        guard var round else { return }
        let response: ServerResponse
        switch result {
        case .failure: return fail(nil, at: now, &effects)
        case .success(let success): response = success
        }
        guard case .sync(let push) = kind else {
            guard response.isSuccess, let info = ServerInfo(response.body) else {
                return fail(ServerProblem(response), at: now, &effects)
            }
            return try transaction.withSync {
                $0.features = info.features.intersection(ServerInfo.optionalFeatures)
            }
        }
        guard response.isSuccess else {
            let problem = ServerProblem(response)
            if problem.slug == "unauthenticated" || problem.slug == "device-revoked" {
                try transaction.withSync { $0.signInAgain = .expired }
                return restart(&effects)
            }
            if problem.slug == "too-large" && push.count > 1 {
                // The server refused the push because it would have to load too much stored data of the objects in the push. The
                // next push has half as many objects.
                round.objectLimit = push.count / 2
                self.round = round
            } else if problem.slug == "token-expired" {
                try transaction.startOver()
                round.hasMore = true
                round.withBases = true
                self.round = round
            } else {
                fail(problem, at: now, &effects)
            }
            return
        }
        guard let page = try? JSONReader.read(response.body), page["syncToken"] != nil, page["hasMore"]?.bool != nil
        else {
            return fail(
                ServerProblem(slug: "unexpected", detail: "The response is not a page of changes."), at: now, &effects)
        }
        let received = try transaction.receive(page, answering: push)
        if received.refusedClocks.contains("clock-reused") { return restart(&effects) }
        if !received.refusedClocks.isEmpty { round.clockRefusals += 1 }
        if round.clockRefusals > SyncCore.clockRefusalLimit {
            let problem = ServerProblem(slug: "clocks-refused", detail: "The server refused the clocks of this device.")
            return fail(problem, at: now, &effects)
        }
        let hasChanges = page["changes"]?.members.contains { !$0.value.elements.isEmpty } ?? false
        round.hasNews = round.hasNews || !push.isEmpty || hasChanges
        round.hasMore = page["hasMore"]?.bool ?? false
        progress.objectsToFetch = Int(page["remaining"]?["objects"]?.integer ?? 0)
        progress.bytesToFetch = page["remaining"]?["bytes"]?.integer ?? 0
        progress.offlineSince = nil
        self.round = round
    }

    /// Ends the round, and schedules the next attempt.
    /// - Parameter problem: nil if the server could not be reached.
    private mutating func fail(_ problem: ServerProblem?, at now: Timestamp, _ effects: inout [SyncEffect]) {
        round = nil
        if stream.isOpen {
            effects.append(.closeEvents)
            stream = Stream()
        }
        progress.isLive = false
        progress.listeners = 0
        progress.hasFinished = false
        progress.problem = problem
        progress.offlineSince = problem == nil ? progress.offlineSince ?? now : nil
        let wait = max(delay(afterFailures: failures + 1), Int64(problem?.retryAfter ?? 0) * 1_000)
        failures += 1
        progress.nextTry = now.adding(wait)
    }

    // MARK: Times

    private mutating func delay(afterFailures failures: Int) -> Int64 {
        backOff.delay(afterFailures: failures, from: SyncCore.firstRetry, upTo: SyncCore.longestDelay)
    }

    /// The time of the next sync. If a retry is scheduled, changes are not sent before the retry.
    private func nextSync(_ transaction: RecordsTransaction) throws -> Timestamp {
        let now = transaction.now
        if let due, due.milliseconds == 0 { return due }
        if let nextTry = progress.nextTry { return nextTry }
        guard progress.hasFinished else { return now }
        var next = due ?? Timestamp(clamping: .max)
        if !progress.isLive {
            next = min(next, nextPoll)
            if !stream.isOpen { next = min(next, stream.after) }
        }
        if let deletion = try transaction.nextDeletion() { next = min(next, deletion) }
        let sync = try transaction.sync
        if let repaired = sync.repaired, sync.isIdentical == false, try transaction.pendingCounts().toSend == 0 {
            next = min(next, repaired.adding(SyncCore.hour))
        }
        if let until = sync.fullUntil, try transaction.pendingCounts().held > 0 {
            next = min(next, until)
        }
        return next
    }

    // MARK: Events

    private mutating func take(
        _ event: ServerEvent, _ transaction: RecordsTransaction, _ effects: inout [SyncEffect]
    ) throws {
        guard stream.isOpen else { return }
        progress.isLive = true
        stream.retry = event.retry.map(Int64.init) ?? stream.retry
        switch event.name {
        case "expired":
            effects.append(.closeEvents)
            streamEnded(hasFailed: false, at: transaction.now)
        case "listeners":
            if let listeners = try? JSONReader.read(event.data)["listeners"]?.integer {
                progress.listeners = Int(listeners)
            }
        case "changes":
            guard let page = try? JSONReader.read(event.data) else { return }
            let received = try transaction.receive(page, answering: PushBatch())
            hasNewerEvent = true
            let differs = try transaction.sync.isIdentical == false && transaction.pendingCounts().toSend == 0
            if received.hasNewEdits || differs { schedule(transaction.now.adding(SyncCore.batchDelay)) }
        default: break
        }
    }

    private mutating func streamEnded(hasFailed: Bool, at now: Timestamp) {
        guard stream.isOpen else { return }
        let wasStable = now.milliseconds - stream.openedAt.milliseconds > SyncCore.stableStream
        let breaks = hasFailed && !wasStable ? stream.breaks + 1 : 0
        let delay = stream.retry ?? (breaks > 1 ? delay(afterFailures: breaks + 1) : 0)
        stream = Stream(breaks: breaks, after: now.adding(delay))
        progress.isLive = false
        progress.listeners = 0
        schedule(now.adding(SyncCore.batchDelay))
    }
}

extension RecordsTransaction {
    /// The token of the session; nil if the user is not signed in.
    package var sessionToken: String? { get throws { try meta("session")?["token"]?.string } }

    /// The time at which the next deletion can no longer be undone; nil if no deletion can be undone.
    func nextDeletion() throws -> Timestamp? {
        try deletions().compactMap { deletion in deletion.heldUntil.map { deletion.isDue(at: now) ? now : $0 } }.min()
    }
}

extension Timestamp {
    /// The time that is the given number of milliseconds later.
    func adding(_ milliseconds: Int64) -> Timestamp { Timestamp(clamping: self.milliseconds + milliseconds) }
}

extension String {
    /// The text with percent-encoding, as in the query of a URL.
    var percentEncoded: String {
        utf8.map { byte in
            let isPlain =
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                || [0x2d, 0x2e, 0x5f, 0x7e].contains(byte)
            let hex = String(byte, radix: 16, uppercase: true)
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" + hex : hex)
        }.joined()
    }
}
