import HesperModel
import HesperStore
import NIOCore

/// Writes the body of a feed page, which contains one list for each kind of object.
///
/// The store returns objects of all kinds mixed, in the order of their changes. The objects of the first list are sent as they
/// arrive. The objects of the other lists are buffered until the first list is complete.
struct FeedBody: PageSink {
    /// The minimum size of every chunk except the last, in bytes. It is so large that the overhead per chunk is negligible.
    private static let chunk = 128 << 10

    private let shape: FeedResponse.Shape
    private let send: (ByteBuffer) -> Void
    /// The output that has not been sent yet. Until ``end(_:)`` is called, this output ends inside the first list.
    private var buffer = ByteBuffer()
    private var firstIsEmpty = true
    /// The contents of all lists after the first one, by the index of the section. The last element is for the list of
    /// DeletedObjects.
    private var later: [ByteBuffer] = Array(repeating: ByteBuffer(), count: Section.allCases.count + 1)

    init(_ shape: FeedResponse.Shape, results: [UInt8]?, send: @escaping (ByteBuffer) -> Void) {
        self.shape = shape
        self.send = send
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

    /// The lists of the response in their order. Nil stands for the list of DeletedObjects.
    private var lists: [Section?] {
        switch shape {
        case .changes: Section.allCases + [nil]
        case .section(let section?): [section, nil]
        case .section(nil): [nil]
        }
    }

    mutating func append(_ body: UnsafeRawBufferPointer, _ kind: ScanRow.Kind) {
        let index: Int
        let isFirst: Bool
        switch (kind, shape) {
        case (.object(let section), .changes): (index, isFirst) = (section.rawValue, section == .notes)
        case (.object(let section), .section(let own)): (index, isFirst) = (section.rawValue, section == own)
        case (.deletedObject, .section(nil)): (index, isFirst) = (later.count - 1, true)
        case (.deletedObject, _): (index, isFirst) = (later.count - 1, false)
        }
        guard isFirst else {
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

    /// Ends the first list, writes the other lists, calls `writeTail` to add the members after them, and sends
    /// everything.
    mutating func end(_ writeTail: (inout ByteBuffer) -> Void) {
        buffer.writeStaticString("]")
        for list in lists.dropFirst() {
            buffer.writeStaticString(",")
            FeedBody.open(list, in: &buffer)
            buffer.writeImmutableBuffer(later[list?.rawValue ?? later.count - 1])
            buffer.writeStaticString("]")
        }
        if case .changes = shape { buffer.writeStaticString("}") }
        writeTail(&buffer)
        send(buffer)
    }

    private static func open(_ list: Section?, in buffer: inout ByteBuffer) {
        buffer.writeStaticString("\"")
        buffer.writeString(list?.name ?? "deletedObjects")
        buffer.writeStaticString("\":[")
    }
}
