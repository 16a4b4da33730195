import HesperModel

/// What a page of a feed has beside the bodies of its objects: where to go on from, and what is left.
public struct Page: Sendable {
    /// What was put on it.
    public internal(set) var amount = ScanSize.none
    public internal(set) var token: SyncToken
    public internal(set) var hasMore = false
    /// What is left to fetch after it.
    public internal(set) var remaining = ScanSize.none
    /// Where the scope stood.
    public internal(set) var head: ScopeHead

    init(token: SyncToken, head: ScopeHead) {
        self.token = token
        self.head = head
    }
}

/// Takes the bodies of a page one by one, as they are kept, to be sent on while more are read.
public protocol PageSink {
    /// - Parameter body: JSON, good only during the call.
    mutating func append(_ body: UnsafeRawBufferPointer, _ kind: ScanRow.Kind)
}
