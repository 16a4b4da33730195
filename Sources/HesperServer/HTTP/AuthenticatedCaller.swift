import HesperStore
import Hummingbird

/// The authenticated sender of a request.
struct AuthenticatedCaller: Sendable {
    let session: Session
    /// Limits how many large request bodies are held in memory at the same time.
    let bodies: Semaphore<ScopeID>
    let authenticator: Authenticator
    let credential: Authenticator.Credential

    /// The time after which the authentication of a request must be repeated.
    private static let lifetime = Duration.milliseconds(100)

    /// Authenticates a request again if reading its body took longer than ``lifetime``. A body may take minutes to arrive, and the
    /// device may have been signed out meanwhile.
    /// - Parameter start: when the reading of the body began.
    /// - Throws: `unauthenticated` or `account-disabled`.
    func revalidate(_ request: Request, since start: ContinuousClock.Instant) async throws {
        guard ContinuousClock.now - start > AuthenticatedCaller.lifetime else { return }
        _ = try await authenticator.session(of: request, using: credential)
    }
}
