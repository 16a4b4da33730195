import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperPostgres

@Suite(.enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct CopyTests {
    private static let table = """
        CREATE TABLE copies (id uuid PRIMARY KEY, number bigint, small integer, flag boolean, word text, body json,
            hash bytea, date timestamptz)
        """
    private static let copyIn = "COPY copies FROM STDIN (FORMAT binary)"
    private static let copyOut = "COPY (SELECT id, word FROM copies ORDER BY number) TO STDOUT (FORMAT binary)"

    private func onTable<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await onConnection { connection in
            try connection.execute(script: CopyTests.table)
            return try body(connection)
        }
    }

    private static func row(_ number: Int, word: String = "word") -> [PostgresValue] {
        [
            .id(UniqueID(high: 1, low: UInt64(number))), .int(number), .int4(Int32(number)), .bool(true), .text(word),
            .json(Array("{}".utf8)), .bytes([0, 1]), .date(Timestamp(clamping: Int64(number))),
        ]
    }

    private static func count(_ connection: Connection) throws -> Int? {
        try connection.first("SELECT count(*) FROM copies") { $0.int(0) }
    }

    @Test func valuesOfEveryTypeAreCopiedInAndOut() async throws {
        try await onTable { connection throws in
            let nulls = [CopyTests.row(0)[0]] + [PostgresValue](repeating: .null, count: 7)
            #expect(
                try connection.copyIn(CopyTests.copyIn) { rows in
                    try rows.append(CopyTests.row(1))
                    try rows.append(nulls)
                } == 2)
            let (number, date) =
                try connection.first(
                    "SELECT number, small, flag, word, body, hash, date FROM copies WHERE number IS NOT NULL"
                ) { row throws in
                    #expect(row.int(1) == 1 && row.bool(2) && row.string(3) == "word" && row.string(4) == "{}")
                    #expect(Array(row.bytes(5)) == [0, 1])
                    return (row.int(0), row.timestamp(6))
                } ?? (0, Timestamp(clamping: 0))
            #expect(number == 1 && date.milliseconds == 1)
            var out: [[[UInt8]?]] = []
            try connection.copyOut(CopyTests.copyOut) { columns in
                out.append(columns.map { $0.map(Array.init) })
                return true
            }
            #expect(
                out == [
                    [UniqueID(high: 1, low: 1).bytes, Array("word".utf8)], [UniqueID(high: 1, low: 0).bytes, nil],
                ])
            var none = 0
            try connection.copyOut("COPY (SELECT 1 WHERE false) TO STDOUT (FORMAT binary)") { _ in
                none += 1
                return true
            }
            #expect(none == 0)
        }
    }

    /// Copies 100 MB each way in a separate process whose memory is measured.
    @Test(.timeLimit(.minutes(5))) func copiesUseLittleMemory() async throws {
        await #expect(processExitsWith: .success) {
            let settings = PostgresSettings(try await PostgresServer.running.string())
            try await onThread {
                let connection = try Connection(settings)
                try connection.execute(script: CopyTests.table)
                let (before, text) = (try residentBytes(), String(repeating: "a", count: 1_000))
                var greatest = 0
                func measure(_ number: Int) throws {
                    if number.isMultiple(of: 1_000) { greatest = max(greatest, try residentBytes() - before) }
                }
                let copied = try connection.copyIn(CopyTests.copyIn) { rows in
                    for number in 1...100_000 {
                        try rows.append(CopyTests.row(number, word: text))
                        try measure(number)
                    }
                }
                var (count, bytes) = (0, 0)
                try connection.copyOut(CopyTests.copyOut) { columns in
                    count += 1
                    bytes += columns[1]?.count ?? 0
                    try measure(count)
                    return true
                }
                #expect(copied == 100_000 && count == 100_000 && bytes == 100_000_000)
                #expect(greatest < MemoryAllowance.factor * 20 << 20, "\(greatest) bytes")
            }
        }
    }

    @Test func errorsOfTheServerAreThrown() async throws {
        try await onTable { connection throws in
            try connection.copyIn(CopyTests.copyIn) { try $0.append(CopyTests.row(1)) }
            connection.enqueue("BEGIN")
            connection.enqueue("SAVEPOINT s")
            let clash = #expect(throws: PostgresError.self) {
                try connection.copyIn(CopyTests.copyIn) { rows in
                    for number in (1...50_000).reversed() { try rows.append(CopyTests.row(number)) }
                }
            }
            #expect(clash?.sqlState == "23505")
            connection.enqueue("ROLLBACK TO SAVEPOINT s")
            let columns = #expect(throws: PostgresError.self) {
                try connection.copyIn(CopyTests.copyIn) { try $0.append([.int8(1)]) }
            }
            #expect(columns?.sqlState == "22P04")
            try connection.run("ROLLBACK")
            let table = #expect(throws: PostgresError.self) {
                try connection.copyIn("COPY nothing FROM STDIN (FORMAT binary)") { _ in }
            }
            #expect(table?.sqlState == "42P01")
            #expect(try CopyTests.count(connection) == 1)
        }
    }

    @Test func anErrorOfTheBodyRollsTheCopyBack() async throws {
        struct Deliberate: Error {}
        try await onTable { connection throws in
            #expect(throws: Deliberate.self) {
                try connection.copyIn(CopyTests.copyIn) { rows in
                    for number in 1...10_000 { try rows.append(CopyTests.row(number)) }
                    throw Deliberate()
                }
            }
            #expect(try CopyTests.count(connection) == 0)
            #expect(throws: Deliberate.self) {
                try connection.copyOut("COPY (SELECT 1) TO STDOUT (FORMAT binary)") { _ in throw Deliberate() }
            }
            var seen = 0
            try connection.copyOut("COPY (SELECT generate_series(1, 10000000)) TO STDOUT (FORMAT binary)") { _ in
                seen += 1
                return seen < 10
            }
            #expect(try seen == 10 && CopyTests.count(connection) == 0)
        }
    }
}
