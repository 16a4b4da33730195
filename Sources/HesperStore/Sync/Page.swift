import HesperModel

/// The metadata of a page of a feed. The bodies of the page's objects are passed to a ``PageSink``.
public struct Page: Sendable {
    /// The count and the total size of the objects on the page.
    public internal(set) var size = ScanSize.none
    /// The count and the total size of the objects that the page leaves out, because the reader has just pushed them.
    var leftOut = ScanSize.none
    /// The sync token for the next page.
    public internal(set) var token: SyncToken
    public internal(set) var hasMore = false
    /// The count and the total size of the objects that follow the page. Zero until ``count(in:)`` is called.
    public private(set) var remaining = ScanSize.none
    /// The head of the scope at the time when the page was read.
    public internal(set) var head: ScopeHead

    init(token: SyncToken, head: ScopeHead) {
        self.token = token
        self.head = head
    }

    /// Sets ``remaining``. The token contains it too, so that the objects are counted only once for a series of pages: counting for
    /// each page would take as long as reading the pages.
    /// - Parameter total: the size of what followed the token before this page: ``SyncToken/remaining`` of that token, or
    ///   ``Feed/size(since:head:in:)`` if the token does not contain it.
    public mutating func count(in total: ScanSize) {
        guard hasMore else { return }
        remaining = ScanSize(
            objects: max(total.objects - size.objects - leftOut.objects, 1),
            bytes: max(total.bytes - size.bytes - leftOut.bytes, 1))
        token.remaining = remaining
    }
}

/// Receives the stored bodies of a page one by one, so that they can be sent while further bodies are read.
public protocol PageSink {
    /// Receives the next body.
    /// - Parameter body: the JSON of an object, which is valid only during the call.
    mutating func append(_ body: UnsafeRawBufferPointer, _ kind: ScanRow.Kind)
}
