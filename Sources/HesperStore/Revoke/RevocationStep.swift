import HesperModel

/// One step of a revocation: the plans for the next objects, computed in a snapshot.
struct RevocationStep: Sendable {
    let revocation: Revocation
    let moment: Timestamp
    let plans: [RevocationPlan]
    /// The sequence number up to which all objects have been examined.
    let sequence: Int64

    init(_ revocation: Revocation, since moment: Timestamp, in snapshot: any Snapshot) throws {
        self.revocation = revocation
        self.moment = moment
        var (plans, sequence, bytes): ([RevocationPlan], Int64, Int) = ([], revocation.sequence, 0)
        let objects = try snapshot.objects(
            in: revocation.scope, beyond: sequence, pushedBy: revocation.node, after: moment, limit: Revoker.examined)
        for object in objects {
            guard plans.count < Revoker.batch, bytes < Revoker.bytes else { break }
            sequence = object.sequence
            guard object.isPushed, revocation.pass.contains(object.section),
                let plan = try RevocationPlan(of: object.uniqueID, revocation, after: moment, in: snapshot)
            else { continue }
            plans.append(plan)
            bytes += plan.bytes
        }
        self.plans = plans
        self.sequence = sequence
    }
}

extension RevocationStep {
    /// Whether the snapshot contained no more objects for this pass.
    private var isLast: Bool { plans.isEmpty && sequence == revocation.sequence }

    /// Returns the push that executes the plans, and the state of the revocation afterwards. The scope must be locked.
    /// - Returns: nil if the revocation has changed since the snapshot, or if this step would end a pass but the scope now has
    ///   further objects.
    func push(
        in transaction: any Transaction, at now: Timestamp, stamp: inout Stamp
    ) throws -> (push: Push, revocation: Revocation)? {
        // If the stored revocation differs, this step is outdated: another server has executed a step, or the revocation was
        // restarted with an earlier moment.
        guard try transaction.revocation(of: revocation.node, in: revocation.scope) == revocation else { return nil }
        var next = revocation
        next.sequence = sequence
        if isLast {
            // Objects may have changed since the snapshot was taken. They must be examined before the pass ends.
            let isEnd = try transaction.objects(
                in: revocation.scope, beyond: sequence, pushedBy: revocation.node, after: moment, limit: 1
            ).isEmpty
            guard isEnd else { return nil }
            switch revocation.pass {
            case .notesAndObjects: (next.pass, next.sequence) = (.tagsAndAttachments, 0)
            case .tagsAndAttachments: next.finishDate = now
            }
        }
        var elements: [Push.Element] = []
        for plan in try current(in: transaction) {
            if case .delete = plan.action, try isHeld(plan.entity.uniqueID, in: transaction) {
                next.counts.kept += 1
                continue
            }
            next.counts.count(plan)
            if let element = plan.element(stamp: &stamp) { elements.append(element) }
        }
        return (Push(elements), next)
    }

    /// Returns the plans. Plans for objects that have changed since the snapshot are computed again. An attachment can belong to
    /// only one note. If a plan restores an attachment that another note now holds, a plan for that note is added, so that a
    /// single push moves the attachment.
    private func current(in transaction: any Transaction) throws -> [RevocationPlan] {
        let scope = revocation.scope
        var (current, known): ([RevocationPlan], Set<UniqueID>) = ([], [])
        var pending = plans
        while let plan = pending.popLast() {
            guard known.insert(plan.entity.uniqueID).inserted else { continue }
            var plan = plan
            if try !plan.isCurrent(in: transaction, scope) {
                guard
                    let new = try RevocationPlan(of: plan.entity.uniqueID, revocation, after: moment, in: transaction)
                else { continue }
                plan = new
            }
            current.append(plan)
            for attachment in plan.claimedAttachments {
                for holder in try transaction.bag(of: scope).holders(of: attachment) where !known.contains(holder) {
                    let plan = try RevocationPlan(of: holder, revocation, after: moment, in: transaction)
                    if let plan { pending.append(plan) }
                }
            }
        }
        return current
    }

    /// Whether any object holds the tag or attachment with this ID. Also true if any object holds a tag that was merged into this
    /// tag.
    private func isHeld(_ id: UniqueID, in transaction: any Transaction) throws -> Bool {
        let bag = transaction.bag(of: revocation.scope)
        var (pending, known): ([UniqueID], Set<UniqueID>) = ([id], [])
        while let next = pending.popLast() {
            guard known.insert(next).inserted else { continue }
            if try !bag.holders(of: next).isEmpty { return true }
            pending += try transaction.mergedFrom(next, in: revocation.scope)
        }
        return false
    }
}

extension Revocation.Counts {
    fileprivate mutating func count(_ plan: RevocationPlan) {
        switch plan.action {
        case .delete: deleted += 1
        case .set(let values, let keeps):
            if !values.isEmpty { putBack += 1 }
            if values.contains(where: \.setting.isOlder) { older += 1 }
            if keeps { kept += 1 }
        }
    }

    /// Adds the number of rejected elements of the push to ``kept``. For example, an element is rejected if it would restore an
    /// attachment that another note now holds.
    mutating func count(_ receipts: [Receipt]) {
        kept += receipts.count { $0.status == .rejected }
    }
}
