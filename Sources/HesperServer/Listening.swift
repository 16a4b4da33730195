import HesperStore
import Logging
import ServiceLifecycle

/// Keeps streams of events alive while the server runs, and tells them what other processes have committed.
struct Listening: Service {
    let hub: EventHub
    let pages: EventPages
    let store: any Store
    let logger: Logger

    /// Between two looks at what other processes did.
    private static let pause = Duration.milliseconds(250)
    /// How many of them make a second.
    private static let looksPerSecond = 4
    /// How many are left out after one that failed.
    private static let rest = 20

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var (looks, rest) = (0, 0)
            var isStale = false
            while !Task.isCancelled {
                try? await Task.sleep(for: Listening.pause)
                looks += 1
                if looks % Listening.looksPerSecond == 0 {
                    hub.tick()
                    pages.forget()
                }
                rest -= 1
                guard rest < 0, !hub.isEmpty else { continue }
                do {
                    // What was noticed once is looked at until that succeeds.
                    if try await store.othersHaveCommitted() { isStale = true }
                    if isStale { try await hub.refresh(from: store) }
                    isStale = false
                } catch {
                    rest = Listening.rest
                    logger.error("What other processes did is not known yet: \(error)")
                }
            }
        }
    }
}
