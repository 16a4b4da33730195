package import HesperModel

/// The tasks that the real server runs in the background (architecture.md).
extension ServerCore {
    /// Deletes the attachments that no live object holds, without waiting for the grace period.
    /// - Returns: the number of deleted attachments.
    package mutating func sweepAttachments(at now: Timestamp) -> Int {
        var count = 0
        for index in accounts.indices {
            let scope = accounts[index].scope
            let ids = scope.states.keys.sorted().filter { id in
                guard case .entity(.attachment, .some)? = scope.states[id] else { return false }
                return scope.objects(holding: id).isEmpty
            }
            let deletions = ids.map { Push.Element.deletion(Deletion(uniqueID: $0, objectType: .attachment)) }
            let moment = Timestamp(clamping: now.milliseconds + clockError)
            // The error can be ignored: `apply` throws only if it rejects the push, and it does not reject deletions of
            // attachments.
            _ = try? accounts[index].scope.apply(
                Push(deletions), by: nil, server: node, at: moment, isLimited: false)
            for id in ids { accounts[index].scope.files.lose(id) }
            count += ids.count
        }
        return count
    }

    /// Drops superseded values of all objects (merge.md, Thinning). By default, the server keeps the last value of each day. It
    /// also keeps texts that a device may use as a base, and texts that lost words in a merge.
    package mutating func thinHistory(
        _ policy: HistoryPolicy = .thinned(all: 0, hourly: 0), at now: Timestamp
    ) {
        let moment = Timestamp(clamping: now.milliseconds + clockError)
        for index in accounts.indices {
            let devices = accounts[index].devices.map { device in
                Thinning.Device(
                    node: device.node, readSequence: device.readSequence,
                    readDate: device.readDate ?? device.lastUseDate, lastUseDate: device.lastUseDate)
            }
            accounts[index].scope.thin(Thinning(policy, devices: devices, at: moment))
        }
    }

    /// Removes all unfinished uploads, as the real server does after a day.
    package mutating func forgetUploads() {
        for index in accounts.indices { accounts[index].scope.files.uploads = [:] }
    }
}
