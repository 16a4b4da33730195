import HesperStore
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

/// Keeps streams of events alive while the server runs, and tells them what other processes have committed: other servers
/// say so, as far as the store carries that; else, and for what was missed, the store is looked at.
struct Listening: Service {
    let hub: EventHub
    let pages: EventPages
    let store: any Store
    let logger: Logger
    private let looks = Looks()
    private let hasHeardNonsense = NIOLockedValueBox(false)
    private let isDeaf = NIOLockedValueBox(false)

    /// The interval between two questions whether other processes have committed.
    private static let pause = Duration.milliseconds(250)
    /// The interval between two looks where other servers send signals, of which some may be lost.
    private static let pauseOfServers = Duration.seconds(5)
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
                group.addTask { await cancelWhenGracefulShutdown { await signals.listen(hear) } }
            }
        }
    }

    private var loops: [BackgroundLoop] {
        let backoff = Backoff(first: Listening.pauseAfterFailure)
        let ticks = BackgroundLoop("Keeping event streams alive", every: .seconds(1), logger: logger) {
            hub.tick()
            pages.forget()
        }
        let looking = BackgroundLoop(
            "Looking up commits of other processes", trigger: looks.trigger, backoff: backoff, logger: logger
        ) {
            try await look()
            return nil
        }
        let noticing =
            store.signals == nil
            ? BackgroundLoop(
                "Looking for commits of other processes", every: Listening.pause, backoff: backoff, logger: logger
            ) {
                guard !hub.isEmpty else { return }
                if try await store.otherProcessesHaveCommitted() { looks.ask(.everywhere) }
            }
            : BackgroundLoop(
                "Looking for what was not signalled", every: Listening.pauseOfServers, logger: logger
            ) {
                if !hub.isEmpty { looks.ask(.everywhere) }
            }
        return [ticks, looking, noticing]
    }

    /// Looks wherever that was asked for.
    private func look() async throws {
        let place = looks.take()
        do {
            switch place {
            case .everywhere: try await hub.refresh(from: store)
            case .scopes(let scopes): try await hub.refresh(scopes, from: store)
            }
        } catch {
            looks.ask(place)
            throw error
        }
    }

    // MARK: Hearing

    @Sendable private func hear(_ heard: SignalEvent) {
        switch heard {
        case .signal(.sessionsChanged(let scope), _): if hub.hasListeners(to: scope) { looks.ask(.scopes([scope])) }
        case .signal(let signal, let server): hub.receive(signal, from: server)
        case .connected:
            if turn(isDeaf, to: false) { logger.notice("Other servers are heard again.") }
            hub.exchangePresence()
            looks.ask(.everywhere)
        case .disconnected:
            guard !turn(isDeaf, to: true) else { return }
            logger.warning(
                """
                Other servers are not heard for now: their changes come \(Listening.pauseOfServers) late, and what devices \
                say to each other does not come.
                """)
        case .unreadable(let text):
            guard !turn(hasHeardNonsense, to: true) else { return }
            logger.warning(
                "Somebody says on the servers' channel what none of this version says: \(text.debugDescription)")
        }
    }

    /// - Returns: what it was before.
    private func turn(_ flag: NIOLockedValueBox<Bool>, to value: Bool) -> Bool {
        flag.withLockedValue { flag in
            defer { flag = value }
            return flag
        }
    }
}
