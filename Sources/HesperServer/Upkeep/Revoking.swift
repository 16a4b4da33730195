import HesperStore
import Logging
import ServiceLifecycle

/// Puts back what lost devices pushed while the server runs.
struct Revoking: Service {
    let revoker: Revoker
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await revoker.run { error in
                OutageLog.shared.tell("Putting back what lost devices pushed failed; retrying", error, logger: logger)
            }
        }
    }
}
