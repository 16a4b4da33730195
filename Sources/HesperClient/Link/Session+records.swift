extension RecordsTransaction {
    /// The session of this local copy; nil if the local copy belongs to no account.
    package var session: Session? { get throws { try meta("session").flatMap(Session.init(json:)) } }

    /// Makes this local copy a device of an account, after signing up or signing in.
    ///
    /// Unsent edits usually keep their clocks. If the database file was copied from another device, both devices may send the same
    /// edits, and the server recognizes equal edits by their clocks. There is one exception: if the server refused a clock because
    /// another device had used it for a different edit, all unsent edits get new clocks.
    /// - Throws: ``AccountError/otherAccount(_:)`` if the local copy belongs to another account (clients.md, rule 13).
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
            sync.features = nil
        }
        if hasReusedClocks { try stampAgain() }
    }
}
