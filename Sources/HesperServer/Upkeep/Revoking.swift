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
                logger.error("putting back failed; it is tried again", metadata: ["error": "\(error)"])
            }
        }
    }
}
