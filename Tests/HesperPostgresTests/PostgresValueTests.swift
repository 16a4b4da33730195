import HesperModel
import Testing

@testable import HesperPostgres

@Suite struct PostgresValueTests {
    @Test func datesAreMicrosecondsSince2000() {
        #expect(PostgresDate.microseconds(946_684_800_000) == 0)
        #expect(PostgresDate.milliseconds(1_500) == 946_684_800_001)
        // Rounded down, also before 2000.
        #expect(PostgresDate.milliseconds(-1) == 946_684_799_999)
        for milliseconds in [Timestamp.range.lowerBound, -1, 0, 1, Timestamp.range.upperBound] {
            #expect(PostgresDate.milliseconds(PostgresDate.microseconds(milliseconds)) == milliseconds)
        }
        #expect(Timestamp(clamping: PostgresDate.milliseconds(.max)).milliseconds == Timestamp.range.upperBound)
        #expect(Timestamp(clamping: PostgresDate.milliseconds(.min)).milliseconds == Timestamp.range.lowerBound)
    }

    @Test func valuesHaveALengthPrefixAndNullHasNoBytes() throws {
        var bytes: [UInt8] = []
        try PostgresValue.null.appendCounted(to: &bytes)
        try PostgresValue.int4(258).appendCounted(to: &bytes)
        try PostgresValue.text("").appendCounted(to: &bytes)
        #expect(bytes == [255, 255, 255, 255, 0, 0, 0, 4, 0, 0, 1, 2, 0, 0, 0, 0])
    }

    @Test func byteCountIsTheSizeOfTheBinaryForm() throws {
        let values: [PostgresValue] = [
            .null, .int8(1), .int4(2), .int2(3), .bool(true), .text("Café"), .utf8([1, 2]), .json([3]), .bytes([]),
            .pair(4, 5), .word(6), .uuid(UniqueID(high: 7, low: 8)), .date(Timestamp(clamping: 9)),
            .textArray([]), .textArray(["a", "bc"]), .array(.int8, [.int8(1), .null]),
        ]
        for value in values {
            var bytes: [UInt8] = []
            try value.append(to: &bytes)
            #expect(value.byteCount == bytes.count, "\(value)")
        }
    }

    @Test(arguments: [20, 40])
    func argumentsThatExceedAMessageAreRejected(count: Int) {
        // One body in memory that the array repeats: beyond 1 GiB, and beyond what a length prefix can express.
        let body = PostgresValue.json([UInt8](repeating: 0x20, count: 64 << 20))
        var parameters = Parameters()
        #expect(throws: PostgresError.self) {
            try parameters.set([.array(.json, Array(repeating: body, count: count))])
        }
        #expect(throws: PostgresError.self) { try parameters.set(Array(repeating: body, count: count)) }
        #expect(parameters.byteCount == 0)
    }
}
