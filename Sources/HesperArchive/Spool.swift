import Foundation
import HesperStore

/// A temporary file of records. The records can be read several times, in the order in which they were written. The file is
/// unlinked as soon as it has been created, so that it does not remain when the process ends.
final class Spool: Sendable {
    fileprivate let descriptor: Int32
    let count: Int

    fileprivate init(_ descriptor: Int32, count: Int) {
        self.descriptor = descriptor
        self.count = count
    }

    deinit { close(descriptor) }

    /// The size, in bytes, of the buffers for writing and reading.
    fileprivate static let chunk = 256 << 10
}

/// Writes a ``Spool``.
///
///     var writer = try SpoolWriter()
///     try writer.append(record)
///     let spool = try writer.finish()
struct SpoolWriter: ~Copyable {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var count = 0
    private var isFinished = false

    /// - Throws: ``StoreError`` if a temporary file cannot be created.
    init() throws {
        let folder = FileManager.default.temporaryDirectory.path
        var template = Array("\(folder)/hesper-export-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw StoreError.spool(errno) }
        unlink(template)
        buffer.reserveCapacity(Spool.chunk)
    }

    deinit { if !isFinished { close(descriptor) } }

    mutating func append(_ record: some Collection<UInt8>) throws {
        withUnsafeBytes(of: UInt32(record.count)) { buffer.append(contentsOf: $0) }
        buffer.append(contentsOf: record)
        count += 1
        if buffer.count >= Spool.chunk { try flush() }
    }

    mutating func finish() throws -> Spool {
        try flush()
        isFinished = true
        return Spool(descriptor, count: count)
    }

    private mutating func flush() throws {
        try buffer.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw StoreError.spool(errno) }
                rest = rest.dropFirst(written)
            }
        }
        buffer.removeAll(keepingCapacity: true)
    }
}

/// Reads the records of a ``Spool`` in the order in which they were written.
struct SpoolReader {
    private let spool: Spool
    private var offset: off_t = 0
    private var buffer: [UInt8] = []
    private var position = 0

    init(_ spool: Spool) { self.spool = spool }

    /// Reads the next record; nil after the last record.
    mutating func next() throws -> ArraySlice<UInt8>? {
        guard try fill(4) else { return nil }
        let count = buffer[position..<position + 4].withUnsafeBytes { Int($0.loadUnaligned(as: UInt32.self)) }
        position += 4
        guard try fill(count) else { throw StoreError.damaged("A temporary file is truncated.") }
        defer { position += count }
        return buffer[position..<position + count]
    }

    /// Reads until the buffer contains at least `count` bytes. Returns false if the file ends earlier.
    private mutating func fill(_ count: Int) throws -> Bool {
        guard buffer.count - position < count else { return true }
        buffer.removeFirst(position)
        position = 0
        while buffer.count < count {
            let length = max(Spool.chunk, count - buffer.count)
            let chunk = try [UInt8](unsafeUninitializedCapacity: length) { bytes, read in
                let result = pread(spool.descriptor, bytes.baseAddress, length, offset)
                guard result >= 0 else { throw StoreError.spool(errno) }
                read = result
            }
            guard !chunk.isEmpty else { return false }
            offset += off_t(chunk.count)
            buffer += chunk
        }
        return true
    }
}

extension StoreError {
    fileprivate static func spool(_ code: Int32) -> StoreError {
        let text = "cannot use a temporary file for an export: \(String(cString: strerror(code)))"
        return code == ENOSPC || code == EDQUOT ? .full(text) : .unavailable(text)
    }
}
