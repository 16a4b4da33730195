import HesperModel
import HesperStore

extension StoreContract {
    static let deviceCases: [Case] = [
        Case("a token yields the session of its device and the head of its scope") { (client: Client) in
            let head = try await client.push(client.note(.random(), "Milk", at: 1)).head
            try expect(try await client.store.session(of: client.token), is: Session(device: client.device, head: head))
            try expect(try await client.store.session(of: Client.token()), is: nil)
            var almost = client.token.bytes
            almost[31] ^= 1
            try expect(try await client.store.session(of: TokenHash(bytes: almost)), is: nil)
        },
        Case("a session reflects all earlier commits, also of other processes") { (subject: Subject) in
            let client = try await Client(on: try await subject.open())
            let reopened = try await subject.open()
            for round in 1...20 {
                let head = try await client.push(client.note(.random(), "Milk", at: UInt64(round))).head
                try expect(try await reopened.session(of: client.token)?.head, is: head)
                try expect(try await client.store.session(of: client.token)?.head, is: head)
            }
            _ = try await reopened.write { try $0.deleteDevice(client.device.node, of: client.account.uniqueID) }
            try expect(try await client.store.session(of: client.token), is: nil)
        },
        Case("sessions can be read by many threads concurrently") { (client: Client) in
            let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var wrong = 0
                        for _ in 0..<100 {
                            let found = try await client.store.session(of: client.token)?.device
                            if found != client.device { wrong += 1 }
                        }
                        return wrong
                    }
                }
                return try await group.reduce(0, +)
            }
            try expect(wrong, is: 0)
        },
        Case("the statuses of existing scopes contain the sequence number and the devices") { (client: Client) in
            let other = try await Client(on: client.store, email: "bob@example.com")
            let phone = Client.device(of: client.account.uniqueID, name: "phone")
            try await client.store.write { try $0.insert(phone, token: Client.token()) }
            let head = try await client.push(client.note(.random(), "Milk", at: 1)).head
            _ = try await client.store.write { try $0.deleteDevice(other.device.node, of: other.account.uniqueID) }
            let scopes = [client.scope, other.scope, ScopeID(1_000_000)]
            try expect(
                try await client.read { try $0.scopeStatuses(of: scopes) },
                is: [
                    client.scope: ScopeStatus(sequence: head.sequence, devices: [client.device.node, phone.node]),
                    other.scope: ScopeStatus(sequence: 0, devices: []),
                ])
            try expect(try await client.read { try $0.scopeStatuses(of: []) }, is: [:])
        },
        Case("devices are listed in pages, the most recently signed in first") { (client: Client) in
            let id = client.account.uniqueID
            let others = (0..<4).map { Client.device(of: id, name: "phone \($0)") }
            let stranger = try await Client(on: client.store, email: "bob@example.com")
            for device in others { try await client.store.write { try $0.insert(device, token: Client.token()) } }
            let all = Array(([client.device] + others).reversed())
            try expect(try await client.read { try $0.devices(of: id, tokens: nil, after: nil, limit: 100) }, is: all)
            try expect(
                try await client.read { try $0.devices(of: id, tokens: nil, after: nil, limit: 2) },
                is: Array(all[0..<2]))
            let cursor = all[1].node
            try expect(
                try await client.read { try $0.devices(of: id, tokens: nil, after: cursor, limit: 2) },
                is: Array(all[2..<4]))
            try expect(
                try await client.read { try $0.devices(of: id, tokens: nil, after: all[4].node, limit: 2) }, is: [])
            try expect(
                try await client.read {
                    try $0.devices(of: stranger.account.uniqueID, tokens: nil, after: nil, limit: 9)
                },
                is: [stranger.device])
        },
        Case("access tokens are stored with their rights, and listed apart from devices") { (client: Client) in
            let id = client.account.uniqueID
            let access = TokenAccess([.append, .read], expiryDate: Client.date(9), tag: .random())
            let limited = Client.device(of: id, name: "script", access: access)
            let unlimited = Client.device(of: id, name: "another", access: TokenAccess([.write]))
            let hash = Client.token()
            try await client.store.write { try $0.insert(limited, token: hash) }
            try await client.store.write { try $0.insert(unlimited, token: Client.token()) }
            try expect(try await client.store.session(of: hash)?.device, is: limited)
            try expect(try await client.read { try $0.device(limited.node, of: id) }, is: limited)
            func listed(_ tokens: Bool?, after cursor: NodeID? = nil) async throws -> [Device] {
                try await client.read { try $0.devices(of: id, tokens: tokens, after: cursor, limit: 9) }
            }
            try expect(try await listed(true), is: [unlimited, limited])
            try expect(try await listed(true, after: unlimited.node), is: [limited])
            try expect(try await listed(false), is: [client.device])
            try expect(try await listed(nil), is: [unlimited, limited, client.device])
        },
        Case("a device can only be renamed by its own account") { (client: Client) in
            let stranger = try await Client(on: client.store, email: "bob@example.com")
            let (node, id) = (client.device.node, client.account.uniqueID)
            try expect(
                try await client.store.write { try $0.rename(node, of: stranger.account.uniqueID, to: "mine") }, is: nil
            )
            try expect(try await client.read { try $0.device(node, of: id) }, is: client.device)
            let renamed = try await client.store.write { try $0.rename(node, of: id, to: "kitchen") }
            try expect(renamed?.name, is: "kitchen")
            try expect(try await client.read { try $0.device(node, of: id) }, is: renamed)
            try expect(try await client.store.session(of: client.token)?.device.name, is: "kitchen")
        },
        Case("a device can only be signed out of its own account") { (client: Client) in
            let stranger = try await Client(on: client.store, email: "bob@example.com")
            let (node, id) = (client.device.node, client.account.uniqueID)
            try expect(
                try await client.store.write { try $0.deleteDevice(node, of: stranger.account.uniqueID) }, is: false)
            try expect(try await client.store.session(of: client.token) != nil)
            try expect(try await client.store.write { try $0.deleteDevice(node, of: id) }, is: true)
            try expect(try await client.store.write { try $0.deleteDevice(node, of: id) }, is: false)
            try expect(try await client.store.session(of: client.token), is: nil)
        },
        Case("all devices can be signed out, with or without an exception") { (client: Client) in
            let id = client.account.uniqueID
            let stranger = try await Client(on: client.store, email: "bob@example.com")
            try await client.store.write { try $0.insert(Client.device(of: id, name: "phone"), token: Client.token()) }
            try await client.store.write { try $0.deleteDevices(of: id, except: client.device.node) }
            try expect(
                try await client.read { try $0.devices(of: id, tokens: nil, after: nil, limit: 9) }, is: [client.device]
            )
            try await client.store.write { try $0.deleteDevices(of: id, except: nil) }
            try expect(try await client.read { try $0.devices(of: id, tokens: nil, after: nil, limit: 9) }, is: [])
            try expect(try await stranger.store.session(of: stranger.token) != nil)
        },
        Case("recording a request leaves values unchanged for which the argument is nil") { (client: Client) in
            var device = client.device
            device.lastUseDate = Client.date(60_000)
            device.readDate = Client.date(60_000)
            try await client.store.write {
                try $0.recordUse(
                    of: client.device.node, at: Client.date(60_000), appVersion: nil, userAgent: nil, address: nil,
                    readSequence: 3)
            }
            try expect(try await client.store.session(of: client.token)?.device, is: device)
            device.lastUseDate = Client.date(120_000)
            device.appVersion = "2.0"
            device.userAgent = "curl/8"
            device.lastUseAddress = "2001:db8::7"
            try await client.store.write {
                try $0.recordUse(
                    of: client.device.node, at: Client.date(120_000), appVersion: "2.0", userAgent: "curl/8",
                    address: "2001:db8::7", readSequence: nil)
            }
            try expect(try await client.store.session(of: client.token)?.device, is: device)
            let listed = try await client.read {
                try $0.devices(of: client.account.uniqueID, tokens: nil, after: nil, limit: 9)
            }
            try expect(listed, is: [device])
        },
    ]
}
