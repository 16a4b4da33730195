/// At the end of a push, merges tags whose folded names (``TagName/fold(_:)``) are equal (merge.md, Tags).
extension ScopeDraft {
    mutating func makeTagNamesUnique() throws {
        var claims: [String: Set<UniqueID>] = [:]
        for id in touched {
            guard case .entity(.tag(let tag))? = state(id), tag.exists else { continue }
            claims[TagName.fold(tag.name), default: []].insert(id)
        }
        for name in claims.keys.sorted() {
            guard var claimants = claims[name] else { continue }
            // An unchanged tag in the bag may have the same name as a tag that this push changes.
            if let holder = try bag.tag(named: name), !isTouched(holder) {
                claimants.insert(holder)
                try load([holder])
            }
            guard claimants.count > 1, let survivor = claimants.min() else { continue }
            for loser in claimants where loser != survivor {
                let deleted = DeletedObject(
                    uniqueID: loser, objectType: .tag, mergedInto: survivor, deletionDate: context.now)
                set(loser, .deleted(deleted))
            }
        }
    }
}
