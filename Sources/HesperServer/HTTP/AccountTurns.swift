import HesperModel
import HesperStore

/// Who does now what takes the store long: few at once, so that whoever else reads and writes finds it free, and few of them of
/// one account.
actor AccountTurns {
    private let what: String
    private let limits: TurnLimits
    private var count = 0
    private var counts: [ScopeID: Int] = [:]
    private var waiting: [(scope: ScopeID, turn: CheckedContinuation<Void, Never>)] = []

    /// What whoever comes too often is told to wait, in seconds.
    static let wait = 2

    /// - Parameter what: what it is that one waits for, for whoever waits in vain: "searches".
    init(_ what: String, _ limits: TurnLimits) {
        self.what = what
        self.limits = limits
    }

    /// Does `body` when it is this account's turn: whoever came first is first, but for accounts that have theirs.
    /// - Throws: `too-many-requests` when too many of the account wait already.
    func take<T: Sendable>(_ scope: ScopeID, _ body: @Sendable () async throws -> T) async throws -> T {
        try await enter(scope)
        defer { leave(scope) }
        return try await body()
    }

    /// Waits for the turn alone: whoever has it gives it back with ``leave(_:)``, once.
    func enter(_ scope: ScopeID) async throws {
        if isFree(scope) {
            begin(scope)
        } else {
            guard waiting.count(where: { $0.scope == scope }) < limits.waiting else {
                throw Problem.tooManyRequests(
                    "Too many \(what) of this account are under way.", retryAfter: AccountTurns.wait)
            }
            // Whoever ends begins it, so that nobody else comes in between.
            await withCheckedContinuation { waiting.append((scope, $0)) }
        }
    }

    /// How many wait.
    var waitingCount: Int { waiting.count }

    private func isFree(_ scope: ScopeID) -> Bool {
        count < limits.atOnce && counts[scope, default: 0] < limits.perAccount
    }

    private func begin(_ scope: ScopeID) {
        count += 1
        counts[scope, default: 0] += 1
    }

    func leave(_ scope: ScopeID) {
        count -= 1
        counts[scope] = counts[scope].flatMap { $0 > 1 ? $0 - 1 : nil }
        guard let next = waiting.firstIndex(where: { isFree($0.scope) }) else { return }
        let (other, turn) = waiting.remove(at: next)
        begin(other)
        turn.resume()
    }
}
