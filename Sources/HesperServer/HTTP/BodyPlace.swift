/// A place among the large bodies that are held at once, of all accounts and of one: without it, whoever is signed in could have
/// as much memory as there is, for as long as a body may take.
struct BodyPlace {
    private let signature: Signature?
    private var isHeld = false

    /// Bytes that need no place.
    static let free = 256 << 10

    /// - Parameter signature: whose it is; nobody's body is large.
    init(_ signature: Signature?) { self.signature = signature }

    /// Waits for it.
    /// - Throws: `too-many-requests` when too many of the account wait already.
    mutating func enter() async throws {
        guard !isHeld, let signature else { return }
        try await signature.bodies.enter(signature.session.scope)
        isHeld = true
    }

    /// Gives it back.
    mutating func leave() async {
        guard isHeld, let signature else { return }
        isHeld = false
        await signature.bodies.leave(signature.session.scope)
    }
}
