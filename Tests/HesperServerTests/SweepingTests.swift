import Foundation
import HTTPTypes
import HesperModel
import HesperStore
import Testing

@testable import HesperServer

/// What time removes, as far as the server has to do with it.
@Suite struct SweepingTests {
    private static let note = "5f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90"

    private func session(_ client: TestClient) throws -> Session {
        let hash = try #require(client.token.flatMap { BearerToken(authorization: "Bearer \($0)") }).hash
        return try #require(try client.test.store.session(of: hash))
    }

    /// Waits until the store has heard of a reading of the notes after a date.
    private func readDate(_ client: TestClient, after date: Timestamp?) async throws -> Timestamp? {
        for _ in 0..<200 {
            let found = try session(client).device.readDate
            if let found, date.map({ found > $0 }) ?? true { return found }
            try await Task.sleep(for: .milliseconds(10))
        }
        return nil
    }

    @Test("How far a device has read of the notes is heard of, whatever else it was used for just before")
    func readings() async throws {
        try await TestServer.test { client in
            let client = try await client.signedUp()
            #expect(try session(client).device.readDate == nil)
            // No notes come with these, so they say nothing of what texts a device has.
            for path in ["/v1/account", "/v1/tags", "/v1/deleted-objects", "/v1/notes/\(SweepingTests.note)"] {
                try await client.send(.get, path)
            }
            let answer = try await client.send(.post, "/v1/sync", "{}")
            #expect(answer.status == 200)
            #expect(try await readDate(client, after: nil) != nil)
            let device = try session(client).device
            let scope = try session(client).scope
            func readSequence() async throws -> Int64? {
                try await client.test.store.read { snapshot in
                    try snapshot.devices(of: scope, usedSince: Timestamp(clamping: 0)).first?.readSequence
                }
            }
            #expect(try await readSequence() == 0)
            // A minute later, with something to read, and with a token from before it.
            let token = try answer.json.member("syncToken").string
            try await client.send(.put, "/v1/notes/\(SweepingTests.note)", #"{"text":"Milk"}"#)
            let minuteAgo = device.lastUseDate.adding(-60_000)
            try await client.test.store.write {
                try $0.recordUse(
                    of: device.node, at: minuteAgo, appVersion: nil, userAgent: nil, address: nil, readSequence: 0)
            }
            let page = try await client.send(.get, "/v1/notes")
            #expect(try await readDate(client, after: minuteAgo) != nil)
            #expect(try await readSequence() == 1, "a first reading has all that there is")
            #expect(page.text.contains("Milk"))
            try await client.test.store.write {
                try $0.recordUse(
                    of: device.node, at: minuteAgo, appVersion: nil, userAgent: nil, address: nil, readSequence: 1)
            }
            try await client.send(.post, "/v1/sync", #"{"syncToken":"\#(token)"}"#)
            #expect(try await readDate(client, after: minuteAgo) != nil)
            #expect(try await readSequence() == 0)
            // A token that is refused tells nothing.
            try await client.test.store.write {
                try $0.recordUse(
                    of: device.node, at: minuteAgo, appVersion: nil, userAgent: nil, address: nil, readSequence: 1)
            }
            let other = try #require(SyncToken(token))
            let wrong = SyncToken(epoch: other.epoch &+ 1, scope: other.scope, selection: .all, position: .after(0))
            let refused = try await client.send(.post, "/v1/sync", #"{"syncToken":"\#(wrong.text)"}"#)
            #expect(refused.status == 410)
            #expect(try session(client).device.readDate == minuteAgo)
        }
    }

    @Test("Recently deleted, and a deleted note's history, end with the grace period after the server learned of it")
    func grace() async throws {
        let grace = 2 * Timestamp.day
        let change: TestServer.Change = { $0.sweep.grace = grace }
        try await TestServer.test(.router, change) { client in
            let client = try await client.signedUp()
            let path = "/v1/notes/\(SweepingTests.note)"
            try await client.send(.put, path, #"{"text":"Milk"}"#)
            // Deleted years ago, as the device says.
            let push =
                #"{"changes":{"deletedObjects":[{"uniqueID":"\#(SweepingTests.note)","objectType":"note","#
                + #""deletionDate":"2020-01-01T00:00:00.000Z"}]}}"#
            let before = Timestamp.now
            #expect(try await client.send(.post, "/v1/sync", push).status == 200)
            let list = try await client.send(.get, "/v1/recently-deleted").json.member("notes").array
            #expect(list.count == 1)
            #expect(try list[0].member("deletionDate").string == "2020-01-01T00:00:00.000Z")
            let purge = try #require(Timestamp(try list[0].member("purgeDate").string))
            #expect(purge >= before.adding(grace) && purge <= Timestamp.now.adding(grace))
            #expect(try await client.send(.get, "\(path)/edits").status == 200)
        }
        // Over at once: the shortest that an operator can set is an hour, which no test waits for.
        let none: TestServer.Change = { $0.sweep.grace = -1 }
        try await TestServer.test(.router, none) { client in
            let client = try await client.signedUp()
            let path = "/v1/notes/\(SweepingTests.note)"
            try await client.send(.put, path, #"{"text":"Milk"}"#)
            #expect(try await client.send(.delete, path).status == 200)
            #expect(try await client.send(.get, "/v1/recently-deleted").json.member("notes").array.isEmpty)
            let history = try await client.send(.get, "\(path)/edits")
            #expect(history.status == 410)
            #expect(try history.slug == "deleted")
        }
    }

    @Test("A history shows what was thinned away without its value; the sweeper runs beside the server")
    func history() async throws {
        try await TestServer.test(.live) { client in
            let client = try await client.signedUp()
            let path = "/v1/notes/\(SweepingTests.note)"
            for text in ["Milk", "Milk and bread"] {
                #expect(try await client.send(.put, path, #"{"text":"\#(text)"}"#).status < 300)
            }
            let scope = try session(client).scope
            let id = try #require(UniqueID(SweepingTests.note))
            // As if that were long ago.
            try await client.test.store.write { transaction in
                let later = Timestamp.now.adding(Timestamp.day)
                let due = try transaction.claimSweeps(dueBy: later, limit: 9, until: later.adding(1))
                #expect(due.map(\.object) == [id])
                let edits = try transaction.edits(of: id, in: scope, after: 0, limit: 9, bytes: 1 << 20).edits
                try transaction.drop(
                    SweptEdit(
                        position: edits[0].position, versions: edits[0].versions.filter { $0.attribute == .text }),
                    of: due[0])
            }
            let edits = try await client.send(.get, "\(path)/edits").json.member("edits").array
            let texts = try edits.filter { try $0.member("attribute").string == "text" }
            #expect(texts.count == 2)
            #expect(try texts[0].member("value").string == "Milk and bread")
            guard case .object(let thinned) = texts[1] else {
                Issue.record("it is no object")
                return
            }
            #expect(thinned["value"] == nil)
            #expect(thinned["standing"] == .bool(false))
            // Strays are looked for as soon as the server runs, which takes the lease.
            var isHeld = false
            for _ in 0..<6_000 where !isHeld {
                try await Task.sleep(for: .milliseconds(10))
                // Of no length: while the sweeper has not begun it is in nobody's way.
                isHeld = try await client.test.store.write {
                    try !$0.takeLease("sweeper", for: 1, at: .now, until: .now)
                }
            }
            #expect(isHeld)
        }
    }
}
