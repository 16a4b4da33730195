import Foundation
import HTTPTypes
import HesperModel
import HesperStore
import Testing

@testable import HesperServer

/// Read positions, grace period and thinned history, as far as the server is involved.
@Suite struct SweepingTests {
    private static let note = "5f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90"

    private func session(_ client: TestClient) throws -> Session {
        let hash = try #require(client.token.flatMap { BearerToken(authorization: "Bearer \($0)") }).hash
        return try #require(try client.test.store.session(of: hash))
    }

    /// Waits until a read position after this date is recorded, and returns its date.
    private func readDate(_ client: TestClient, after date: Timestamp?) async throws -> Timestamp? {
        for _ in 0..<200 {
            let found = try session(client).device.readDate
            if let found, date.map({ found > $0 }) ?? true { return found }
            try await Task.sleep(for: .milliseconds(10))
        }
        return nil
    }

    @Test("The read position of a device is recorded, whatever the device was used for just before")
    func readPositions() async throws {
        try await TestServer.test { client in
            let client = try await client.signedUp()
            #expect(try session(client).device.readDate == nil)
            // Responses without notes do not change the read position.
            for path in ["/v1/account", "/v1/tags", "/v1/deleted-objects", "/v1/notes/\(SweepingTests.note)"] {
                try await client.send(.get, path)
            }
            let response = try await client.send(.post, "/v1/sync", "{}")
            #expect(response.status == 200)
            #expect(try await readDate(client, after: nil) != nil)
            let device = try session(client).device
            let scope = try session(client).scope
            func readSequence() async throws -> Int64? {
                try await client.test.store.read { snapshot in
                    try snapshot.devices(of: scope, usedSince: Timestamp(clamping: 0)).first?.readSequence
                }
            }
            #expect(try await readSequence() == 0)
            // A minute later, there are changes to read, and the client has an older token.
            let token = try response.json.member("syncToken").string
            try await client.send(.put, "/v1/notes/\(SweepingTests.note)", #"{"text":"Milk"}"#)
            let minuteAgo = device.lastUseDate.adding(-60_000)
            try await client.test.store.write {
                try $0.recordUse(
                    of: device.node, at: minuteAgo, appVersion: nil, userAgent: nil, address: nil, readSequence: 0)
            }
            let page = try await client.send(.get, "/v1/notes")
            #expect(try await readDate(client, after: minuteAgo) != nil)
            #expect(try await readSequence() == 1, "a first read covers everything")
            #expect(page.text.contains("Milk"))
            try await client.test.store.write {
                try $0.recordUse(
                    of: device.node, at: minuteAgo, appVersion: nil, userAgent: nil, address: nil, readSequence: 1)
            }
            try await client.send(.post, "/v1/sync", #"{"syncToken":"\#(token)"}"#)
            #expect(try await readDate(client, after: minuteAgo) != nil)
            #expect(try await readSequence() == 0)
            // A refused token records nothing.
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

    @Test(
        "Recently deleted notes and their history are available for the grace period after the server received the deletion"
    )
    func gracePeriod() async throws {
        let grace = 2 * Timestamp.day
        let change: TestServer.Change = { $0.sweep.grace = grace }
        try await TestServer.test(.router, change) { client in
            let client = try await client.signedUp()
            let path = "/v1/notes/\(SweepingTests.note)"
            try await client.send(.put, path, #"{"text":"Milk"}"#)
            // Deleted years ago, according to the device.
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
        // No grace period: the shortest that an operator can set is an hour, which is too long for a test.
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

    @Test("A history lists thinned values without the value; the sweeper runs with the server")
    func thinnedHistory() async throws {
        try await TestServer.test(.live) { client in
            let client = try await client.signedUp()
            let path = "/v1/notes/\(SweepingTests.note)"
            for text in ["Milk", "Milk and bread"] {
                #expect(try await client.send(.put, path, #"{"text":"\#(text)"}"#).status < 300)
            }
            let scope = try session(client).scope
            let id = try #require(UniqueID(SweepingTests.note))
            // Simulates that this was long ago.
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
                Issue.record("it is not an object")
                return
            }
            #expect(thinned["value"] == nil)
            #expect(thinned["standing"] == .bool(false))
            // The sweeper takes its lease as soon as the server runs.
            var isHeld = false
            for _ in 0..<6_000 where !isHeld {
                try await Task.sleep(for: .milliseconds(10))
                // A lease of no duration does not block the sweeper.
                isHeld = try await client.test.store.write {
                    try !$0.takeLease("sweeper", for: 1, at: .now, until: .now)
                }
            }
            #expect(isHeld)
        }
    }
}
