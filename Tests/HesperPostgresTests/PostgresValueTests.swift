import HesperModel
import Testing

@testable import HesperPostgres

@Suite struct PostgresValueTests {
    @Test func datesAreMicrosecondsSince2000() {
        #expect(PostgresDate.microseconds(946_684_800_000) == 0)
        #expect(PostgresDate.milliseconds(1_500) == 946_684_800_001)
        // Down, before 2000 too.
        #expect(PostgresDate.milliseconds(-1) == 946_684_799_999)
        for milliseconds in [Timestamp.range.lowerBound, -1, 0, 1, Timestamp.range.upperBound] {
            #expect(PostgresDate.milliseconds(PostgresDate.microseconds(milliseconds)) == milliseconds)
        }
        #expect(Timestamp(clamping: PostgresDate.milliseconds(.max)).milliseconds == Timestamp.range.upperBound)
        #expect(Timestamp(clamping: PostgresDate.milliseconds(.min)).milliseconds == Timestamp.range.lowerBound)
    }

    @Test func valuesAreCountedAndNullHasNoBytes() {
        var bytes: [UInt8] = []
        PostgresValue.null.appendCounted(to: &bytes)
        PostgresValue.int4(258).appendCounted(to: &bytes)
        PostgresValue.text("").appendCounted(to: &bytes)
        #expect(bytes == [255, 255, 255, 255, 0, 0, 0, 4, 0, 0, 1, 2, 0, 0, 0, 0])
    }
}
