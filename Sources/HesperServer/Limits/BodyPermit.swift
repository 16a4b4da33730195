/// A permit for a large body, limited globally and per account. Without it, the bodies of one account could occupy any amount of
/// memory while they arrive.
struct BodyPermit {
    private let caller: AuthenticatedCaller?
    private var isHeld = false

    /// The size of a body that needs no permit, in bytes.
    static let freeBytes = 256 << 10

    /// - Parameter caller: the sender of the body. Without one no permit is taken, as open routes accept only small bodies.
    init(_ caller: AuthenticatedCaller?) { self.caller = caller }

    /// Waits for the permit, if it is not held already.
    /// - Throws: `too-many-requests` if too many bodies of the account are waiting; `CancellationError`.
    mutating func acquire() async throws {
        guard !isHeld, let caller else { return }
        try await caller.bodies.acquire(caller.session.scope)
        isHeld = true
    }

    mutating func release() {
        guard isHeld, let caller else { return }
        isHeld = false
        caller.bodies.release(caller.session.scope)
    }
}
