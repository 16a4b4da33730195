import CPostgres

/// The arguments of one statement in libpq's form. The memory is reused for the next statement.
struct Parameters {
    private var bytes: [UInt8] = []
    private var starts: [Int?] = []
    private var lengths: [Int32] = []
    private var types: [Oid] = []
    private var formats: [Int32] = []

    /// The maximum size of the arguments of one statement in bytes. PostgreSQL ends a session that sends a message of 1 GiB.
    private static let limit = 1_000_000_000

    /// Sets the arguments of a statement.
    /// - Throws: ``PostgresError/misuse(_:)`` if the arguments exceed the maximum message size.
    mutating func set(_ arguments: [PostgresValue]) throws(PostgresError) {
        let size = arguments.reduce(0) { $0 + $1.byteCount }
        guard size <= Parameters.limit else { throw PostgresError.misuse("arguments too large: \(size) bytes") }
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
        // Ensures that an empty value has an address, because libpq interprets a null pointer as NULL.
        bytes.append(0)
        while formats.count < arguments.count { formats.append(1) }
    }

    /// The OIDs of the arguments' types; 0 for a null argument.
    var oids: [Oid] { types }
    /// The approximate number of bytes of the arguments in a message.
    var byteCount: Int { bytes.count }

    /// The pointers that are passed to libpq. They are valid only during the call of ``withPointers(_:)``.
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
