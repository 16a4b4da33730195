import HesperStore

/// The authenticated sender of a request.
struct AuthenticatedCaller: Sendable {
    let session: Session
    /// Limits how many large request bodies are held in memory at the same time.
    let bodies: Semaphore<ScopeID>
    /// Authenticates the request again, and throws if the device is no longer signed in.
    let authenticate: @Sendable () async throws -> Session

    /// The time after which the authentication of a request must be repeated.
    private static let lifetime = Duration.milliseconds(100)

    /// Authenticates the request again if reading its body took longer than ``lifetime``. A body may take minutes to arrive, and
    /// the device may have been signed out meanwhile.
    /// - Parameter start: when the reading of the body began.
    /// - Throws: `unauthenticated` or `account-disabled`.
    func revalidate(since start: ContinuousClock.Instant) async throws {
        if ContinuousClock.now - start > AuthenticatedCaller.lifetime { _ = try await authenticate() }
    }
}
