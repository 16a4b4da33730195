/// A permit for a large body, limited globally and per account: without it, an account could occupy any amount of memory for as
/// long as its bodies take to arrive.
struct BodyPermit {
    private let signature: Signature?
    private var isHeld = false

    /// The size of a body that needs no permit, in bytes.
    static let freeBytes = 256 << 10

    /// - Parameter signature: who sent the body; without one, only small bodies are accepted.
    init(_ signature: Signature?) { self.signature = signature }

    /// Waits for the permit, once.
    /// - Throws: `too-many-requests` if too many bodies of the account wait already; `CancellationError`.
    mutating func acquire() async throws {
        guard !isHeld, let signature else { return }
        try await signature.bodies.acquire(signature.session.scope)
        isHeld = true
    }

    mutating func release() {
        guard isHeld, let signature else { return }
        isHeld = false
        signature.bodies.release(signature.session.scope)
    }
}
