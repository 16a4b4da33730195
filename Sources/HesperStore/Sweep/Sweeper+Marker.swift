import HesperModel

extension Sweeper {
    /// Reads and checks the marker. If another database has written the marker, and this process holds the lease, the attachments
    /// are marked as contested.
    /// - Returns: the reason why no attachments may be removed; nil if attachments may be removed.
    func checkMarker(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws -> RemovalBlocker? {
        watch.nextCheck = now().adding(Sweep.markerCheckInterval)
        let blocker = try await claim.removalBlocker()
        setRemovalBlocker(blocker, report)
        if let blocker, blocker.isOfAnotherDatabase, try await hold() { try await claim.contest() }
        return blocker
    }

    /// Writes a marker with a new nonce, once an hour. After the first renewal by this process, no attachments are removed until
    /// servers on copies of the database have had time to read the new marker. If no marker existed before, this delay is not
    /// necessary, because servers do not remove attachments while there is no marker.
    func renewMarker(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws {
        let now = now()
        guard watch.isRenewalDue(at: now) else { return }
        let isFirst = try await claim.removalBlocker() == .unmarked
        watch.nextRenewal = now.adding(Sweep.renewalAfterFailure)
        if let blocker = try await claim.renew() { return setRemovalBlocker(blocker, report) }
        watch.nextRenewal = now.adding(Sweep.renewalInterval)
        watch.renewalDate = now
        if watch.settlingEnd == nil { watch.settlingEnd = isFirst ? now : now.adding(Sweep.settling) }
        _ = try await checkMarker(report)
    }

    /// Whether attachments may be removed now. Must be called before every batch of removals.
    func mayRemoveBytes(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws -> Bool {
        guard try await checkMarker(report) == nil else { return false }
        return watch.allowsRemoval(at: now())
    }

    /// Sets ``removalBlocker``. Reports a blocker when it differs from the previous one, and once an hour while it remains.
    private func setRemovalBlocker(_ blocker: RemovalBlocker?, _ report: (SweepEvent) -> Void) {
        let now = now()
        if let blocker {
            if blocker.isOfMarker { watch.settlingEnd = nil }
            // If there is no marker yet, the next renewal writes the first marker, so this is not reported.
            if blocker != .unmarked, blocker.isOther(than: removalBlocker) || watch.nextReport <= now {
                watch.nextReport = now.adding(Timestamp.hour)
                report(.removalBlocked(blocker))
            }
        } else if let removalBlocker, removalBlocker != .unmarked {
            report(.removalResumed)
            watch.nextRenewal = now
        }
        removalBlocker = blocker
    }
}

/// The times at which this process must next check, report and renew the marker.
struct MarkerWatch: Sendable {
    var nextCheck = Timestamp(clamping: .min)
    var nextReport = Timestamp(clamping: .min)
    var nextRenewal = Timestamp(clamping: .min)
    /// The time at which this process most recently wrote a marker; nil if it has not written one.
    var renewalDate: Timestamp?
    /// No attachments are removed before this time. The first renewal of the marker by this process sets this time. Nil before the
    /// first renewal, and while the state of the marker prevents the removal of attachments.
    var settlingEnd: Timestamp?

    func isDue(at now: Timestamp) -> Bool { nextCheck <= now }
    func isRenewalDue(at now: Timestamp) -> Bool { nextRenewal <= now }

    /// Whether attachments may be removed. They may be removed only after ``settlingEnd``. In addition, this process must have
    /// renewed the marker recently, so that servers on copies of the database can detect that this server is active.
    func allowsRemoval(at now: Timestamp) -> Bool {
        guard let settlingEnd, let renewalDate else { return false }
        return settlingEnd <= now && now < renewalDate.adding(2 * Sweep.renewalInterval)
    }
}
