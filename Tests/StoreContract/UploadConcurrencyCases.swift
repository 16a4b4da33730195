import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import NIOCore

extension UploadStageContract {
    /// Concurrent requests for one upload, of which the later one supersedes the earlier.
    static let concurrencyCases: [Case] = [
        Case("a request for the length of an upload ends a running append") { subject in
            let id = try await subject.begun(BlobSample(1))
            let reported = NIOLockedValueBox<Int64?>(nil)
            let first = SampleRange(range: 1..<large, size: 600_000) { offset in
                guard offset > 1 << 20, reported.withLockedValue({ $0 == nil }) else { return }
                let length = try await subject.nextStage.byteCount(of: id)
                reported.withLockedValue { $0 = length }
            }
            try await refuses(UploadSuperseded.self) {
                _ = try await subject.stage.append(first, to: id, at: 1, limit: noLimit, checking: nil)
            }
            let offset = reported.withLockedValue { $0 } ?? 0
            try await subject.expectBytes(of: id, toEndAt: offset)
            let end = try await subject.nextStage.append(
                SampleRange(range: offset..<large), to: id, at: offset, limit: noLimit, checking: nil)
            try expect(end, is: large)
            try await subject.expectBytes(of: id, toEndAt: large)
        },
        Case("at most one of several concurrent appends succeeds") { subject in
            let id = try await subject.begun(BlobSample(100))
            let ends = try await withThrowingTaskGroup(of: Int64?.self) { group in
                for number in 0..<8 {
                    let stage = number % 2 == 0 ? subject.stage : subject.nextStage
                    group.addTask {
                        do {
                            return try await stage.append(
                                SampleRange(range: 100..<large), to: id, at: 100, limit: noLimit, checking: nil)
                        } catch is UploadSuperseded {
                            return nil
                        } catch is UploadOffsetMismatch {
                            return nil
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try expect(Set(ends.compactMap(\.self)).isSubset(of: [large]), is: true, "\(ends)")
            try await subject.expectBytes(of: id, toEndAt: try await subject.stage.byteCount(of: id) ?? 0)
        },
    ]

    /// Checks that `body` throws an error of a type.
    static func refuses<Failure: Error>(
        _ type: Failure.Type, file: String = #fileID, line: Int = #line, _ body: () async throws -> Void
    ) async throws {
        do {
            try await body()
        } catch is Failure {
            return
        }
        throw Violation(description: "\(file):\(line): it did not throw \(type)")
    }
}
