import HesperModel
import HesperStore
import Testing

@testable import HesperPostgres

@Suite(.enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct ValuesTests {
    /// Sends values as a type and reads them back.
    private func back<T: Sendable>(
        _ values: [PostgresValue], as type: String, _ read: @escaping @Sendable (Row) throws -> T
    ) async throws -> [T] {
        try await onConnection { connection in
            try values.flatMap { try connection.all("SELECT $1::\(type)", [$0], read) }
        }
    }

    @Test func integersRoundTripAtTheirLimits() async throws {
        let large: [Int64] = [.min, -1, 0, 1, .max]
        #expect(try await back(large.map { .int8($0) }, as: "bigint") { $0.integer(0) } == large)
        let small: [Int32] = [.min, -1, 0, 1, .max]
        #expect(try await back(small.map { .int4($0) }, as: "integer") { $0.integer(0) } == small.map(Int64.init))
        #expect(try await back([.bool(true), .bool(false)], as: "boolean") { $0.bool(0) } == [true, false])
    }

    @Test func datesRoundTripAtTheirLimits() async throws {
        let dates = [
            "0001-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z", "1999-12-31T23:59:59.999Z",
            "2000-01-01T00:00:00.000Z", "2026-11-21T08:47:12.345Z", "9999-12-31T23:59:59.999Z",
        ].compactMap(Timestamp.init)
        #expect(dates.count == 6)
        #expect(try await back(dates.map { .date($0) }, as: "timestamptz") { $0.timestamp(0) } == dates)
        // As PostgreSQL writes them.
        let text = try await onConnection { connection in
            connection.enqueue("SET TIME ZONE 'UTC'")
            return try dates.compactMap {
                try connection.first("SELECT $1::timestamptz::text", [.date($0)]) { $0.string(0) }
            }
        }
        #expect(text.first == "0001-01-01 00:00:00+00" && text.last == "9999-12-31 23:59:59.999+00")
        // Year 0000 is 1 BC, which is before the earliest Timestamp and is clamped.
        let early = try await onConnection { connection in
            try connection.all("SELECT unnest(ARRAY['0001-12-31 BC', '-infinity', 'infinity']::timestamptz[])") {
                $0.timestamp(0).milliseconds
            }
        }
        #expect(early == [Timestamp.range.lowerBound, Timestamp.range.lowerBound, Timestamp.range.upperBound])
    }

    @Test func emptyAndLargeTextAndBytesRoundTrip() async throws {
        let texts = ["", "a", "é👩‍👩‍👧‍👦\u{10ffff}", String(repeating: "ö", count: 1 << 20)]
        #expect(try await back(texts.map { .text($0) }, as: "text") { $0.string(0) } == texts)
        #expect(try await back(texts.map { .utf8(Array($0.utf8)) }, as: "text") { $0.string(0) } == texts)
        let bytes: [[UInt8]] = [[], [0], Array(0...255), [UInt8](repeating: 0, count: 1 << 20)]
        #expect(try await back(bytes.map { .bytes($0) }, as: "bytea") { Array($0.bytes(0)) } == bytes)
        #expect(try await back([.bytes([])], as: "bytea IS NULL") { $0.bool(0) } == [false])
        #expect(try await back([.text("")], as: "text IS NULL") { $0.bool(0) } == [false])
    }

    @Test func jsonTextIsStoredUnchanged() async throws {
        let document = #"{ "b":1.00, "a" : "\u0000é",  "b":2 }"#
        #expect(try await back([.json(Array(document.utf8))], as: "json") { $0.string(0) } == [document])
    }

    @Test func valuesOfTheModelRoundTrip() async throws {
        let (id, clock) = (
            UniqueID.random(),
            try #require(Clock(milliseconds: Clock.greatestMilliseconds, counter: .max, node: NodeID(.max)))
        )
        let (digest, token) = (Digest(high: .max, low: 1), TokenHash(bytes: [UInt8](repeating: 7, count: 32)))
        let found = try await onConnection { connection in
            try connection.first(
                "SELECT $1::uuid, $2::bytea, $3::bytea, $4::bytea, $5::bytea, $6::bigint, $1::text",
                [.id(id), .clock(clock), .node(clock.node), .digest(digest), .token(token), .scope(ScopeID(8))]
            ) { row throws -> String? in
                #expect(try row.id(0) == id)
                #expect(try row.clock(1) == clock)
                #expect(try row.node(2) == clock.node)
                #expect(try row.digest(3) == digest)
                #expect(Array(row.bytes(4)) == token.bytes)
                #expect(row.scope(5) == ScopeID(8))
                return row.string(6)
            }
        }
        // The server reads the same UUID.
        #expect(found == id.description)
    }

    @Test func nullsAreNull() async throws {
        let types = ["bigint", "integer", "boolean", "text", "json", "bytea", "uuid", "timestamptz"]
        for type in types {
            let row = try await back([.null], as: type) { row in
                row.isNull(0) && row.integerIfAny(0) == nil && row.stringIfAny(0) == nil && row.idIfAny(0) == nil
                    && row.timestampIfAny(0) == nil && row.clockIfAny(0) == nil && row.nodeIfAny(0) == nil
                    && row.digestIfAny(0) == nil
            }
            #expect(row == [true], "\(type)")
        }
        let none: [PostgresValue] = [.id(nil), .text(nil), .int8(nil), .date(nil), .clock(nil), .node(nil)]
        #expect(none.allSatisfy { $0 == .null })
    }

    @Test func arraysCanBeUnnested() async throws {
        let ids = [UniqueID.random(), UniqueID.random()]
        let found = try await onConnection { connection in
            try connection.all(
                "SELECT * FROM unnest($1, $2, $3, $4, $5) AS t (a, b, c, d, e)",
                [
                    .int8Array([1, .max]), .uuidArray(ids), .textArray(["", "ö"]), .bytesArray([[], [0]]),
                    .array(.date, [.null, .date(Timestamp(clamping: 0))]),
                ]
            ) { row in
                "\(row.integer(0)) \(try row.id(1)) \(row.string(2)) \(row.bytes(3).count) \(row.timestampIfAny(4)?.milliseconds ?? -1)"
            }
        }
        #expect(found == ["1 \(ids[0])  0 -1", "\(Int64.max) \(ids[1]) ö 1 0"])
        let empty = try await onConnection { connection in
            try connection.all("SELECT unnest($1)", [.int8Array([])]) { $0.integer(0) }
        }
        #expect(empty.isEmpty)
    }

    @Test func textWithNULIsRejectedByPostgreSQL() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await back([.text("a\0b")], as: "text") { $0.string(0) }
        }
        #expect(error?.sqlState == "22021")
    }

    @Test func readingAColumnAsAWrongTypeIsAnError() async throws {
        await #expect(throws: StoreError.damaged("column sum has the type with OID 1700 and cannot be read as integer"))
        {
            try await onConnection { try $0.first("SELECT sum(1::bigint)") { $0.integer(0) } }
        }
        await #expect(throws: StoreError.damaged("the column id has an invalid value")) {
            try await onConnection { try $0.first("SELECT 'abc'::bytea AS id") { try $0.id(0) } }
        }
    }
}
