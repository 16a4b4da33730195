import HesperModel

/// Looks at an object in a snapshot and says what time has to remove of it. Nothing is written here.
struct ObjectSweep: Sendable {
    let policy: SweepPolicy
    let now: Timestamp

    /// Edits that are read, or removed, before what they came to is written.
    static let edits = 500
    /// Bytes of edits that are read before what they came to is written.
    static let bytes = 8 << 20

    func look(_ sweep: DueSweep, in snapshot: any Snapshot) throws -> SweepLook {
        var look = SweepLook()
        let state = try snapshot.state(of: sweep.object, in: sweep.scope)
        switch state {
        case .deleted?: try purge(sweep, in: snapshot, &look)
        case .entity(let entity, _)?: try thin(entity, sweep, in: snapshot, &look)
        case nil: look.isOver = true
        }
        try lookAtBytes(state, sweep, in: snapshot, &look)
        return look
    }

    // MARK: History

    /// Superseded values (merge.md, Thinning).
    private func thin(_ entity: Entity, _ sweep: DueSweep, in snapshot: any Snapshot, _ look: inout SweepLook) throws {
        let new = try snapshot.edits(
            of: sweep.object, in: sweep.scope, after: sweep.position, limit: ObjectSweep.edits,
            bytes: ObjectSweep.bytes)
        look.steps += new.edits.map { .keep($0, sweep) }
        guard new.isAll else {
            look.hasMore = true
            return
        }
        let versions = try snapshot.versions(of: sweep.object, in: sweep.scope) + new.edits.flatMap(\.versions)
        let since = Timestamp(clamping: now.milliseconds - Thinning.deviceRetention)
        let devices = try snapshot.devices(of: sweep.scope, usedSince: since)
        let thinning = Thinning(policy.history, devices: devices, at: now)
        var dropped: [Int64: [StoredVersion]] = [:]
        for (attribute, stored) in Dictionary(grouping: versions, by: \.attribute) {
            guard let standing = entity.register(attribute)?.clock else { continue }
            let decision = thinning.decide(stored.map(\.version), of: attribute, current: standing)
            for version in decision.dropped {
                dropped[version.position, default: []].append(StoredVersion(attribute, version))
            }
            if let next = decision.nextReview { look.look(at: next) }
        }
        for (position, versions) in dropped.sorted(by: { $0.key < $1.key }) {
            look.steps.append(.drop(SweptEdit(position: position, versions: versions), sweep))
        }
    }

    // MARK: Deleted objects

    /// The edits of a deleted object, once neither the deletion nor they are younger than the grace period.
    private func purge(_ sweep: DueSweep, in snapshot: any Snapshot, _ look: inout SweepLook) throws {
        guard let arrival = try snapshot.arrivalDate(ofDeleted: sweep.object, in: sweep.scope) else { return }
        guard arrival.adding(policy.grace) <= now else { return look.look(at: arrival.adding(policy.grace)) }
        let positions = try snapshot.positions(
            of: sweep.object, in: sweep.scope, pushedUntil: now.adding(-policy.grace), limit: ObjectSweep.edits)
        look.steps += positions.map { .purge(position: $0, sweep) }
        if !positions.isEmpty {
            look.hasMore = true
        } else if let first = try snapshot.firstArrival(of: sweep.object, in: sweep.scope) {
            look.look(at: first.adding(policy.grace))
        } else {
            look.isOver = true
        }
    }

    // MARK: Attachments

    /// Bytes whose attachment never came, and those of an attachment that no note holds (merge.md, Deleting).
    private func lookAtBytes(
        _ state: ObjectState?, _ sweep: DueSweep, in snapshot: any Snapshot, _ look: inout SweepLook
    ) throws {
        guard let blob = try snapshot.blob(of: sweep.object, in: sweep.scope) else { return }
        look.isOver = false
        let (end, bytes): (Timestamp, SweepLook.Bytes)
        if state.isLiveAttachment {
            guard let unheld = try snapshot.unheldDate(of: sweep.object, in: sweep.scope) else { return }
            (end, bytes) = (unheld.adding(policy.grace), .goWithAttachment)
        } else {
            (end, bytes) = (blob.arrivalDate.adding(Sweep.abandonedAge), .go)
        }
        if end <= now { look.bytes = bytes } else { look.look(at: end) }
    }
}

extension ObjectState? {
    /// Whether it is an attachment that everybody is shown.
    var isLiveAttachment: Bool {
        if case .entity(.attachment(let attachment), _)? = self { attachment.exists } else { false }
    }
}
