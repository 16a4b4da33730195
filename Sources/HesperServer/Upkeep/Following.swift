import HesperStore
import Logging
import ServiceLifecycle

/// Looks after the store's replica while the server runs, and says when it is asked and when it is not.
struct Following: Service {
    let replica: any Replica
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await replica.follow { news in
                switch news {
                case .found: logger.notice("Reads go to the replica as far as it is up to the database.")
                case .lost(let reason):
                    logger.warning("The replica is not asked for now; reads go to the database: \(reason)")
                }
            }
        }
    }
}
