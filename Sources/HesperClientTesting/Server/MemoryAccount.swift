package import HesperModel

/// An account of a ``MemoryServer``.
package struct MemoryAccount: Sendable {
    package let uniqueID: UniqueID
    package let email: String
    var password: String
    let creationDate: Timestamp
    /// Whether the operator has disabled the account.
    var isDisabled = false
    /// The devices that are signed in, in the order in which they signed in.
    package var devices: [MemoryDevice] = []
    package var scope: MemoryScope

    /// The form in which e-mail addresses are compared: two addresses that differ only in case are equal.
    static func key(of email: String) -> String { email.lowercased() }

    /// Writes the ID and the name of the device that made or sent an edit. The name is left out if the device is not signed in.
    func writeDevice(_ node: NodeID, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("uniqueID", node.description)
            if let name = devices.first(where: { $0.node == node })?.name { writer.member("name", name) }
        }
    }

    func write(to writer: inout JSONWriter) {
        var objects = 0
        var bytes = 0
        for case .entity(let entity, .some) in scope.states.values {
            objects += 1
            bytes += entity.body.count
        }
        writer.object { writer in
            writer.member("uniqueID", uniqueID)
            writer.member("email", email)
            writer.member("creationDate", creationDate)
            writer.name("usage")
            writer.object { writer in
                writer.member("objects", Int64(objects))
                writer.member("bytes", Int64(bytes))
                writer.member("attachmentBytes", scope.files.byteCount)
                writer.member("storedBytes", scope.storedBytes)
            }
            if let quota = scope.quota { writer.member("quotaBytes", quota) }
        }
    }
}

/// A device that is signed in.
package struct MemoryDevice: Sendable {
    package let node: NodeID
    package var name: String
    let appVersion: String?
    package let token: String
    let creationDate: Timestamp
    var lastUseDate: Timestamp
    /// The sequence number up to which the device had read when it last requested changes; nil if it has not requested any.
    var readSequence: Int64?
    /// The time of the last request for changes.
    var readDate: Timestamp?

    func write(to writer: inout JSONWriter, isCurrent: Bool) {
        writer.object { writer in
            writer.member("uniqueID", node.description)
            writer.member("name", name)
            if let appVersion { writer.member("appVersion", appVersion) }
            writer.member("creationDate", creationDate)
            writer.member("lastUseDate", lastUseDate)
            writer.member("current", isCurrent)
        }
    }
}

/// The revocation of a lost device (merge.md, Devices).
struct MemoryRevocation: Sendable {
    let node: NodeID
    let name: String
    let requestDate: Timestamp
    /// Changes that the device pushed after this time are undone; nil if no changes are undone.
    var moment: Timestamp?
    var finishDate: Timestamp?
    var putBack = 0
    var deleted = 0
    var older = 0
    var kept = 0

    func body(_ scope: MemoryScope) -> [UInt8] {
        let lost = scope.deletions.reversed().filter { entry in
            entry.pushedBy == node && moment.map { entry.pushedAt > $0 } ?? false
        }
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
            writer.name("device")
            writer.object { writer in
                writer.member("uniqueID", node.description)
                writer.member("name", name)
            }
            writer.member("requestDate", requestDate)
            if let moment { writer.member("moment", moment) }
            if let finishDate { writer.member("finishDate", finishDate) }
            writer.name("objects")
            writer.object { writer in
                writer.member("putBack", Int64(putBack))
                writer.member("deleted", Int64(deleted))
                writer.member("older", Int64(older))
                writer.member("kept", Int64(kept))
            }
            writer.name("deletedObjects")
            writer.array { writer in for entry in lost { entry.deleted.write(to: &writer) } }
        }
        return writer.bytes
    }
}

extension MemoryScope {
    /// Undoes the changes that a revoked device pushed after a given time. Tags and attachments are processed last, because a tag
    /// or an attachment is not deleted while another object holds it. By then, the other objects no longer hold the tags and
    /// attachments that the device added to them.
    mutating func undo(
        _ revocation: inout MemoryRevocation, by requester: NodeID?, server: NodeID, at now: Timestamp
    ) throws {
        guard let moment = revocation.moment else { return }
        for isFirst in [true, false] {
            var pending = log.filter { states[$0.id]?.sequence == $0.sequence }.map(\.id).filter { id in
                guard case .entity(let entity, .some)? = states[id] else { return false }
                let isInPass = (entity.section == .notes || entity.section == .objects) == isFirst
                return isInPass && isPushed(id, by: revocation.node, after: moment)
            }
            var (elements, known): ([Push.Element], Set<UniqueID>) = ([], [])
            while !pending.isEmpty {
                let id = pending.removeFirst()
                guard known.insert(id).inserted, case .entity(let entity, .some)? = states[id] else { continue }
                switch rewind(id, revocation.node, moment).outcome(for: entity) {
                case .delete where isHeld(id): revocation.kept += 1
                case .delete:
                    revocation.deleted += 1
                    if let type = entity.objectType {
                        elements.append(.deletion(Deletion(uniqueID: id, objectType: type)))
                    }
                case .restore(let settings, let isPartial):
                    let clock = tick(after: entity, server: server, at: now)
                    let edits = settings.compactMap { $0.edit(of: entity, value(of: $0, id), at: clock) }
                    if !edits.isEmpty { revocation.putBack += 1 }
                    if settings.contains(where: \.isOlder) { revocation.older += 1 }
                    if isPartial { revocation.kept += 1 }
                    guard !edits.isEmpty else { continue }
                    elements.append(
                        .change(
                            Change(
                                uniqueID: id, section: entity.section, edits: edits,
                                ancestries: entity.ancestries(of: edits))))
                    // An attachment belongs to one object. If it is put back into an object, the same push must remove it from the
                    // object that holds it now. That object is therefore processed too.
                    for case let member? in edits.map({ $0.attribute.heldAttachment($0.value) }) {
                        pending += objects(holding: member).filter { !known.contains($0) }
                    }
                }
            }
            let result = try apply(Push(elements), by: requester, server: server, at: now, isLimited: false)
            revocation.kept += result.receipts.count { $0.status == .rejected }
        }
        revocation.finishDate = now
    }

    private func isPushed(_ id: UniqueID, by node: NodeID, after moment: Timestamp) -> Bool {
        parcels[id, default: []].contains { $0.pushedBy == node && $0.pushedAt > moment }
    }

    private func rewind(_ id: UniqueID, _ node: NodeID, _ moment: Timestamp) -> Rewind {
        var rewind = Rewind(of: node, after: moment)
        for stored in parcels[id, default: []] {
            rewind.add(stored.parcel, by: stored.pushedBy, at: stored.pushedAt, position: stored.position)
        }
        return rewind
    }

    private func value(of setting: Rewind.Restoration, _ id: UniqueID) -> Value? {
        guard let version = setting.version else { return nil }
        return parcels[id, default: []].first { $0.position == version.position }?.parcel.edits
            .first { $0.attribute == setting.attribute && $0.clock == version.clock }?.value
    }

    /// Whether an object holds the tag or attachment with this ID. If a tag was merged into this tag, an object that holds the
    /// merged tag counts too.
    private func isHeld(_ id: UniqueID) -> Bool {
        var (pending, known): ([UniqueID], Set<UniqueID>) = ([id], [])
        while let next = pending.popLast() {
            guard known.insert(next).inserted else { continue }
            if !objects(holding: next).isEmpty { return true }
            pending += tags(mergedInto: next)
        }
        return false
    }
}
