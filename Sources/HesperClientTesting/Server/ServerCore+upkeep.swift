package import HesperModel

/// The tasks that the real server runs in the background (architecture.md).
extension ServerCore {
    /// Deletes the attachments that no live note has, without waiting for the grace period.
    package mutating func sweepAttachments(at now: Timestamp) {
        for index in accounts.indices {
            let scope = accounts[index].scope
            let ids = scope.states.keys.sorted().filter { id in
                guard case .entity(.attachment, .some)? = scope.states[id] else { return false }
                return scope.notes(holding: id).isEmpty
            }
            let deletions = ids.map { Push.Element.deletion(Deletion(uniqueID: $0, objectType: .attachment)) }
            let moment = Timestamp(clamping: now.milliseconds + clockError)
            // The error can be ignored: `apply` throws only if it rejects the push, and it does not reject deletions of
            // attachments.
            _ = try? accounts[index].scope.apply(
                Push(deletions), by: nil, server: node, at: moment, isLimited: false)
            for id in ids { accounts[index].scope.files.lose(id) }
        }
    }

    /// Removes all unfinished uploads, as the real server does after a day.
    package mutating func forgetUploads() {
        for index in accounts.indices { accounts[index].scope.files.uploads = [:] }
    }
}
