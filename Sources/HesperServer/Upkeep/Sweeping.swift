import HesperStore
import Logging

extension BackgroundLoop {
    /// Removes superfluous history, deleted objects and unused bytes while the server runs.
    static func sweeping(_ sweeper: Sweeper, logger: Logger) -> BackgroundLoop {
        BackgroundLoop(
            "Sweeping", backoff: Backoff(first: Sweeper.pauseAfterFailure), logger: logger,
            atEnd: { await sweeper.end() },
            step: { await sweeper.sweep { logger.report($0) } ? Sweeper.pause : Sweeper.pauseAfterFailure })
    }
}

extension Logger {
    fileprivate func report(_ event: SweepEvent) {
        switch event {
        case .failed(let error): OutageLog.shared.tell("Sweeping failed; retrying", error, logger: self)
        case .foreignFile(let path):
            warning(
                "among the attachments lies something that Hesper did not put there; it is left alone",
                metadata: ["path": "\(path)"])
        case .removalBlocked(let blocker):
            error(
                "No bytes of attachments are removed. \(blocker) See \"Attachment ownership\" in docs/operating.md."
            )
        case .removalResumed: notice("Bytes of attachments are removed again.")
        case .strays(let count):
            notice("files that no attachment and no upload has were removed", metadata: ["count": "\(count)"])
        case .unfinished(let count):
            notice("what broken writes have left was removed", metadata: ["count": "\(count)"])
        }
    }
}
