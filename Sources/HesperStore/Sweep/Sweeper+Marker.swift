import HesperModel

extension Sweeper {
    /// Reads the marker. If another database has written it, marks it as contested.
    /// - Returns: why no bytes may be removed; nil if they may.
    func lookAtMarker(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws -> RemovalBlocker? {
        watch.nextLook = now().adding(Sweep.markerLook)
        let found = try await claim.removalBlocker()
        note(found, report)
        if let found, found.isOfAnotherDatabase, try await hold() { try await claim.contest() }
        return found
    }

    /// Once an hour: writes a new nonce. Until servers on other copies have had time to find it, no bytes are removed; a
    /// first marker has a nonce that no copy knows.
    func renewMarker(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws {
        let now = now()
        guard watch.isRenewalDue(at: now) else { return }
        let isFirst = try await claim.removalBlocker() == .unmarked
        watch.nextRenewal = now.adding(Sweep.renewalAfterFailure)
        if let blocker = try await claim.renew() { return note(blocker, report) }
        watch.nextRenewal = now.adding(Sweep.renewal)
        watch.renewalDate = now
        if watch.settlingEnd == nil { watch.settlingEnd = isFirst ? now : now.adding(Sweep.settling) }
        _ = try await lookAtMarker(report)
    }

    /// Whether bytes may be removed at this moment: asked before every batch.
    func mayRemoveBytes(_ report: @escaping @Sendable (SweepEvent) -> Void) async throws -> Bool {
        guard try await lookAtMarker(report) == nil else { return false }
        return watch.allowsRemoval(at: now())
    }

    /// Reports what is in the way when that changes, and every hour.
    private func note(_ found: RemovalBlocker?, _ report: (SweepEvent) -> Void) {
        let now = now()
        if let found {
            if found.isOfMarker { watch.settlingEnd = nil }
            // A first marker is about to be written.
            if found != .unmarked, found.isOther(than: blocker) || watch.nextReport <= now {
                watch.nextReport = now.adding(Timestamp.hour)
                report(.removalBlocked(found))
            }
        } else if let blocker, blocker != .unmarked {
            report(.removalResumed)
            watch.nextRenewal = now
        }
        blocker = found
    }
}

/// What one process knows of the marker, and when it looks at it again.
struct MarkerWatch: Sendable {
    var nextLook = Timestamp(clamping: .min)
    var nextReport = Timestamp(clamping: .min)
    var nextRenewal = Timestamp(clamping: .min)
    /// When this process wrote a marker last.
    var renewalDate: Timestamp?
    /// Until when no bytes are removed, since this process wrote a marker first; nil while the marker is not this database's.
    var settlingEnd: Timestamp?

    func isDue(at now: Timestamp) -> Bool { nextLook <= now }
    func isRenewalDue(at now: Timestamp) -> Bool { nextRenewal <= now }

    /// Not while the marker cannot be renewed: other databases' servers could not see that this one is at work.
    func allowsRemoval(at now: Timestamp) -> Bool {
        guard let settlingEnd, let renewalDate else { return false }
        return settlingEnd <= now && now < renewalDate.adding(2 * Sweep.renewal)
    }
}
