import HesperModel

/// A store's bag in which the bytes of every attachment have arrived, whether or not the store keeps bytes.
struct DataBag: Bag {
    static let data = AttachmentData(byteCount: 3, sha256: String(repeating: "ab", count: 32))

    let bag: any Bag

    func states(of ids: [UniqueID]) throws -> [UniqueID: ObjectState] { try bag.states(of: ids) }
    func tag(named foldedName: String) throws -> UniqueID? { try bag.tag(named: foldedName) }
    func holders(of attachment: UniqueID) throws -> [UniqueID] { try bag.holders(of: attachment) }

    func parcels(of object: UniqueID, holding clock: Clock) throws -> [Parcel] {
        try bag.parcels(of: object, holding: clock)
    }

    func newestText(of object: UniqueID, by node: NodeID, before clock: Clock) throws -> Clock? {
        try bag.newestText(of: object, by: node, before: clock)
    }

    func attachmentData(of attachment: UniqueID) throws -> AttachmentData? { DataBag.data }
}
