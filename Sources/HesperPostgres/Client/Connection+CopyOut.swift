import CPostgres

extension Connection {
    /// Thrown to end a copy before its last row. It is always caught in this file.
    private struct Stopped: Error {}

    /// Passes each row of `COPY (…) TO STDOUT (FORMAT binary)` to `body` as the bytes of its columns, nil for null. The bytes
    /// are valid only during the call. One row is in memory at a time. If `body` returns false, the copy is cancelled.
    func copyOut(_ sql: String, _ body: ([UnsafeRawBufferPointer?]) throws -> Bool) throws {
        try outsidePipeline {
            try beginCopy(sql, PGRES_COPY_OUT)
            var isFirst = true
            do {
                while try nextCopyPiece({ piece in
                    let row = try CopyFields.read(piece, hasHeader: isFirst)
                    isFirst = false
                    if let row, try !body(row) { throw Stopped() }
                }) {}
                try finish(sql)
            } catch {
                guard brokenBy == nil else { throw error }
                try stop(sql)
                if !(error is Stopped) { throw error }
            }
        }
    }

    /// Cancels a copy, discards the data that the server has already sent, and ignores the error that results from the cancel.
    private func stop(_ sql: String) throws {
        cancel()
        while try nextCopyPiece({ _ in }) {}
        do { try finish(sql) } catch let error as PostgresError where error.sqlState == "57014" {}
    }
}

/// The header of COPY's binary format, and a function that reads rows in this format (PostgreSQL, COPY, Binary Format).
enum CopyFields {
    /// The signature of 11 bytes, 4 bytes of flags, and the length of the header extension, which is 0.
    static let header: [UInt8] = Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0x00] + [UInt8](repeating: 0, count: 8)

    /// Reads the columns of a row, nil for each null. Returns nil instead of a row at the end of the copy.
    static func read(_ piece: UnsafeRawBufferPointer, hasHeader: Bool) throws -> [UnsafeRawBufferPointer?]? {
        var position = hasHeader ? header.count : 0
        func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
            guard position + MemoryLayout<T>.size <= piece.count else {
                throw PostgresError.lost("truncated COPY data")
            }
            defer { position += MemoryLayout<T>.size }
            return T(bigEndian: piece.loadUnaligned(fromByteOffset: position, as: T.self))
        }
        let count = try integer(Int16.self)
        guard count >= 0 else { return nil }
        return try (0..<count).map { _ in
            let length = Int(try integer(Int32.self))
            guard length >= 0 else { return nil }
            guard position + length <= piece.count else { throw PostgresError.lost("truncated COPY data") }
            defer { position += length }
            return UnsafeRawBufferPointer(rebasing: piece[position..<position + length])
        }
    }
}
