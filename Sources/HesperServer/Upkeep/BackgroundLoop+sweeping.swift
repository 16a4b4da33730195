import HesperStore
import Logging

extension BackgroundLoop {
    /// A loop that runs the sweeper while the server runs. The sweeper removes superseded values, the edits of deleted objects
    /// and unused blobs.
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
        case .failed(let error): OutageLog.shared.report("Sweeping failed; retrying", error, logger: self)
        case .foreignFile(let path):
            warning(
                "Unknown file among the attachments; left unchanged",
                metadata: ["path": "\(path)"])
        case .removalBlocked(let blocker):
            error(
                "Unused attachments are not removed. \(blocker) See \"Attachment ownership\" in docs/operating.md."
            )
        case .removalResumed: notice("Removal of unused attachments resumed")
        case .strays(let count):
            notice("Files that belong to no attachment and no upload were removed", metadata: ["count": "\(count)"])
        case .unfinished(let count):
            notice("Incomplete files of interrupted writes were removed", metadata: ["count": "\(count)"])
        }
    }
}
