extension RecordsTransaction {
    /// The session of this copy; nil if the copy belongs to no account.
    package var session: Session? { get throws { try meta("session").flatMap(Session.init(json:)) } }

    /// Makes this copy a device of an account, after signing up or signing in.
    ///
    /// Unsent edits that were made before keep their clocks, even if this file is a copy: the server recognizes edits
    /// that both copies send. Unsent edits get new clocks only if the server refused a clock because another copy had
    /// used it for another edit.
    /// - Throws: ``AccountError/otherAccount(_:)`` if the copy belongs to another account (clients.md, rule 13).
    package func begin(_ session: Session) throws {
        if let standing = try self.session, standing.account != session.account {
            throw AccountError.otherAccount(standing.email)
        }
        let hasReusedClocks = try sync.hasReusedClocks
        try setMeta("session", session.json)
        try setNode(session.device)
        try withSync { sync in
            sync.signInAgain = nil
            sync.hasReusedClocks = false
        }
        if hasReusedClocks { try stampAgain() }
    }
}
