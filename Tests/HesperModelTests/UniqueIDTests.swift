import Testing

@testable import HesperModel

@Suite struct UniqueIDTests {
    @Test("IDs that begin with the time have the version and variant of RFC 9562, and are sorted by time")
    func timeOrdered() throws {
        let dates = [
            "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00.001Z", "2026-11-29T11:30:00.000Z",
            "9999-12-31T23:59:59.999Z",
        ]
        .compactMap { Timestamp($0) }
        #expect(dates.count == 4)
        let ids = dates.map { date in (0..<100).map { _ in UniqueID.timeOrdered(at: date) } }
        for (date, made) in zip(dates, ids) {
            #expect(Set(made).count == made.count)
            for id in made {
                #expect(id.high >> 16 == UInt64(max(0, date.milliseconds)))
                #expect(id.high >> 12 & 0xf == 7 && id.low >> 62 == 0b10)
            }
        }
        for (earlier, later) in zip(ids, ids.dropFirst()) {
            #expect(try #require(earlier.max()) < #require(later.min()))
        }
    }
}
