import HesperStore
import Logging
import ServiceLifecycle

/// Removes what time has made superfluous while the server runs.
struct Sweeping: Service {
    let sweeper: Sweeper
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await sweeper.run { event in
                switch event {
                case .failed(let error):
                    OutageLog.shared.tell("Sweeping failed; retrying", error, logger: logger)
                case .foreignFile(let path):
                    logger.warning(
                        "among the attachments lies something that Hesper did not put there; it is left alone",
                        metadata: ["path": "\(path)"])
                case .bytesStay(let obstacle):
                    logger.error(
                        "No bytes of attachments are removed. \(obstacle) See \"Whose attachments they are\" in docs/operating.md."
                    )
                case .bytesGo: logger.notice("Bytes of attachments are removed again.")
                case .strays(let count):
                    logger.notice(
                        "files that no attachment and no upload has were removed", metadata: ["count": "\(count)"])
                case .unfinished(let count):
                    logger.notice("what broken writes have left was removed", metadata: ["count": "\(count)"])
                }
            }
        }
    }
}
