import Foundation
import HesperModel
import HesperStore
import NIOCore

extension BlobStoreContract {
    static let adoptionCases: [Case] = [
        Case("a local file is adopted and remains until the caller removes it") { subject in
            for size: Int64 in [0, 1, 1_000_003, large] {
                let (sample, name) = (BlobSample(size), Subject.name())
                let path = try subject.file(sample)
                let data = try await subject.blobs.adopt(path, as: name) { data in
                    try expect(data, is: sample.data, "argument of the check")
                }
                try expect(data, is: sample.data)
                try await subject.expectBytes(name, are: sample)
                try expect(FileManager.default.contents(atPath: path).map { Int64($0.count) }, is: size)
                try FileManager.default.removeItem(atPath: path)
                try await subject.expectBytes(name, are: sample)
            }
            try await subject.expectNothingUnfinished()
        },
        Case("a file that fails the check is not changed") { subject in
            for size: Int64 in [0, 1_000, large] {
                let name = Subject.name()
                let path = try subject.file(BlobSample(size))
                do {
                    _ = try await subject.blobs.adopt(path, as: name) { _ in throw Deliberate() }
                    throw Violation(description: "the file was adopted")
                } catch is Deliberate {}
                try await subject.expectNothing(name)
                try expect(FileManager.default.contents(atPath: path), is: Data(buffer: BlobSample(size)[0..<size]))
            }
            try await subject.expectNothingUnfinished()
        },
        Case("a missing file is not adopted") { subject in
            let name = Subject.name()
            do {
                _ = try await subject.blobs.adopt(subject.folder.appending(path: "none").path, as: name) { _ in }
                throw Violation(description: "the file was adopted")
            } catch is StoreError {}
            try await subject.expectNothing(name)
        },
    ]

    static let listingCases: [Case] = [
        Case("all blobs are listed") { subject in
            try expect(try await subject.entries(), is: [])
            let begin = Date().timeIntervalSince1970 * 1_000
            let names = [Subject.name(), Subject.name(), Subject.name(7), Subject.name(.max)]
            for (index, name) in names.enumerated() { try await subject.write(BlobSample(Int64(index)), name) }
            let entries = try await subject.entries()
            try expect(entries.count, is: names.count)
            for (index, name) in names.enumerated() {
                let entry = try unwrap(entries.first { $0.name == name }, "\(name)")
                try expect(entry.path, is: name.path)
                try expect(entry.byteCount, is: Int64(index))
                // Some stores have a resolution of one second.
                let (date, end) = (Double(entry.date.milliseconds), Date().timeIntervalSince1970 * 1_000)
                try expect(date > begin - 2_000 && date < end + 2_000, "\(date) is not from \(begin) to \(end)")
            }
            try await subject.blobs.remove(names[1])
            try expect(Set(try await subject.entries().compactMap(\.name)), is: Set(names).subtracting([names[1]]))
        },
        Case("the marker is not a blob and is replaced as a whole") { subject in
            try expect(try await subject.blobs.marker(), is: nil)
            for text in ["first", String(repeating: "second ", count: 1_000), "3", ""] {
                try await subject.blobs.setMarker(Array(text.utf8))
                try expect(try await subject.blobs.marker().map { String(decoding: $0, as: UTF8.self) }, is: text)
            }
            let name = try await subject.write(BlobSample(1))
            try expect(try await subject.entries().map(\.path), is: [name.path])
            try await subject.blobs.remove(name)
            try expect(try await subject.blobs.marker(), is: [])
        },
        Case("listing blobs stops when the body throws") { subject in
            for _ in 0..<3 { try await subject.write(BlobSample(1)) }
            var count = 0
            do {
                try await subject.blobs.entries { _ in
                    count += 1
                    throw Deliberate()
                }
                throw Violation(description: "the error was ignored")
            } catch is Deliberate {}
            try expect(count, is: 1)
        },
        Case("blobs can be removed while they are listed") { subject in
            for _ in 0..<20 { try await subject.write(BlobSample(1)) }
            try await subject.blobs.entries { try await subject.blobs.remove(unwrap($0.name)) }
            try expect(try await subject.entries(), is: [])
        },
    ]
}

extension BlobStoreContract.Subject {
    /// Writes a sample to a local file.
    public func file(_ sample: BlobSample) throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appending(path: UUID().uuidString)
        try Data(buffer: sample[0..<sample.byteCount]).write(to: url)
        return url.path
    }
}

extension Data {
    fileprivate init(buffer: ByteBuffer) { self = buffer.withUnsafeReadableBytes { Data($0) } }
}
