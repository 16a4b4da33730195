import Foundation
import HesperModel
import Testing

@testable import HesperServer

@Suite struct DeviceUsesTests {
    /// Servers that write uses of the same devices lock the rows in the same order, so they cannot deadlock.
    @Test("The last use of each device is written, in the order of the nodes")
    func usesAreSortedByNode() throws {
        let test = try TestServer()
        defer { try? FileManager.default.removeItem(at: test.folder) }
        let uses = DeviceUses(store: test.store, logger: TestServer.silent)
        let nodes = (0..<100).map { _ in NodeID.random() }
        for sequence in 1...2 as ClosedRange<Int64> {
            for node in nodes.shuffled() { uses.record(DeviceUse(of: node, hasRead: sequence, at: .now)) }
        }
        let taken = uses.takeWaiting()
        #expect(taken.map(\.node) == nodes.sorted())
        #expect(taken.allSatisfy { $0.readSequence == 2 })
    }
}
