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
    private static let looks = 4

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var looks = 0
            while !Task.isCancelled {
                try? await Task.sleep(for: Listening.pause)
                looks += 1
                if looks % Listening.looks == 0 {
                    hub.tick()
                    pages.forget()
                }
                do {
                    if !hub.isEmpty, try await store.othersHaveCommitted() { try await hub.refresh(from: store) }
                } catch {
                    logger.error("What other processes did is not known: \(error)")
                }
            }
        }
    }
}
