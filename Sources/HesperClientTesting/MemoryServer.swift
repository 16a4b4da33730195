public import Foundation
package import HesperClient
package import HesperModel

/// A Hesper server in memory, for the tests of an app. It implements the protocol of the real server and merges in the
/// same way.
///
///     let server = MemoryServer()
///     server.fail(.responseLost, path: "/v1/sync")
///
/// All methods except `openStore` are synchronous. All IDs and tokens that the server makes are determined by its seed.
public final class MemoryServer: Sendable {
    fileprivate struct State {
        var server: FaultyServer
        var streams: [Int: AsyncThrowingStream<ServerEvent, any Error>.Continuation] = [:]
    }

    private let state: Locked<State>
    let now: @Sendable () -> Date

    /// Creates a server without accounts.
    /// - Parameters:
    ///   - seed: determines the IDs and tokens that the server makes.
    ///   - now: returns the actual time, for example the time of a ``VirtualClock``. The server's clock differs from it by
    ///     ``clockError``.
    public init(seed: UInt64 = 0, now: @escaping @Sendable () -> Date = { Date() }) {
        state = Locked(State(server: FaultyServer(seed: seed)))
        self.now = now
    }

    // MARK: Faults

    /// Whether no request reaches the server. Setting it to true also ends all event streams.
    public var isOffline: Bool {
        get { state.withLock { $0.server.isOffline } }
        set {
            state.withLock { state in
                state.server.isOffline = newValue
                if newValue { state.endStreams() }
            }
        }
    }

    /// The faults of all requests, drawn by a seeded schedule; nil for none.
    public var faults: FaultSchedule? {
        get { state.withLock { $0.server.schedule } }
        set { state.withLock { $0.server.schedule = newValue } }
    }

    /// The error of the server's wall clock in seconds; positive if it is ahead.
    public var clockError: TimeInterval {
        get { state.withLock { TimeInterval($0.server.core.clockError) / 1_000 } }
        set { state.withLock { $0.server.core.clockError = Int64(newValue * 1_000) } }
    }

    /// The maximum number of objects on a page. A small number makes a client read many pages.
    public var pageLimit: Int {
        get { state.withLock { $0.server.core.pageLimit } }
        set { state.withLock { $0.server.core.pageLimit = max(newValue, 1) } }
    }

    /// Whether the server lacks the features `object-texts` and `object-files`, like an earlier version of the real server: it
    /// rejects the texts and files of an app's own objects. With such a server, a store that has such texts or files reports
    /// `SyncProblem.serverTooOld`.
    public var lacksObjectTexts: Bool {
        get { state.withLock { $0.server.core.lacksObjectTexts } }
        set { state.withLock { $0.server.core.lacksObjectTexts = newValue } }
    }

    /// Applies a fault to the next requests.
    /// - Parameters:
    ///   - fault: the fault.
    ///   - count: the number of requests to which the fault applies.
    ///   - path: the fault applies only to requests whose path begins with this text.
    public func fail(_ fault: Fault, times count: Int = 1, path: String = "/") {
        state.withLock { $0.server.plan(fault, times: count, path: path) }
    }

    // MARK: Administration

    /// Sets the quota of all accounts, including those that are created later.
    /// - Parameter bytes: the maximum number of stored bytes; nil for no limit.
    public func setQuota(_ bytes: Int?) {
        state.withLock { state in
            state.server.core.quota = bytes.map(Int64.init)
            for index in state.server.core.accounts.indices {
                state.server.core.accounts[index].scope.quota = bytes.map(Int64.init)
            }
        }
    }

    /// A copy of the database of a server.
    public struct Backup: Sendable {
        fileprivate let backup: ServerCore.Backup
    }

    /// Makes a backup of the server's database.
    public func backUp() -> Backup { state.withLock { Backup(backup: $0.server.core.backUp()) } }

    /// Replaces the database with a backup. All sync tokens expire, as after `hesper restore`.
    /// - Parameter signingOut: whether all devices are signed out. If false, the devices that were signed in at the time of the
    ///   backup are signed in again.
    public func restore(_ backup: Backup, signingOut: Bool = false) {
        change { $0.restore(backup.backup, signingOut: signingOut) }
    }

    /// Signs all devices out. Their next request receives 401.
    public func signOutAllDevices() { change { $0.signOutAllDevices() } }

    /// Drops superseded values from the history of all objects, as the real server does after some time. The server keeps the last
    /// value of each day. It also keeps texts that a device may still use as a base, and texts that lost words in a merge.
    public func thinHistory() {
        let timestamp = timestamp
        change { $0.thinHistory(at: timestamp) }
    }

    // MARK: Requests

    /// Responds to a request without applying drawn or planned faults.
    package func respond(to request: ServerRequest, at now: Timestamp) -> ServerResponse {
        change { $0.respond(to: request, at: now) }
    }

    /// The accounts with all their data, for checks.
    package var accounts: [MemoryAccount] { state.withLock { $0.server.core.accounts } }

    private var timestamp: Timestamp { Timestamp(clamping: Int64((now().timeIntervalSince1970 * 1_000).rounded())) }

    /// Changes the server, and then sends the events that are due.
    private func change<T: Sendable>(_ body: (inout ServerCore) -> T) -> T {
        let timestamp = timestamp
        return state.withLock { state in
            let result = body(&state.server.core)
            state.sendEvents(at: timestamp)
            return result
        }
    }
}

extension MemoryServer: Transport {
    package func send(_ request: ServerRequest) async throws(NoResponse) -> ServerResponse {
        let timestamp = timestamp
        let reply = state.withLock { state in
            let reply = state.server.reply(to: request, at: timestamp)
            state.sendEvents(at: timestamp)
            return reply
        }
        if reply.delay > 0 {
            do { try await Task.sleep(for: .milliseconds(reply.delay)) } catch {
                throw NoResponse("The request was cancelled.")
            }
        }
        return try reply.result.get()
    }

    package func events(_ request: ServerRequest) -> AsyncThrowingStream<ServerEvent, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: ServerEvent.self)
        let timestamp = timestamp
        state.withLock { state in
            guard !state.server.isOffline else {
                continuation.finish(throwing: NoResponse("The request did not reach the server."))
                return
            }
            switch state.server.core.openStream(request, at: timestamp) {
            case .failure(let error): continuation.finish(throwing: error)
            case .success(let number):
                continuation.onTermination = { [weak self] _ in self?.close(number) }
                state.streams[number] = continuation
                state.sendEvents(at: timestamp)
            }
        }
        return stream
    }

    private func close(_ number: Int) {
        let timestamp = timestamp
        state.withLock { state in
            guard state.streams.removeValue(forKey: number) != nil else { return }
            state.server.core.closeStream(number)
            state.sendEvents(at: timestamp)
        }
    }
}

extension MemoryServer.State {
    /// Sends the events that are due in all streams.
    fileprivate mutating func sendEvents(at now: Timestamp) {
        for number in streams.keys.sorted() {
            let (events, hasEnded) = server.core.takeEvents(of: number, at: now)
            for event in events { streams[number]?.yield(event) }
            if hasEnded { end(number) }
        }
    }

    fileprivate mutating func endStreams() { for number in streams.keys.sorted() { end(number) } }

    private mutating func end(_ number: Int) {
        server.core.closeStream(number)
        let continuation = streams.removeValue(forKey: number)
        // The handler must not run now, because it would lock `state`, which is locked already.
        continuation?.onTermination = nil
        continuation?.finish()
    }
}
