import HesperStore
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

/// Sends pings to event streams, and notifies them of commits by other processes. If the store supports signals (messages between
/// the servers of one database), other servers signal their commits. In any case, the store is queried at intervals, because
/// signals may be lost and not every store supports them.
struct EventHubService: Service {
    let hub: EventHub
    let pages: EventPages
    let store: any Store
    let logger: Logger
    private let refreshes = PendingRefreshes()
    private let hasLoggedUnreadable = NIOLockedValueBox(false)
    private let isDisconnected = NIOLockedValueBox(false)

    /// The interval between two queries for commits of other processes, if the store does not support signals.
    private static let pollInterval = Duration.milliseconds(250)
    /// The interval between two refreshes of all scopes, if the store supports signals. The refreshes find commits whose signal
    /// was lost.
    private static let signalledPollInterval = Duration.seconds(5)
    private static let pauseAfterFailure = Duration.seconds(5)

    init(hub: EventHub, pages: EventPages, store: any Store, logger: Logger) {
        self.hub = hub
        self.pages = pages
        self.store = store
        self.logger = logger
    }

    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for loop in loops { group.addTask { try await loop.run() } }
            if let signals = store.signals {
                group.addTask { await cancelWhenGracefulShutdown { await signals.listen(receive) } }
            }
        }
    }

    private var loops: [BackgroundLoop] {
        let backoff = Backoff(first: EventHubService.pauseAfterFailure)
        let ticks = BackgroundLoop("Sending pings to event streams", every: .seconds(1), logger: logger) {
            hub.tick()
            pages.removeAll()
        }
        let refreshing = BackgroundLoop(
            "Reading commits of other processes", trigger: refreshes.trigger, backoff: backoff, logger: logger
        ) {
            try await refresh()
            return nil
        }
        let polling =
            store.signals == nil
            ? BackgroundLoop(
                "Polling for commits of other processes", every: EventHubService.pollInterval, backoff: backoff,
                logger: logger
            ) {
                guard !hub.isEmpty else { return }
                if try await store.otherProcessesHaveCommitted() { refreshes.add(.all) }
            }
            : BackgroundLoop(
                "Polling for lost signals", every: EventHubService.signalledPollInterval, logger: logger
            ) {
                if !hub.isEmpty { refreshes.add(.all) }
            }
        return [ticks, refreshing, polling]
    }

    /// Reads the commits of other processes for all pending scopes, and notifies the listeners of these scopes.
    private func refresh() async throws {
        let scopes = refreshes.take()
        do {
            switch scopes {
            case .all: try await hub.refresh(from: store)
            case .only(let scopes): try await hub.refresh(scopes, from: store)
            }
        } catch {
            refreshes.add(scopes)
            throw error
        }
    }

    // MARK: Signals of other servers

    @Sendable private func receive(_ event: SignalEvent) {
        switch event {
        case .signal(.sessionsChanged(let scope), _): if hub.hasListeners(to: scope) { refreshes.add(.only([scope])) }
        case .signal(let signal, let server): hub.receive(signal, from: server)
        case .connected:
            if set(isDisconnected, to: false) { logger.notice("Signals of other servers are received again") }
            hub.exchangePresence()
            refreshes.add(.all)
        case .disconnected:
            guard !set(isDisconnected, to: true) else { return }
            logger.warning(
                """
                Signals of other servers are not received. Changes from other servers arrive up to \
                \(EventHubService.signalledPollInterval) late, \
                and messages to devices at other servers do not arrive.
                """)
        case .unreadable(let text):
            guard !set(hasLoggedUnreadable, to: true) else { return }
            logger.warning(
                "Unreadable signal, possibly from a server of another version",
                metadata: ["signal": "\(text.debugDescription)"])
        }
    }

    /// Sets a flag.
    /// - Returns: the previous value of the flag.
    private func set(_ flag: NIOLockedValueBox<Bool>, to value: Bool) -> Bool {
        flag.withLockedValue { flag in
            defer { flag = value }
            return flag
        }
    }
}
