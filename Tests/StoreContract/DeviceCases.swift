import HesperModel
import HesperStore

extension StoreContract {
    static let deviceCases: [Case] = [
        Case("knows who holds a token, and how far their scope is") { (desk: Desk) in
            let head = try await desk.push(desk.note(.random(), "Milk", at: 1)).head
            try expect(try await desk.store.session(of: desk.token), is: Session(device: desk.device, head: head))
            try expect(try await desk.store.session(of: Desk.token()), is: nil)
            var almost = desk.token.bytes
            almost[31] ^= 1
            try expect(try await desk.store.session(of: TokenHash(bytes: almost)), is: nil)
        },
        Case("sees in a session what any commit before it has written") { (subject: Subject) in
            let desk = try await Desk(on: try await subject.open())
            let elsewhere = try await subject.open()
            for round in 1...20 {
                let head = try await desk.push(desk.note(.random(), "Milk", at: UInt64(round))).head
                try expect(try await elsewhere.session(of: desk.token)?.head, is: head)
                try expect(try await desk.store.session(of: desk.token)?.head, is: head)
            }
            _ = try await elsewhere.write { try $0.deleteDevice(desk.device.node, of: desk.account.uniqueID) }
            try expect(try await desk.store.session(of: desk.token), is: nil)
        },
        Case("answers sessions to many threads at once") { (desk: Desk) in
            let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var wrong = 0
                        for _ in 0..<100 {
                            let found = try await desk.store.session(of: desk.token)?.device
                            if found != desk.device { wrong += 1 }
                        }
                        return wrong
                    }
                }
                return try await group.reduce(0, +)
            }
            try expect(wrong, is: 0)
        },
        Case("says where scopes stand and who is signed in there, of those that are there") { (desk: Desk) in
            let other = try await Desk(on: desk.store, email: "bob@example.com")
            let phone = Desk.device(of: desk.account.uniqueID, name: "phone")
            try await desk.store.write { try $0.insert(phone, token: Desk.token()) }
            let head = try await desk.push(desk.note(.random(), "Milk", at: 1)).head
            _ = try await desk.store.write { try $0.deleteDevice(other.device.node, of: other.account.uniqueID) }
            let asked = [desk.scope, other.scope, ScopeID(1_000_000)]
            try expect(
                try await desk.read { try $0.scopeStatuses(of: asked) },
                is: [
                    desk.scope: ScopeStatus(sequence: head.sequence, devices: [desk.device.node, phone.node]),
                    other.scope: ScopeStatus(sequence: 0, devices: []),
                ])
            try expect(try await desk.read { try $0.scopeStatuses(of: []) }, is: [:])
        },
        Case("lists devices, the last signed in first, in pages") { (desk: Desk) in
            let id = desk.account.uniqueID
            let others = (0..<4).map { Desk.device(of: id, name: "phone \($0)") }
            let stranger = try await Desk(on: desk.store, email: "bob@example.com")
            for device in others { try await desk.store.write { try $0.insert(device, token: Desk.token()) } }
            let all = Array(([desk.device] + others).reversed())
            try expect(try await desk.read { try $0.devices(of: id, after: nil, limit: 100) }, is: all)
            try expect(try await desk.read { try $0.devices(of: id, after: nil, limit: 2) }, is: Array(all[0..<2]))
            let cursor = all[1].node
            try expect(try await desk.read { try $0.devices(of: id, after: cursor, limit: 2) }, is: Array(all[2..<4]))
            try expect(try await desk.read { try $0.devices(of: id, after: all[4].node, limit: 2) }, is: [])
            try expect(
                try await desk.read { try $0.devices(of: stranger.account.uniqueID, after: nil, limit: 9) },
                is: [stranger.device])
        },
        Case("signs a device out, of its own account alone") { (desk: Desk) in
            let stranger = try await Desk(on: desk.store, email: "bob@example.com")
            let (node, id) = (desk.device.node, desk.account.uniqueID)
            try expect(
                try await desk.store.write { try $0.deleteDevice(node, of: stranger.account.uniqueID) }, is: false)
            try expect(try await desk.store.session(of: desk.token) != nil)
            try expect(try await desk.store.write { try $0.deleteDevice(node, of: id) }, is: true)
            try expect(try await desk.store.write { try $0.deleteDevice(node, of: id) }, is: false)
            try expect(try await desk.store.session(of: desk.token), is: nil)
        },
        Case("signs all devices out but one, or all") { (desk: Desk) in
            let id = desk.account.uniqueID
            let stranger = try await Desk(on: desk.store, email: "bob@example.com")
            try await desk.store.write { try $0.insert(Desk.device(of: id, name: "phone"), token: Desk.token()) }
            try await desk.store.write { try $0.deleteDevices(of: id, except: desk.device.node) }
            try expect(try await desk.read { try $0.devices(of: id, after: nil, limit: 9) }, is: [desk.device])
            try await desk.store.write { try $0.deleteDevices(of: id, except: nil) }
            try expect(try await desk.read { try $0.devices(of: id, after: nil, limit: 9) }, is: [])
            try expect(try await stranger.store.session(of: stranger.token) != nil)
        },
        Case("records a use, leaving what is not told as it was") { (desk: Desk) in
            var device = desk.device
            device.lastUseDate = Desk.date(60_000)
            device.readDate = Desk.date(60_000)
            try await desk.store.write {
                try $0.recordUse(
                    of: desk.device.node, at: Desk.date(60_000), appVersion: nil, userAgent: nil, address: nil,
                    readSequence: 3)
            }
            try expect(try await desk.store.session(of: desk.token)?.device, is: device)
            device.lastUseDate = Desk.date(120_000)
            device.appVersion = "2.0"
            device.userAgent = "curl/8"
            device.lastUseAddress = "2001:db8::7"
            try await desk.store.write {
                try $0.recordUse(
                    of: desk.device.node, at: Desk.date(120_000), appVersion: "2.0", userAgent: "curl/8",
                    address: "2001:db8::7", readSequence: nil)
            }
            try expect(try await desk.store.session(of: desk.token)?.device, is: device)
            let listed = try await desk.read { try $0.devices(of: desk.account.uniqueID, after: nil, limit: 9) }
            try expect(listed, is: [device])
        },
    ]
}
