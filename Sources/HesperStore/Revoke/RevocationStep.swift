import HesperModel

/// The next objects of a revocation, as a snapshot has them: what is to be done with each, and how far that comes.
struct RevocationStep: Sendable {
    let revocation: Revocation
    let moment: Timestamp
    let plans: [RevocationPlan]
    /// Up to which number all objects have been looked at.
    let sequence: Int64

    init(_ revocation: Revocation, since moment: Timestamp, in snapshot: any Snapshot) throws {
        self.revocation = revocation
        self.moment = moment
        var (plans, sequence, bytes): ([RevocationPlan], Int64, Int) = ([], revocation.sequence, 0)
        let objects = try snapshot.objects(
            in: revocation.scope, beyond: sequence, pushedBy: revocation.node, after: moment, limit: Revoker.reach)
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
    /// Whether it came to the end of what the snapshot had.
    private var isLast: Bool { plans.isEmpty && sequence == revocation.sequence }

    /// What is pushed, given that the scope is locked, and how far the revocation is once that is written.
    func push(
        in transaction: any Transaction, at now: Timestamp, stamp: inout Stamp
    ) throws -> (push: Push, revocation: Revocation)? {
        // Somebody else was faster, or it begins again for an earlier moment.
        guard try transaction.revocation(of: revocation.node, in: revocation.scope) == revocation else { return nil }
        var next = revocation
        next.sequence = sequence
        if isLast {
            // What came since the snapshot is looked at first.
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

    /// The plans that are still good, and those of the notes from which they take attachments again: a picture moves in one
    /// push, or not at all. An object of which anything arrived since has a greater number by now, or is looked at anew.
    private func current(in transaction: any Transaction) throws -> [RevocationPlan] {
        let scope = revocation.scope
        var (current, known): ([RevocationPlan], Set<UniqueID>) = ([], [])
        var waiting = plans
        while let plan = waiting.popLast() {
            guard known.insert(plan.entity.uniqueID).inserted else { continue }
            var plan = plan
            if try !plan.isGood(in: transaction, scope) {
                guard
                    let again = try RevocationPlan(of: plan.entity.uniqueID, revocation, after: moment, in: transaction)
                else { continue }
                plan = again
            }
            current.append(plan)
            for attachment in plan.claimedAttachments {
                for holder in try transaction.bag(of: scope).holders(of: attachment) where !known.contains(holder) {
                    let plan = try RevocationPlan(of: holder, revocation, after: moment, in: transaction)
                    if let plan { waiting.append(plan) }
                }
            }
        }
        return current
    }

    /// Whether a note of somebody else's holds a tag or an attachment, or one that was merged into it.
    private func isHeld(_ id: UniqueID, in transaction: any Transaction) throws -> Bool {
        let bag = transaction.bag(of: revocation.scope)
        var (waiting, known): ([UniqueID], Set<UniqueID>) = ([id], [])
        while let next = waiting.popLast() {
            guard known.insert(next).inserted else { continue }
            if try !bag.holders(of: next).isEmpty { return true }
            waiting += try transaction.mergedFrom(next, in: revocation.scope)
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

    /// What could not be put back after all: an attachment that another note has come to hold.
    mutating func count(_ receipts: [Receipt]) {
        kept += receipts.count { $0.status == .rejected }
    }
}
