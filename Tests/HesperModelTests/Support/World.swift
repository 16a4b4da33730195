import Testing

@testable import HesperModel

/// A server and its devices, in one place and one value: copies of it are other courses of the same history.
struct World {
    var server = ModelServer()
    private var devices: [ModelDevice]
    private(set) var now = Timestamp("2026-11-21T08:00:00Z") ?? Timestamp(clamping: 0)
    private var count: UInt64 = 0

    init(devices count: Int = 2) {
        devices = (0..<count).map { ModelDevice(0xa0 + UInt64($0)) }
        pass(0)
    }

    /// Lets time pass for everybody.
    mutating func pass(_ milliseconds: Int64) {
        now = Timestamp(clamping: now.milliseconds + milliseconds)
        server.now = now
        for index in devices.indices { devices[index].now = now }
    }

    /// Whatever is done to a device is done a second after what was done before.
    subscript(index: Int) -> ModelDevice {
        get { devices[index] }
        _modify {
            pass(1000)
            yield &devices[index]
        }
    }

    var indices: Range<Int> { devices.indices }

    /// IDs in the order in which they are asked for.
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

    mutating func sync(_ device: Int, answerIsLost: Bool = false) throws {
        pass(1000)
        try devices[device].sync(&server, answerIsLost: answerIsLost)
    }

    /// Everybody syncs, in this order, until nothing is unsent and everybody has read everything.
    mutating func settle(_ order: [Int]? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for _ in 0..<12 {
            for device in order ?? Array(indices) { try sync(device) }
            if devices.allSatisfy({ !$0.hasUnsent && $0.token?.sequence == server.bag.sequence }) { break }
        }
        for index in devices.indices { devices[index].close() }
        expectEqual(sourceLocation: sourceLocation)
    }

    /// The same beginning, for every order in which the devices may sync first; each ends with all devices equal.
    func everyOrder(sourceLocation: SourceLocation = #_sourceLocation) throws -> [World] {
        try permutations(Array(indices)).map { order in
            var world = self
            try world.settle(order, sourceLocation: sourceLocation)
            return world
        }
    }

    /// All devices hold the same, the server too, and every digest says so.
    func expectEqual(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
        server.bag.check(comment, sourceLocation: sourceLocation)
        for device in devices {
            let unsent = device.unsent.keys.map { "\($0.object) \($0.attribute)" }
            #expect(unsent == [], comment, sourceLocation: sourceLocation)
            let (mine, servers, told) = (device.digest, server.bag.digest, device.digestOfServer)
            #expect(mine == servers && told == servers, comment, sourceLocation: sourceLocation)
            for (id, state) in server.bag.states {
                switch state {
                case .entity(let entity, .some):
                    let (mine, servers) = (device.copy[id]?.json, entity.json)
                    #expect(mine == servers, comment, sourceLocation: sourceLocation)
                case .deleted(let deleted, _):
                    let (mine, isGone) = (device.deleted[id], device.entity(id) == nil)
                    #expect(mine?.mergedInto == deleted.mergedInto && isGone, comment, sourceLocation: sourceLocation)
                    #expect(mine?.rescuedInto == deleted.rescuedInto, comment, sourceLocation: sourceLocation)
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
