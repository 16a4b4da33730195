import HesperModel

/// Examines an object in a snapshot and determines which of its data has expired. This type writes nothing.
struct ObjectSweep: Sendable {
    let policy: SweepPolicy
    let now: Timestamp

    /// The maximum number of edits that are examined or removed before the results are written.
    static let edits = 500
    /// When this number of bytes of edits has been read, the results are written before more edits are read.
    static let bytes = 8 << 20

    func examine(_ sweep: DueSweep, in snapshot: any Snapshot) throws -> SweepFindings {
        var findings = SweepFindings()
        let state = try snapshot.state(of: sweep.object, in: sweep.scope)
        switch state {
        case .deleted?: try purge(sweep, in: snapshot, &findings)
        case .entity(let entity, _)?: try thin(entity, sweep, in: snapshot, &findings)
        case nil: findings.isFinal = true
        }
        try examineBlob(state, sweep, in: snapshot, &findings)
        return findings
    }

    // MARK: History

    /// Finds superseded values of registers that can be removed (merge.md, Thinning).
    private func thin(
        _ entity: Entity, _ sweep: DueSweep, in snapshot: any Snapshot, _ findings: inout SweepFindings
    ) throws {
        let new = try snapshot.edits(
            of: sweep.object, in: sweep.scope, after: sweep.position, limit: ObjectSweep.edits,
            bytes: ObjectSweep.bytes)
        findings.steps += new.edits.map { .record($0, sweep) }
        guard new.isAll else {
            findings.hasMore = true
            return
        }
        let versions = try snapshot.versions(of: sweep.object, in: sweep.scope) + new.edits.flatMap(\.versions)
        let since = Timestamp(clamping: now.milliseconds - Thinning.deviceRetention)
        let devices = try snapshot.devices(of: sweep.scope, usedSince: since)
        let thinning = Thinning(policy.history, devices: devices, at: now)
        var dropped: [Int64: [StoredVersion]] = [:]
        for (attribute, stored) in Dictionary(grouping: versions, by: \.attribute) {
            guard let standing = entity.register(attribute)?.clock else { continue }
            let decision = thinning.decide(
                stored.map(\.version), of: attribute, current: standing,
                importedBy: ImportedNote.node(of: sweep.object))
            for version in decision.dropped {
                dropped[version.position, default: []].append(StoredVersion(attribute, version))
            }
            if let next = decision.nextReview { findings.scheduleNext(next) }
        }
        for (position, versions) in dropped.sorted(by: { $0.key < $1.key }) {
            findings.steps.append(.drop(SweptEdit(position: position, versions: versions), sweep))
        }
    }

    // MARK: Deleted objects

    /// Finds the edits of a deleted object that can be removed. Nothing can be removed until the grace period has passed since
    /// the deletion arrived. After that, each edit can be removed when the grace period has passed since the arrival of the edit.
    private func purge(_ sweep: DueSweep, in snapshot: any Snapshot, _ findings: inout SweepFindings) throws {
        guard let arrival = try snapshot.arrivalDate(ofDeleted: sweep.object, in: sweep.scope) else { return }
        guard arrival.adding(policy.grace) <= now else { return findings.scheduleNext(arrival.adding(policy.grace)) }
        let positions = try snapshot.positions(
            of: sweep.object, in: sweep.scope, pushedUntil: now.adding(-policy.grace), limit: ObjectSweep.edits)
        findings.steps += positions.map { .purge(position: $0, sweep) }
        if !positions.isEmpty {
            findings.hasMore = true
        } else if let first = try snapshot.firstArrival(of: sweep.object, in: sweep.scope) {
            findings.scheduleNext(first.adding(policy.grace))
        } else {
            findings.isFinal = true
        }
    }

    // MARK: Attachments

    /// Determines whether the object's blob can be removed now, or when it can be removed. A blob without an attachment object can
    /// be removed when ``Sweep/abandonedAge`` has passed since the arrival of the blob. The blob of an attachment can be removed
    /// when no object has held the attachment for the grace period (merge.md, Deleting).
    private func examineBlob(
        _ state: ObjectState?, _ sweep: DueSweep, in snapshot: any Snapshot, _ findings: inout SweepFindings
    ) throws {
        guard let blob = try snapshot.blob(of: sweep.object, in: sweep.scope) else { return }
        findings.isFinal = false
        let (end, action): (Timestamp, SweepFindings.BlobAction)
        if state.isLiveAttachment {
            guard let unheld = try snapshot.unheldDate(of: sweep.object, in: sweep.scope) else { return }
            (end, action) = (unheld.adding(policy.grace), .deleteAttachment)
        } else {
            (end, action) = (blob.arrivalDate.adding(Sweep.abandonedAge), .remove)
        }
        if end <= now { findings.blobAction = action } else { findings.scheduleNext(end) }
    }
}

extension ObjectState? {
    /// Whether this is the state of an existing attachment.
    var isLiveAttachment: Bool {
        if case .entity(.attachment(let attachment), _)? = self { attachment.exists } else { false }
    }
}
