import Foundation
import GRDB
import HesperStore

/// Reads the rows of a SQLite file page by page (SQLite, Database File Format). It does not use SQLite, which stops reading a
/// table at its first damaged page.
///
/// The file must have been written by `VACUUM INTO`. Such a file has no free pages, so it contains no deleted rows.
final class SQLitePages {
    /// SQLite's default page size, which Hesper does not change. It is used if the file's header cannot be read.
    private static let defaultPageSize = 4_096
    private static let headerSize = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    private let path: String
    private let descriptor: Int32
    private let pageSize: Int
    private let pageCount: Int
    /// The version of the tables, which is read from the file's header; nil if the header cannot be read.
    let userVersion: Int?

    /// The kinds of B-tree pages. The raw value is the first byte of the page. Pages with any other first byte contain the
    /// remaining bytes of rows that do not fit on one page.
    private enum Kind: UInt8 {
        case indexInterior = 2
        case tableInterior = 5
        case indexLeaf = 10
        case tableLeaf = 13

        var isIndex: Bool { self == .indexInterior || self == .indexLeaf }
        var isInterior: Bool { self == .indexInterior || self == .tableInterior }
    }

    /// - Throws: ``StoreError`` if the file does not exist or cannot be opened.
    init(path: String) throws {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw StoreError.unavailable("cannot open \(path): \(String(cString: strerror(errno)))")
        }
        let header = SQLitePages.read(descriptor, SQLitePages.headerSize, at: 0) ?? []
        let isHeader = header.starts(with: SQLitePages.magic)
        let size = isHeader ? SQLitePages.number(header[16..<18]) : 0
        // The page size 65,536 does not fit in two bytes and is stored as 1.
        let pageSize = size == 1 ? 65_536 : size
        let isSize = (512...65_536).contains(pageSize) && pageSize & (pageSize - 1) == 0
        self.pageSize = isSize ? pageSize : SQLitePages.defaultPageSize
        userVersion = isSize ? SQLitePages.number(header[60..<64]) : nil
        var status = stat()
        pageCount = fstat(descriptor, &status) == 0 ? Int(status.st_size) / self.pageSize : 0
    }

    deinit { close(descriptor) }

    // MARK: Rows

    /// Passes every readable row of all tables that have row IDs to `body`. The file does not record to which table a row belongs.
    func eachTableRow(_ body: (_ rowID: Int64, _ values: [DatabaseValue]) throws -> Void) throws {
        for number in stride(from: 1, through: pageCount, by: 1) {
            guard let page = page(number), kind(of: page, number) == .tableLeaf else { continue }
            for start in cells(of: page, number, .tableLeaf) {
                guard let (size, afterSize) = SQLitePages.varint(page, start),
                    let (rowID, afterID) = SQLitePages.varint(page, afterSize),
                    let payload = payload(of: page, from: afterID, size: size, .tableLeaf),
                    let values = SQLitePages.values(payload)
                else { continue }
                try body(rowID, values)
            }
        }
    }

    /// Passes every readable row of an index, or of a table without row IDs, to `body`.
    /// - Parameter root: the number of the root page. If nil, the rows of all indexes and of all tables without row IDs are read.
    func eachIndexRow(root: Int?, _ body: (_ values: [DatabaseValue]) throws -> Void) throws {
        var (next, seen): ([Int], Set<Int>) = (root.map { [$0] } ?? Array(1...max(pageCount, 1)), [])
        while let number = next.popLast() {
            // In a damaged file, pages may refer to each other in a cycle.
            guard seen.insert(number).inserted, let page = page(number), let kind = kind(of: page, number),
                kind.isIndex
            else { continue }
            for start in cells(of: page, number, kind) {
                var start = start
                if kind.isInterior, let child = SQLitePages.number(page, at: start) {
                    next.append(child)
                    start += 4
                }
                guard let (size, afterSize) = SQLitePages.varint(page, start),
                    let payload = payload(of: page, from: afterSize, size: size, kind),
                    let values = SQLitePages.values(payload)
                else { continue }
                try body(values)
            }
            if kind.isInterior, let last = SQLitePages.number(page, at: headerStart(of: number) + 8) {
                next.append(last)
            }
        }
    }

    // MARK: Pages

    /// The bytes of a page; nil if the page does not exist or cannot be read.
    private func page(_ number: Int) -> [UInt8]? {
        guard (1...max(pageCount, 1)).contains(number) else { return nil }
        return SQLitePages.read(descriptor, pageSize, at: (number - 1) * pageSize)
    }

    private static func read(_ descriptor: Int32, _ count: Int, at offset: Int) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = max(pread(descriptor, buffer.baseAddress, count, off_t(offset)), 0)
        }
        return bytes.count == count ? bytes : nil
    }

    /// The offset of the header of a page. On the first page, it follows the header of the file.
    private func headerStart(of number: Int) -> Int { number == 1 ? SQLitePages.headerSize : 0 }

    private func kind(of page: [UInt8], _ number: Int) -> Kind? { Kind(rawValue: page[headerStart(of: number)]) }

    /// The offsets of the cells of a B-tree page. Each cell contains a row, a reference to a child page, or both.
    private func cells(of page: [UInt8], _ number: Int, _ kind: Kind) -> [Int] {
        let header = headerStart(of: number)
        let first = header + (kind.isInterior ? 12 : 8)
        let count = min(SQLitePages.number(page[header + 3..<header + 5]), (pageSize - first) / 2)
        return (0..<count).map { SQLitePages.number(page[first + 2 * $0..<first + 2 * $0 + 2]) }
    }

    /// Reads the bytes of a row, which continue on overflow pages if the row is long. Nil if they cannot be read.
    private func payload(of page: [UInt8], from start: Int, size: Int64, _ kind: Kind) -> [UInt8]? {
        guard size >= 0, size <= Int64(pageCount) * Int64(pageSize) else { return nil }
        let size = Int(size)
        let most = kind == .tableLeaf ? pageSize - 35 : (pageSize - 12) * 64 / 255 - 23
        let least = (pageSize - 12) * 32 / 255 - 23
        var local = size
        if size > most {
            let fitting = least + (size - least) % (pageSize - 4)
            local = fitting <= most ? fitting : least
        }
        guard start + local <= pageSize else { return nil }
        var bytes = Array(page[start..<start + local])
        guard local < size else { return bytes }
        bytes.reserveCapacity(size)
        var next = SQLitePages.number(page, at: start + local)
        while bytes.count < size {
            guard let number = next, let more = self.page(number) else { return nil }
            bytes += more[4..<4 + min(pageSize - 4, size - bytes.count)]
            next = SQLitePages.number(more, at: 0)
        }
        return bytes
    }

    // MARK: Values

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    /// Reads a number of four bytes; nil if it would extend beyond the page.
    private static func number(_ page: [UInt8], at start: Int) -> Int? {
        start + 4 <= page.count ? number(page[start..<start + 4]) : nil
    }

    private static func varint(_ bytes: [UInt8], _ start: Int) -> (value: Int64, end: Int)? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard bytes.indices.contains(start + index) else { return nil }
            let byte = bytes[start + index]
            if index == 8 { return (Int64(bitPattern: value << 8 | UInt64(byte)), start + 9) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte & 0x80 == 0 { return (Int64(bitPattern: value), start + index + 1) }
        }
        return nil
    }

    /// Decodes the values of a row in SQLite's record format. Nil if the bytes are not such a record, or if a value has a type
    /// that Hesper does not store.
    private static func values(_ record: [UInt8]) -> [DatabaseValue]? {
        guard let (headerSize, start) = varint(record, 0), (1...Int64(record.count)).contains(headerSize) else {
            return nil
        }
        var (position, content) = (start, Int(headerSize))
        var values: [DatabaseValue] = []
        while position < Int(headerSize) {
            guard let (type, end) = varint(record, position) else { return nil }
            position = end
            guard let size = size(of: type), content + size <= record.count,
                let value = value(type, record[content..<content + size])
            else { return nil }
            content += size
            values.append(value)
        }
        return content == record.count ? values : nil
    }

    private static func size(of type: Int64) -> Int? {
        switch type {
        case 0, 8, 9: 0
        case 1...4: Int(type)
        case 5: 6
        case 6: 8
        case 12...Int64(Int32.max): Int(type - 12) / 2
        default: nil
        }
    }

    private static func value(_ type: Int64, _ bytes: ArraySlice<UInt8>) -> DatabaseValue? {
        switch type {
        case 0: return .null
        case 8, 9: return (type - 8).databaseValue
        case 1...6:
            let sign: Int64 = (bytes.first ?? 0) & 0x80 == 0 ? 0 : -1
            return bytes.reduce(sign) { $0 << 8 | Int64($1) }.databaseValue
        default:
            guard !type.isMultiple(of: 2) else { return Data(bytes).databaseValue }
            return String(validating: bytes, as: UTF8.self)?.databaseValue
        }
    }
}
