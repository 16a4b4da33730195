import HesperStore

/// Who has signed a call, for whatever takes its time: to look again whether they still may, and how much they may hold.
struct Signature: Sendable {
    let session: Session
    /// Limits concurrent large bodies.
    let bodies: Semaphore<ScopeID>
    /// Looks the token up anew.
    let lookUp: @Sendable () async throws -> Session

    /// What was sent in less time was as good as here when it was looked up.
    private static let moment = Duration.milliseconds(100)

    /// Somebody may have been signed out while the rest of what they sent was on its way, which may take minutes.
    /// - Throws: `unauthenticated`.
    func holds(since start: ContinuousClock.Instant) async throws {
        if ContinuousClock.now - start > Signature.moment { _ = try await lookUp() }
    }
}
