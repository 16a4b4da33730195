internal import Foundation
internal import HesperModel

/// Accounts and sync. The session is stored in the local copy: sync continues when the store is opened again.
extension LocalStore {
    /// The e-mail address of the account that the local copy belongs to; nil if it belongs to none.
    public var account: String? {
        get async throws { try await database.performRead { try $0.session?.email } }
    }

    /// Creates an account on a server, signs in, and begins to sync.
    ///
    ///     try await store.signUp(to: "https://notes.example.org", email: "ada@example.org", password: password)
    ///
    /// - Parameters:
    ///   - server: the address of the server. It must begin with `https://`, except for a server on this machine.
    ///   - deviceName: the device's name in the list of devices; nil for the host name.
    ///   - invitation: a code from the operator, if the server requires one.
    /// - Throws: ``AccountError``; ``AccountError/otherAccount(_:)`` if the local copy already belongs to an account.
    public func signUp(
        to server: String, email: String, password: String, deviceName: String? = nil, invitation: String? = nil
    ) async throws {
        let earlier = try await database.performRead { try $0.session }
        if let earlier { throw AccountError.otherAccount(earlier.email) }
        let accounts = try accounts(server)
        _ = try await accounts.serverInfo()
        let credentials = credentials(email, password, deviceName)
        try await begin(try await accounts.signUp(credentials, invitation: invitation))
    }

    /// Signs in as a new device of an account, and begins to sync. Objects that were created before are kept and sent.
    ///
    /// - Parameters:
    ///   - server: the address of the server. It must begin with `https://`, except for a server on this machine.
    ///   - deviceName: the device's name in the list of devices; nil for the host name.
    /// - Throws: ``AccountError``; ``AccountError/otherAccount(_:)`` if the local copy belongs to another account. In this case,
    ///   first erase the local copy with ``signOut(erasing:)``.
    public func signIn(to server: String, email: String, password: String, deviceName: String? = nil) async throws {
        let accounts = try accounts(server)
        _ = try await accounts.serverInfo()
        let earlier = try await database.performRead { try $0.session }
        try await begin(try await accounts.signIn(credentials(email, password, deviceName), continuing: earlier))
    }

    /// The effect of ``LocalStore/signOut(erasing:)`` on the local copy.
    public enum Erasing: Sendable {
        /// Keeps the local copy. It continues to sync when the same account signs in again.
        case nothing
        /// Erases the local copy, unless it has unsent changes.
        case ifSent
        /// Erases the local copy. Unsent changes are lost.
        case always
    }

    /// Ends the session of this device.
    ///
    /// - Parameter erasing: whether the local copy is erased too.
    /// - Throws: ``StoreError/unsentChanges(_:)`` if `erasing` is ``Erasing/ifSent`` and there are unsent changes.
    public func signOut(erasing: Erasing = .nothing) async throws {
        // The session ends on this device first, so that nothing of this account is saved after the local copy was erased.
        let session = try await history.inTurn {
            let session = try await database.performWrite { records in
                let session = try records.session
                let unsent = try records.pendingCounts().toSend
                switch erasing {
                case .nothing:
                    guard var ended = session else { return session }
                    ended.token = nil
                    try records.setMeta("session", ended.json)
                case .ifSent where unsent > 0: throw StoreError.unsentChanges(unsent)
                case .ifSent, .always: try records.eraseAll()
                }
                return session
            }
            if erasing != .nothing { history.clear() }
            return session
        }
        await runner.sessionChanged()
        var failure: (any Error)?
        if erasing != .nothing {
            do { try await eraseFiles() } catch { failure = error }
        }
        if let session {
            // Errors are ignored: if the server cannot be reached, the device remains in the account's list of devices, where it can be
            // removed.
            let accounts = Accounts(server: session.server, transport: makeTransport(session.server))
            try? await accounts.signOut(session)
        }
        if let failure { throw failure }
    }

    private func eraseFiles() async throws {
        for id in try files.list().keys { try files.delete(id) }
        try await database.writer.vacuum()
    }

    private func accounts(_ server: String) throws(AccountError) -> Accounts {
        do throws(ServerURL.Invalid) {
            let url = try ServerURL(server)
            return Accounts(server: url, transport: makeTransport(url))
        } catch {
            throw AccountError(error)
        }
    }

    private func credentials(_ email: String, _ password: String, _ deviceName: String?) -> Accounts.Credentials {
        let name = deviceName ?? ProcessInfo.processInfo.hostName
        return Accounts.Credentials(
            email: email, password: password, deviceName: String(name.prefix(Limits.deviceNameLength)))
    }

    /// Saves a session, and begins to sync.
    private func begin(_ session: Session) async throws {
        try await database.performWrite { try $0.begin(session) }
        await runner.sessionChanged()
    }

    // MARK: Status

    /// The current status of sync.
    public var status: SyncStatus { runner.status }

    /// The status of sync, now and whenever it changes. A slow observer may miss some states, but never the last one.
    ///
    ///     for await status in store.statuses { show(status) }
    public var statuses: AsyncStream<SyncStatus> { runner.statuses }

    /// Syncs now, without waiting for a scheduled retry. Returns when nothing is left to send or fetch, when sync
    /// cannot continue (``SyncStatus/Phase/waiting`` or ``SyncStatus/Phase/offline``), or when `deadline` has passed. If
    /// the phase is then ``SyncStatus/Phase/synced``, this device has all changes that other devices had sent before the call.
    /// - Parameter deadline: the maximum duration of the call.
    /// - Returns: the status at the end.
    @discardableResult
    public func syncNow(deadline: Duration = .seconds(30)) async -> SyncStatus {
        await runner.syncNow(deadline: deadline)
    }
}
