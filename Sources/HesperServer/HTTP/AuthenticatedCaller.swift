import HesperStore

/// The authenticated sender of a request.
struct AuthenticatedCaller: Sendable {
    let session: Session
    /// Limits concurrent large bodies.
    let bodies: Semaphore<ScopeID>
    /// Looks the token up again.
    let authenticate: @Sendable () async throws -> Session

    /// The time for which an authentication is valid without another lookup.
    private static let lifetime = Duration.milliseconds(100)

    /// Checks that the device is still signed in, if `start` is too long ago: a body may take minutes to arrive.
    /// - Throws: `unauthenticated` or `account-disabled`.
    func revalidate(since start: ContinuousClock.Instant) async throws {
        if ContinuousClock.now - start > AuthenticatedCaller.lifetime { _ = try await authenticate() }
    }
}
