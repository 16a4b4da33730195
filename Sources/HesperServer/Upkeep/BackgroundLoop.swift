import Logging
import ServiceLifecycle

/// Repeats a piece of work until the server shuts down. The work is done at intervals or when a trigger fires, and after an error
/// it is repeated with back-off. Errors are logged, except those that the shutdown causes. ``OutageLog`` limits the number of
/// messages about an unavailable database.
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
    ///   - name: the name of the work in log messages, such as "Indexing".
    ///   - trigger: starts the next step immediately when it fires, except during a back-off.
    ///   - backoff: determines how long to wait after an error. The time grows with the number of consecutive errors.
    ///   - step: does the work once, and returns the time to wait until the next step. If it returns nil, the next step begins
    ///     only when the trigger fires.
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

    /// Repeats `work` at intervals. The first run begins one interval after the start of the loop.
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
                // If the task was cancelled, the error is a consequence of the cancellation. It need not be a
                // `CancellationError`, because drivers and stores throw their own types of errors.
                guard !Task.isCancelled else { return }
                failures += 1
                let delay = backoff.delay(after: failures)
                OutageLog.shared.report("\(name) failed; retrying", error, logger: logger)
                guard (try? await Task.sleep(for: delay)) != nil else { return }
            }
        }
    }
}
