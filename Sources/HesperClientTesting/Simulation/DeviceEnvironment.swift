internal import HesperClient
internal import HesperModel

/// The wall clock and the source of IDs of a simulated device.
final class DeviceEnvironment: Sendable {
    private struct State {
        var time: Int64
        /// The error of the wall clock, in milliseconds.
        var error: Int64 = 0
        var generator: SeededGenerator
    }

    private let state: Locked<State>

    init(time: Int64, generator: SeededGenerator) { state = Locked(State(time: time, generator: generator)) }

    var now: Timestamp { state.withLock { Timestamp(clamping: $0.time + $0.error) } }

    func set(time: Int64) { state.withLock { $0.time = time } }

    func set(error: Int64) { state.withLock { $0.error = error } }

    func newID() -> UniqueID {
        state.withLock { state in
            UniqueID(
                high: state.generator.next() & 0xffff_ffff_ffff_0fff | 0x4000,
                low: state.generator.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000)
        }
    }
}

/// The storage outside of a database file. Its contents show whether the database file is a copy.
final class SimulatedMemory: DeviceMemory {
    private let words: Locked<[String: [String]]>

    init(_ words: [String: [String]] = [:]) { self.words = Locked(words) }

    /// A copy of the storage, for a device that is a copy of another device's whole disk.
    var copy: SimulatedMemory { SimulatedMemory(words.withLock { $0 }) }

    func words(of store: String) -> [String] { words.withLock { $0[store] ?? [] } }

    func setWords(_ words: [String], of store: String) {
        self.words.withLock { $0[store] = words }
    }
}

extension MemoryAttachmentFiles {
    /// Copies all attachment files.
    func copied() throws -> MemoryAttachmentFiles {
        let copy = MemoryAttachmentFiles()
        for (id, file) in list().sorted(by: { $0.key < $1.key }) {
            try copy.append(read(id, at: 0, count: Int(file.byteCount)), to: id, at: 0)
            if file.isFinished { try copy.finish(id) }
        }
        return copy
    }
}
