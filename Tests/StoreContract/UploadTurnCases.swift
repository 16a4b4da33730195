import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import NIOCore

extension UploadStageContract {
    /// Two requests for one upload: the later one has it.
    static let turnCases: [Case] = [
        Case("ends whoever appends when another asks") { subject in
            let id = try await subject.begun(BlobSample(1))
            let asked = NIOLockedValueBox<Int64?>(nil)
            let first = Rest(range: 1..<large, size: 600_000) { offset in
                guard offset > 1 << 20, asked.withLockedValue({ $0 == nil }) else { return }
                let found = try await subject.elsewhere.byteCount(of: id)
                asked.withLockedValue { $0 = found }
            }
            try await refuses(UploadSuperseded.self) {
                _ = try await subject.stage.append(first, to: id, at: 1, limit: noLimit, checking: nil)
            }
            let told = asked.withLockedValue { $0 } ?? 0
            try await subject.expectBytes(of: id, toEndAt: told)
            let end = try await subject.elsewhere.append(
                Rest(range: told..<large), to: id, at: told, limit: noLimit, checking: nil)
            try expect(end, is: large)
            try await subject.expectBytes(of: id, toEndAt: large)
        },
        Case("lets many ask at once, and one go on") { subject in
            let id = try await subject.begun(BlobSample(100))
            let ends = try await withThrowingTaskGroup(of: Int64?.self) { group in
                for number in 0..<8 {
                    let stage = number % 2 == 0 ? subject.stage : subject.elsewhere
                    group.addTask {
                        do {
                            return try await stage.append(
                                Rest(range: 100..<large), to: id, at: 100, limit: noLimit, checking: nil)
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

    /// Sees that `body` throws an error of that type.
    static func refuses<Failure: Error>(
        _ type: Failure.Type, file: String = #fileID, line: Int = #line, _ body: () async throws -> Void
    ) async throws {
        do {
            try await body()
        } catch is Failure {
            return
        }
        throw Violation(description: "\(file):\(line): it was not refused with \(type)")
    }
}
