import HesperModel
import HesperStore
import NIOCore

/// Writes the body of a feed page, which contains one list for each kind of object.
///
/// The store returns objects of all kinds mixed, in the order of their changes. The objects of the first list are sent as they
/// arrive. The objects of the other lists are buffered until the first list is complete.
struct FeedBody: PageSink {
    /// The minimum size of every chunk except the last, in bytes. With chunks of 128 KiB, a first sync would take a tenth longer.
    private static let chunk = 512 << 10

    private let shape: FeedResponse.Shape
    private let send: (ByteBuffer) -> Void
    /// The output that has not been sent yet. Until ``end()`` is called, this output ends inside the first list.
    private var buffer = ByteBuffer()
    private var firstIsEmpty = true
    /// The contents of the lists after the first one, by their index in ``lists``. The array is empty until an object of one of
    /// these lists arrives.
    private var later: [ByteBuffer] = []
    /// The lists of the response in their order. Nil stands for the list of DeletedObjects.
    private let lists: [Section?]

    private static let allLists: [Section?] = Section.allCases + [nil]

    init(_ shape: FeedResponse.Shape, results: [UInt8]?, send: @escaping (ByteBuffer) -> Void) {
        self.shape = shape
        self.send = send
        lists =
            switch shape {
            case .changes: FeedBody.allLists
            case .section(let section?): [section, nil]
            case .section(nil): [nil]
            }
        // This capacity is enough for most pages, which have few objects.
        buffer.reserveCapacity(512 + (results?.count ?? 0))
        buffer.writeStaticString("{")
        if let results {
            buffer.writeStaticString("\"results\":")
            buffer.writeBytes(results)
            buffer.writeStaticString(",")
        }
        if case .changes = shape { buffer.writeStaticString("\"changes\":{") }
        FeedBody.open(lists[0], in: &buffer)
    }

    mutating func append(_ body: UnsafeRawBufferPointer, _ kind: ScanRow.Kind) {
        let index =
            switch (kind, shape) {
            case (.object(let section), .changes): section.rawValue
            case (.object, .section): 0
            case (.deletedObject, _): lists.count - 1
            }
        guard index == 0 else {
            if later.isEmpty { later = Array(repeating: ByteBuffer(), count: lists.count) }
            if later[index].readableBytes > 0 { later[index].writeStaticString(",") }
            later[index].writeBytes(body)
            return
        }
        if !firstIsEmpty { buffer.writeStaticString(",") }
        firstIsEmpty = false
        buffer.writeBytes(body)
        guard buffer.readableBytes >= FeedBody.chunk else { return }
        send(buffer)
        buffer = ByteBuffer()
        buffer.reserveCapacity(FeedBody.chunk + FeedBody.chunk / 8)
    }

    /// Ends the first list and writes the other lists.
    /// - Returns: the output that has not been sent. The members of the response that follow the lists must be added to it.
    mutating func end() -> ByteBuffer {
        buffer.writeStaticString("]")
        for index in lists.indices.dropFirst() {
            buffer.writeStaticString(",")
            FeedBody.open(lists[index], in: &buffer)
            if !later.isEmpty { buffer.writeImmutableBuffer(later[index]) }
            buffer.writeStaticString("]")
        }
        if case .changes = shape { buffer.writeStaticString("}") }
        // Without the assignment, the next write to the returned buffer would copy it.
        defer { buffer = ByteBuffer() }
        return buffer
    }

    private static func open(_ list: Section?, in buffer: inout ByteBuffer) {
        buffer.writeStaticString("\"")
        buffer.writeString(list?.name ?? "deletedObjects")
        buffer.writeStaticString("\":[")
    }
}
