import HesperModel
import HesperStore

extension SQLiteTransaction {
    func append(
        _ outcome: MergeOutcome, to scope: LockedScope, by device: NodeID?, at date: Timestamp
    ) throws -> (head: ScopeHead, sequences: [UniqueID: Int64]) {
        var sequence = scope.head.sequence
        var digest = scope.head.digest
        var sequences: [UniqueID: Int64] = [:]
        sequences.reserveCapacity(outcome.changes.count)
        let objects = try ObjectWriter(self, scope: scope.head.scope, device: device, date: date)
        try releaseTagNames(outcome.changes, in: scope.head.scope)
        for change in outcome.changes {
            let before = change.digestBefore
            let after = change.digestAfter
            digest ^= before ^ after
            switch change.after {
            case .entity(let entity):
                if entity.exists {
                    sequence += 1
                    sequences[change.uniqueID] = sequence
                }
                try objects.write(
                    entity, digest: after, sequence: entity.exists ? sequence : nil, before: change.before)
            case .deleted(let deleted):
                sequence += 1
                sequences[change.uniqueID] = sequence
                try objects.write(deleted, sequence: sequence, before: change.before)
            }
        }
        try claimTagNames(outcome.changes, in: scope.head.scope)
        try keepBlobs(of: outcome.changes, in: scope.head.scope, at: date)
        try scheduleSweeps(of: outcome, in: scope.head.scope, at: date)
        // What stood already; the texts of this push are marked as they are put in.
        for text in outcome.lostTexts { try loseWords(of: text, in: scope.head.scope) }
        try append(outcome, to: scope.head.scope, by: device, at: date) { sequences[$0] ?? sequence }
        let head = ScopeHead(scope: scope.head.scope, sequence: sequence, digest: digest)
        try advance(
            head, greatest: [scope.greatestClock, outcome.greatestClock].compactMap(\.self).max(),
            server: outcome.serverClock ?? scope.serverClock)
        return (head, sequences)
    }

    private func append(
        _ outcome: MergeOutcome, to scope: ScopeID, by device: NodeID?, at date: Timestamp,
        sequence: (UniqueID) -> Int64
    ) throws {
        let lost = Set(outcome.lostTexts)
        let insert = try prepare(PushStatements.insertParcel)
        insert.bind(1, scope)
        insert.bind(4, device)
        insert.bind(5, date)
        for parcel in outcome.parcels {
            insert.bind(2, parcel.object)
            insert.bind(3, sequence(parcel.object))
            insert.bind(6, parcel.objectType?.name)
            insert.bind(7, parcel.isServers)
            insert.bind(8, parcel.firstClock)
            insert.bind(9, parcel.lastClock)
            insert.bind(10, parcel.textClock)
            insert.bind(11, parcel.textOrigin)
            insert.bind(12, text: ParcelBody.write(parcel.edits))
            insert.bind(
                13, parcel.textClock.map { lost.contains(LostText(object: parcel.object, clock: $0)) } ?? false)
            try insert.run()
        }
    }

    private func loseWords(of text: LostText, in scope: ScopeID) throws {
        let update = try prepare(PushStatements.loseWords)
        update.bind(1, scope)
        update.bind(2, text.object)
        update.bind(3, text.clock)
        try update.run()
    }

    private func advance(_ head: ScopeHead, greatest: Clock?, server: Clock?) throws {
        let update = try prepare(PushStatements.advance)
        update.bind(1, head.scope)
        update.bind(2, head.sequence)
        update.bind(3, head.digest)
        update.bind(4, greatest)
        update.bind(5, server)
        guard try update.run() == 1 else { throw StoreError.failed("a scope is gone while it is locked") }
    }
}

// MARK: - Tag names

extension SQLiteTransaction {
    /// All that is given up goes before anything is taken: within one push, two tags may swap their names.
    private func releaseTagNames(_ changes: [StateChange], in scope: ScopeID) throws {
        for change in changes {
            guard let name = change.foldedNameBefore, name != change.foldedNameAfter else { continue }
            let release = try prepare(PushStatements.releaseTagName)
            release.bind(1, scope)
            release.bind(2, name)
            release.bind(3, change.uniqueID)
            try release.run()
        }
    }

    private func claimTagNames(_ changes: [StateChange], in scope: ScopeID) throws {
        for change in changes {
            guard let name = change.foldedNameAfter, name != change.foldedNameBefore else { continue }
            let claim = try prepare(PushStatements.claimTagName)
            claim.bind(1, scope)
            claim.bind(2, name)
            claim.bind(3, change.uniqueID)
            try claim.run()
        }
    }
}

extension StateChange {
    fileprivate var foldedNameBefore: String? { entityBefore?.foldedTagName }
    fileprivate var foldedNameAfter: String? {
        if case .entity(let entity) = after { entity.foldedTagName } else { nil }
    }
}

extension Entity {
    /// The name under which a live tag is unique; nil for everything else.
    var foldedTagName: String? {
        if case .tag(let tag) = self, tag.exists { TagName.fold(tag.name) } else { nil }
    }
}
