import Foundation
import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import NIOCore
import StoreContract
import Testing

@testable import HesperBlobs

@Suite("S3 over an unreliable connection", .enabled(if: SeaweedFS.isInstalled, "\(SeaweedFS.absence)"))
struct S3OutageTests {
    typealias Subject = BlobStoreContract.Subject
    typealias Cut = CuttingProxy.Cut

    /// Blobs accessed through a proxy that breaks connections, and directly.
    private func subjects(_ cuts: [Cut] = []) async throws -> (
        unreliable: Subject, direct: Subject, proxy: CuttingProxy
    ) {
        let server = try await SeaweedFS.running
        let proxy = try CuttingProxy(to: server.port, cuts)
        let prefix = UUID().uuidString
        let folder = Folder().url
        return (
            Subject(blobs: S3Blobs(try server.location(prefix: prefix, port: proxy.port)), folder: folder),
            Subject(blobs: S3Blobs(try server.location(prefix: prefix)), folder: folder), proxy
        )
    }

    @Test(.timeLimit(.minutes(10)), arguments: [(300_000, 3), (1, 2), (0, 4), (300_000, 1_000)])
    func resumesInterruptedReads(_ bytes: Int, _ times: Int) async throws {
        let (unreliable, direct, proxy) = try await subjects(
            [Cut(request: "GET", direction: .response, bytes: bytes, times: times)])
        let sample = BlobSample((4 << 20) + 9)
        let name = try await direct.write(sample)
        try await unreliable.expectBytes(name, are: sample)
        #expect(proxy.cutCount >= min(times, 6))
    }

    @Test func readFailsAfterAllAttempts() async throws {
        let (unreliable, direct, proxy) = try await subjects(
            [Cut(request: "GET", direction: .response, bytes: 0, times: .max)])
        let name = try await direct.write(BlobSample(1_000))
        await #expect(throws: StoreError.self) { _ = try await unreliable.blobs.read(name, 0..<1_000) }
        #expect((2...10).contains(proxy.cutCount))
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            // The upload of a part is interrupted; responses are lost.
            Cut(request: "partNumber=", direction: .request, bytes: 3_000_000, times: 3),
            Cut(request: "partNumber=2", direction: .response, bytes: 0, times: 2),
            Cut(request: "POST", direction: .response, bytes: 0, times: 2),
            Cut(request: "uploads=", direction: .response, bytes: 0, times: 1),
        ]) func retriesInterruptedWrites(_ cut: Cut) async throws
    {
        let (unreliable, direct, proxy) = try await subjects([cut])
        let sample = BlobSample((20 << 20) + 1)
        let name = try await unreliable.write(sample)
        try await direct.expectBytes(name, are: sample)
        #expect(proxy.cutCount == cut.times)
        // If the response that starts an upload is lost, the upload remains until it is removed as old.
        _ = try await direct.blobs.removeUnfinished(before: BlobStoreContract.future)
        try await direct.expectBytes(name, are: sample)
    }

    @Test(.timeLimit(.minutes(10)), arguments: [(0, 0), (100, 0), (1 << 20, 500_000)])
    func retriesPut(_ size: Int64, _ bytes: Int) async throws {
        for direction in [CuttingProxy.Direction.request, .response] {
            let cut = Cut(request: "PUT", direction: direction, bytes: direction == .request ? bytes : 0, times: 2)
            let (unreliable, direct, proxy) = try await subjects([cut])
            let name = try await unreliable.write(BlobSample(size))
            try await direct.expectBytes(name, are: BlobSample(size))
            #expect(proxy.cutCount == 2)
        }
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            (100, Cut(request: "PUT", direction: .response, bytes: 0, times: .max)),
            (20 << 20, Cut(request: "partNumber=2", direction: .request, bytes: 1_000_000, times: .max)),
            (20 << 20, Cut(request: "partNumber=3", direction: .response, bytes: 0, times: .max)),
            (20 << 20, Cut(request: "POST", direction: .request, bytes: 0, times: .max)),
        ]) func failedWriteLeavesNothing(_ size: Int, _ cut: Cut) async throws
    {
        let (unreliable, direct, _) = try await subjects([cut])
        let name = Subject.name()
        let error = await #expect(throws: StoreError.self) {
            _ = try await unreliable.blobs.write(name, BlobSample(Int64(size)).pieces()) { _ in }
        }
        guard case .unavailable? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        try await direct.expectNothing(name)
        try await direct.expectNothingUnfinished()
    }

    @Test(.timeLimit(.minutes(10))) func unreachableServerIsUnavailable() async throws {
        let location = try await SeaweedFS.running.location(port: try Loopback.freePorts(1)[0])
        let blobs = S3Blobs(location)
        let name = Subject.name()
        for call: @Sendable () async throws -> Void in [
            { try await blobs.check() }, { _ = try await blobs.byteCount(of: name) }, { try await blobs.remove(name) },
            { _ = try await blobs.read(name, 0..<1) },
            { _ = try await blobs.removeUnfinished(before: BlobStoreContract.future) },
            { _ = try await blobs.write(name, BlobSample(100).pieces()) { _ in } },
            { _ = try await blobs.write(name, BlobSample(9 << 20).pieces()) { _ in } },
        ] {
            let error = await #expect(throws: StoreError.self) { try await call() }
            guard case .unavailable? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    // MARK: Back-pressure

    @Test(.timeLimit(.minutes(10))) func readsHaveBackPressure() async throws {
        let (unreliable, direct, proxy) = try await subjects()
        let sample = BlobSample(64 << 20)
        let name = try await direct.write(sample)
        let bytes = try await unreliable.blobs.read(name, 0..<sample.byteCount)
        let first = try await bytes.makeAsyncIterator().readOne()
        try await Task.sleep(for: .milliseconds(500))
        // The capacity of the socket buffers.
        #expect(proxy.passed(.response) < 24 << 20)
        var count = Int64(first)
        for try await buffer in bytes { count += Int64(buffer.readableBytes) }
        #expect(count == sample.byteCount)
    }

    @Test(.timeLimit(.minutes(10))) func writesHaveBackPressure() async throws {
        let (unreliable, direct, proxy) = try await subjects()
        let sample = BlobSample(80 << 20)
        let state = NIOLockedValueBox((offset: Int64(0), isOver: false))
        let name = Subject.name()
        let pieces = sample.pieces { now in
            state.withLockedValue { state in
                if !state.isOver, state.offset < 17 << 20, now >= 17 << 20 { proxy.pause(true) }
                state.offset = now
            }
        }
        async let data = unreliable.blobs.write(name, pieces) { _ in }
        for _ in 0..<2_000 where state.withLockedValue({ $0.offset }) < 17 << 20 {
            try await Task.sleep(for: .milliseconds(50))
        }
        try await Task.sleep(for: .seconds(1))
        let offset = state.withLockedValue { state in
            state.isOver = true
            return state.offset
        }
        proxy.pause(false)
        // One part in transit, one waiting part, and the socket buffers.
        #expect((17 << 20...41 << 20).contains(offset))
        #expect(try await data == sample.data)
        try await direct.expectBytes(name, are: sample)
    }
}

extension BlobBytes {
    /// The size of the next buffer.
    fileprivate func readOne() async throws -> Int {
        var copy = self
        return try await copy.next()?.readableBytes ?? 0
    }
}
