import CPostgres

/// The arguments of one statement as libpq wants them: one piece of memory, used again for the next.
struct Parameters {
    private var bytes: [UInt8] = []
    private var starts: [Int?] = []
    private var lengths: [Int32] = []
    private var types: [Oid] = []
    private var formats: [Int32] = []

    /// PostgreSQL ends the session over a message of 1 GiB.
    private static let limit = 1_000_000_000

    /// - Throws: ``PostgresError/misuse(_:)``, if they are more than a message holds.
    mutating func set(_ arguments: [PostgresValue]) throws(PostgresError) {
        let size = arguments.reduce(0) { $0 + $1.byteCount }
        guard size <= Parameters.limit else { throw PostgresError.misuse("arguments of \(size) bytes") }
        bytes.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        types.removeAll(keepingCapacity: true)
        for argument in arguments {
            let start = bytes.count
            try argument.append(to: &bytes)
            starts.append(argument == .null ? nil : start)
            lengths.append(Int32(bytes.count - start))
            types.append(argument.type ?? 0)
        }
        // An empty value has an address too: without one it would be null.
        bytes.append(0)
        while formats.count < arguments.count { formats.append(1) }
    }

    /// The types as they were given, 0 for null.
    var given: [Oid] { types }
    /// How many bytes they take on their way.
    var byteCount: Int { bytes.count }

    /// What libpq is to be called with; good during the call.
    struct Pointers {
        let count: Int32
        let values: UnsafePointer<UnsafePointer<CChar>?>?
        let lengths: UnsafePointer<Int32>?
        let formats: UnsafePointer<Int32>?
    }

    func withPointers<T>(_ body: (Pointers) throws -> T) rethrows -> T {
        try bytes.withUnsafeBufferPointer { bytes in
            let base = UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
            return try starts.map { start in start.flatMap { base?.advanced(by: $0) } }
                .withUnsafeBufferPointer { values in
                    try lengths.withUnsafeBufferPointer { lengths in
                        try formats.withUnsafeBufferPointer { formats in
                            try body(
                                Pointers(
                                    count: Int32(values.count), values: values.baseAddress,
                                    lengths: lengths.baseAddress, formats: formats.baseAddress))
                        }
                    }
                }
        }
    }
}
