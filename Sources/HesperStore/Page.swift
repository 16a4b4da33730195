import HesperModel

/// A page of a feed: bodies copied as they are kept, and where to go on from.
public struct Page: Sendable {
    /// Comma-joined JSON of the objects of each section, by ``Section/rawValue``.
    public internal(set) var sections: [[UInt8]] = [[], [], [], []]
    /// Comma-joined JSON of DeletedObjects.
    public internal(set) var deletedObjects: [UInt8] = []
    /// What was put on it.
    public internal(set) var amount = Amount.none
    public internal(set) var token: SyncToken
    public internal(set) var hasMore = false
    /// What is left to fetch after it.
    public internal(set) var remaining = Amount.none
    /// Where the scope stood.
    public internal(set) var head: ScopeHead

    init(token: SyncToken, head: ScopeHead) {
        self.token = token
        self.head = head
    }

    /// Adds one object's body, unless it is one already.
    public mutating func append(_ body: some Collection<UInt8>, _ kind: ScanRow.Kind) {
        switch kind {
        case .object(let section): Page.append(body, to: &sections[section.rawValue])
        case .deletedObject: Page.append(body, to: &deletedObjects)
        }
        amount.objects += 1
        amount.bytes += body.count
    }

    private static func append(_ body: some Collection<UInt8>, to list: inout [UInt8]) {
        if !list.isEmpty { list.append(UInt8(ascii: ",")) }
        list.append(contentsOf: body)
    }
}
