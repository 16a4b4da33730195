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

    /// Between two questions whether other processes have committed.
    private static let pause = Duration.milliseconds(250)
    /// Between two looks where other servers say what they do: some of it may not have come.
    private static let pauseOfServers = Duration.seconds(5)
    /// After a look that failed.
    private static let rest = Duration.seconds(5)

    init(hub: EventHub, pages: EventPages, store: any Store, logger: Logger) {
        self.hub = hub
        self.pages = pages
        self.store = store
        self.logger = logger
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await tick() }
                group.addTask { await look() }
                if let signals = store.signals {
                    group.addTask { await askRegularly() }
                    group.addTask { await signals.listen(hear) }
                } else {
                    group.addTask { await notice() }
                }
            }
        }
    }

    private func tick() async {
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            hub.tick()
            pages.forget()
        }
    }

    // MARK: Looking

    /// Looks wherever that was asked for.
    private func look() async {
        for await _ in looks.bell {
            let place = looks.take()
            do {
                switch place {
                case .everywhere: try await hub.refresh(from: store)
                case .scopes(let scopes): try await hub.refresh(scopes, from: store)
                }
            } catch {
                OutageLog.shared.tell("What other processes did is not known yet; retrying", error, logger: logger)
                // What was noticed once is looked at until that succeeds.
                try? await Task.sleep(for: Listening.rest)
                looks.ask(place)
            }
        }
    }

    /// Has the store looked at whenever another process has committed.
    private func notice() async {
        var pause = Listening.pause
        while (try? await Task.sleep(for: pause)) != nil {
            pause = Listening.pause
            guard !hub.isEmpty else { continue }
            do {
                if try await store.othersHaveCommitted() { looks.ask(.everywhere) }
            } catch {
                pause = Listening.rest
                OutageLog.shared.tell("What other processes did is not known yet; retrying", error, logger: logger)
            }
        }
    }

    private func askRegularly() async {
        while (try? await Task.sleep(for: Listening.pauseOfServers)) != nil {
            if !hub.isEmpty { looks.ask(.everywhere) }
        }
    }

    // MARK: Hearing

    @Sendable private func hear(_ heard: Heard) {
        switch heard {
        case .signal(.check(let scope), _): if hub.hasListeners(to: scope) { looks.ask(.scopes([scope])) }
        case .signal(let signal, let server): hub.hear(signal, from: server)
        case .missed:
            if turn(isDeaf, to: false) { logger.notice("Other servers are heard again.") }
            hub.meetOthers()
            looks.ask(.everywhere)
        case .lost:
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
