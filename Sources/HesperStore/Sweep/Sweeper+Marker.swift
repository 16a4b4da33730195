import HesperModel

extension Sweeper {
    /// Checks the marker. If another database has written it, marks it as contested.
    /// - Returns: the reason why no attachments may be removed; nil if they may.
    func checkMarker(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws -> RemovalBlocker? {
        watch.nextCheck = now().adding(Sweep.markerCheckInterval)
        let blocker = try await claim.removalBlocker()
        setRemovalBlocker(blocker, report)
        if let blocker, blocker.isOfAnotherDatabase, try await hold() { try await claim.contest() }
        return blocker
    }

    /// Writes a marker with a new nonce, once an hour. After the first renewal by this process, no attachments are removed
    /// until servers on copies of the database have had time to read it. A first marker needs no such delay, as no copy knows
    /// its nonce.
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

    /// Whether attachments may be removed now. To be called before every batch.
    func mayRemoveBytes(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws -> Bool {
        guard try await checkMarker(report) == nil else { return false }
        return watch.allowsRemoval(at: now())
    }

    /// Sets the removal blocker. It is reported when it changes, and every hour.
    private func setRemovalBlocker(_ blocker: RemovalBlocker?, _ report: (SweepEvent) -> Void) {
        let now = now()
        if let blocker {
            if blocker.isOfMarker { watch.settlingEnd = nil }
            // If there is no marker yet, the first one is about to be written.
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

/// The times of this process's checks, reports and renewals of the marker.
struct MarkerWatch: Sendable {
    var nextCheck = Timestamp(clamping: .min)
    var nextReport = Timestamp(clamping: .min)
    var nextRenewal = Timestamp(clamping: .min)
    /// The time at which this process last wrote a marker.
    var renewalDate: Timestamp?
    /// The end of the delay after this process's first marker, during which no attachments are removed. It is nil while the
    /// marker is not this database's.
    var settlingEnd: Timestamp?

    func isDue(at now: Timestamp) -> Bool { nextCheck <= now }
    func isRenewalDue(at now: Timestamp) -> Bool { nextRenewal <= now }

    /// Whether attachments may be removed. They may not if the marker could not be renewed, because servers on copies of the
    /// database could not detect this one.
    func allowsRemoval(at now: Timestamp) -> Bool {
        guard let settlingEnd, let renewalDate else { return false }
        return settlingEnd <= now && now < renewalDate.adding(2 * Sweep.renewalInterval)
    }
}
