/// A queue of events in the order of their virtual times. Events of the same time are in a random order, which is drawn from a
/// seeded generator.
struct EventQueue<Event> {
    private struct Entry {
        let time: Int64
        let tie: UInt64
        let event: Event

        func isBefore(_ other: Entry) -> Bool { (time, tie) < (other.time, other.tie) }
    }

    private var heap: [Entry] = []
    private var generator: SeededGenerator

    init(generator: SeededGenerator) { self.generator = generator }

    mutating func add(_ event: Event, at time: Int64) {
        heap.append(Entry(time: time, tie: generator.next(), event: event))
        var child = heap.count - 1
        while child > 0, case let parent = (child - 1) / 2, heap[child].isBefore(heap[parent]) {
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func next() -> (time: Int64, event: Event)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return (first.time, first.event) }
        heap[0] = last
        var parent = 0
        while case let left = 2 * parent + 1, left < heap.count {
            let right = left + 1
            let child = right < heap.count && heap[right].isBefore(heap[left]) ? right : left
            guard heap[child].isBefore(heap[parent]) else { break }
            heap.swapAt(child, parent)
            parent = child
        }
        return (first.time, first.event)
    }
}
