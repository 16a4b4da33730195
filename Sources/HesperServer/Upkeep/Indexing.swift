import HesperStore
import Logging
import ServiceLifecycle

/// Keeps the index of terms filled while the server runs.
struct Indexing: Service {
    let indexer: TermIndexer
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await indexer.run { error in
                OutageLog.shared.tell("Indexing failed; retrying", error, logger: logger)
            }
        }
    }
}
