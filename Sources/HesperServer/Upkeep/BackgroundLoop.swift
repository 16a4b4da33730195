import Logging
import ServiceLifecycle

/// Work that is repeated while the server runs: at intervals, or when its trigger fires, and with back-off after an error. It
/// ends when the server shuts down; errors that the shutdown causes are not logged. Messages about an unavailable database are
/// limited by ``OutageLog``.
///
///     BackgroundLoop("Indexing", backoff: Backoff(first: .seconds(5)), logger: logger) { try await indexer.step() }
public struct BackgroundLoop: Service {
    private let name: String
    private let trigger: Trigger
    private let backoff: Backoff
    private let logger: Logger
    private let initialWait: Duration
    private let step: @Sendable () async throws -> Duration?
    private let atEnd: @Sendable () async -> Void

    /// - Parameters:
    ///   - name: the work, for log messages: "Indexing".
    ///   - trigger: starts the next step immediately, except during a back-off.
    ///   - backoff: the time to wait after consecutive errors.
    ///   - step: returns the time until the next step; nil to wait for the trigger only.
    ///   - atEnd: called once after the loop has ended.
    public init(
        _ name: String, trigger: Trigger? = nil, backoff: Backoff, logger: Logger,
        atEnd: @escaping @Sendable () async -> Void = {}, step: @escaping @Sendable () async throws -> Duration?
    ) {
        self.name = name
        self.trigger = trigger ?? Trigger()
        self.backoff = backoff
        self.logger = logger
        initialWait = .zero
        self.atEnd = atEnd
        self.step = step
    }

    /// Repeats `work` at intervals, the first time after one interval.
    public init(
        _ name: String, every interval: Duration, backoff: Backoff? = nil, logger: Logger,
        work: @escaping @Sendable () async throws -> Void
    ) {
        self.name = name
        trigger = Trigger()
        self.backoff = backoff ?? Backoff(first: interval)
        self.logger = logger
        initialWait = interval
        atEnd = {}
        step = {
            try await work()
            return interval
        }
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown { await loop() }
        await atEnd()
    }

    /// Repeats the step until the task is cancelled.
    private func loop() async {
        var failures = 0
        guard (try? await Task.sleep(for: initialWait)) != nil else { return }
        while !Task.isCancelled {
            do {
                let wait = try await step()
                failures = 0
                if wait != .zero { try await trigger.wait(for: wait) }
            } catch {
                // A cancelled step may fail with any error, because drivers and stores have errors of their own.
                guard !Task.isCancelled else { return }
                failures += 1
                let delay = backoff.delay(after: failures)
                OutageLog.shared.report("\(name) failed; retrying", error, logger: logger)
                guard (try? await Task.sleep(for: delay)) != nil else { return }
            }
        }
    }
}
