/// Tags whose names fold to the same, on the final state of a push (merge.md, Tags).
extension Merge {
    mutating func makeTagNamesUnique() throws {
        var claims: [String: Set<UniqueID>] = [:]
        for id in touched {
            guard case .entity(.tag(let tag))? = states[id], tag.exists else { continue }
            claims[TagName.fold(tag.name), default: []].insert(id)
        }
        for name in claims.keys.sorted() {
            guard var claimants = claims[name] else { continue }
            // A tag that this push does not touch still has the name that it had.
            if let holder = try bag.tag(named: name), states[holder] == nil {
                claimants.insert(holder)
                try load([holder])
            }
            guard claimants.count > 1, let survivor = claimants.min() else { continue }
            for loser in claimants where loser != survivor {
                set(
                    loser,
                    .deleted(
                        DeletedObject(
                            uniqueID: loser, objectType: .tag, mergedInto: survivor, deletionDate: context.now)))
            }
        }
    }
}
