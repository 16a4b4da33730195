/// A permit to receive a large body. The number of permits is limited, globally and per account. Without this limit, one account
/// could send many bodies at the same time, and occupy any amount of memory.
struct BodyPermit {
    private let caller: AuthenticatedCaller?
    private var isHeld = false

    /// The maximum size of a body that needs no permit, in bytes.
    static let freeBytes = 256 << 10

    /// - Parameter caller: the sender of the body; nil on routes without authentication. Such routes accept only small bodies, so
    ///   no permit is taken.
    init(_ caller: AuthenticatedCaller?) { self.caller = caller }

    /// Waits for a permit, unless one is held already.
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
