import HesperModel

/// The metadata of a page of a feed. The bodies of the page's objects are passed to a ``PageSink``.
public struct Page: Sendable {
    /// The count and the total size of the objects on the page.
    public internal(set) var size = ScanSize.none
    /// The sync token for the next page.
    public internal(set) var token: SyncToken
    public internal(set) var hasMore = false
    /// The count and the total size of the objects that follow the page.
    public internal(set) var remaining = ScanSize.none
    /// The head of the scope at the time when the page was read.
    public internal(set) var head: ScopeHead

    init(token: SyncToken, head: ScopeHead) {
        self.token = token
        self.head = head
    }
}

/// Receives the stored bodies of a page one by one, so that they can be sent while further bodies are read.
public protocol PageSink {
    /// Receives the next body.
    /// - Parameter body: the JSON of an object, which is valid only during the call.
    mutating func append(_ body: UnsafeRawBufferPointer, _ kind: ScanRow.Kind)
}
