import Testing

@testable import HesperModel

/// A server and its devices as one value, so that a copy can continue the same history differently.
struct World {
    var server = ModelServer()
    private var devices: [ModelDevice]
    private(set) var now = Timestamp("2026-11-21T08:00:00Z") ?? Timestamp(clamping: 0)
    private var count: UInt64 = 0

    init(devices count: Int = 2) {
        devices = (0..<count).map { ModelDevice(0xa0 + UInt64($0)) }
        pass(0)
    }

    /// Advances the time of the server and all devices.
    mutating func pass(_ milliseconds: Int64) {
        now = Timestamp(clamping: now.milliseconds + milliseconds)
        server.now = now
        for index in devices.indices { devices[index].now = now }
    }

    /// Accessing a device advances the time by a second.
    subscript(index: Int) -> ModelDevice {
        get { devices[index] }
        _modify {
            pass(1000)
            yield &devices[index]
        }
    }

    var indices: Range<Int> { devices.indices }

    /// A new ID, greater than all before.
    mutating func id() -> UniqueID {
        count += 1
        return UniqueID(high: 0x4000, low: 0x8000_0000_0000_0000 | count)
    }

    mutating func makeNote(_ text: String, on device: Int = 0) -> UniqueID {
        let id = id()
        self[device].makeNote(text, id)
        return id
    }

    mutating func makeTag(_ name: String, on device: Int = 0) -> UniqueID {
        let id = id()
        self[device].makeTag(name, id)
        return id
    }

    mutating func add(_ device: ModelDevice) -> Int {
        devices.append(device)
        return devices.count - 1
    }

    // MARK: Syncing

    mutating func sync(_ device: Int, responseIsLost: Bool = false) throws {
        pass(1000)
        try devices[device].sync(&server, responseIsLost: responseIsLost)
    }

    /// Syncs all devices in this order until nothing is unsent and all have read everything.
    mutating func settle(_ order: [Int]? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for _ in 0..<12 {
            for device in order ?? Array(indices) { try sync(device) }
            if devices.allSatisfy({ !$0.hasUnsent && $0.token?.sequence == server.bag.sequence }) { break }
        }
        for index in devices.indices { devices[index].close() }
        expectEqual(sourceLocation: sourceLocation)
    }

    /// Continues this history with each order in which the devices can sync, until all are equal.
    func everyOrder(sourceLocation: SourceLocation = #_sourceLocation) throws -> [World] {
        try permutations(Array(indices)).map { order in
            var world = self
            try world.settle(order, sourceLocation: sourceLocation)
            return world
        }
    }

    /// Checks that all devices and the server have equal objects and digests.
    func expectEqual(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
        server.bag.check(comment, sourceLocation: sourceLocation)
        for device in devices {
            let unsent = device.unsent.keys.map { "\($0.object) \($0.attribute)" }
            #expect(unsent == [], comment, sourceLocation: sourceLocation)
            let (own, servers, received) = (device.digest, server.bag.digest, device.digestOfServer)
            #expect(own == servers && received == servers, comment, sourceLocation: sourceLocation)
            for (id, state) in server.bag.states {
                switch state {
                case .entity(let entity, .some):
                    let (own, servers) = (device.copy[id]?.json, entity.json)
                    #expect(own == servers, comment, sourceLocation: sourceLocation)
                case .deleted(let deleted, _):
                    let (own, isDeleted) = (device.deleted[id], device.entity(id) == nil)
                    #expect(own?.mergedInto == deleted.mergedInto && isDeleted, comment, sourceLocation: sourceLocation)
                    #expect(own?.rescuedInto == deleted.rescuedInto, comment, sourceLocation: sourceLocation)
                case .entity(_, nil): break
                }
            }
        }
    }
}

func permutations<T>(_ elements: [T]) -> [[T]] {
    guard elements.count > 1 else { return [elements] }
    return elements.indices.flatMap { index in
        var rest = elements
        let first = rest.remove(at: index)
        return permutations(rest).map { [first] + $0 }
    }
}
