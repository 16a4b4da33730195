import HesperModel
import HesperStore
import NIOCore

/// Lays out the lists of a page in the order in which the answer has them.
///
/// Objects come from the store as they changed, notes and all others mixed. The first list is sent on as it grows; what
/// belongs to later ones is kept until it is their turn.
struct FeedBody: PageSink {
    /// Bytes that are sent on at once: enough that what a chunk costs beside its bytes does not count.
    private static let chunk = 128 << 10

    private let shape: FeedAnswer.Shape
    private let send: (ByteBuffer) -> Void
    /// What goes out next, the first list open at its end.
    private var buffer = ByteBuffer()
    private var firstIsEmpty = true
    /// The later lists, by section, and last that of DeletedObjects.
    private var later: [ByteBuffer] = Array(repeating: ByteBuffer(), count: Section.allCases.count + 1)

    init(_ shape: FeedAnswer.Shape, results: [UInt8]?, send: @escaping (ByteBuffer) -> Void) {
        self.shape = shape
        self.send = send
        // Room for a page that holds little, which most do.
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

    /// The lists of the answer, in order; nil for that of DeletedObjects.
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

    /// Sends the later lists and what `writeTail` adds after them.
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
