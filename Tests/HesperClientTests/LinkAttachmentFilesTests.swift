import Foundation
import HesperClient
import HesperModel
import Testing

/// Both kinds of files behave in the same way.
@Suite final class LinkAttachmentFilesTests {
    enum Kind: CaseIterable { case folder, memory }

    private let folder = FileManager.default.temporaryDirectory.appending(path: "hesper-files-\(UUID())")

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func files(_ kind: Kind) throws -> any AttachmentFiles {
        switch kind {
        case .folder: try FolderAttachmentFiles(folder: folder.path())
        case .memory: MemoryAttachmentFiles()
        }
    }

    @Test(arguments: Kind.allCases)
    func aFileIsWrittenInParts(kind: Kind) throws {
        let files = try files(kind)
        let id = UniqueID.random()
        #expect(try files.file(id) == nil)
        try files.append([1, 2, 3], to: id, at: 0)
        try files.append([4, 5], to: id, at: 3)
        #expect(try files.file(id) == AttachmentFile(byteCount: 5, isFinished: false))
        #expect(try files.read(id, at: 1, count: 2) == [2, 3])
        try files.finish(id)
        try files.finish(id)
        #expect(try files.file(id) == AttachmentFile(byteCount: 5, isFinished: true))
        #expect(try files.read(id, at: 3, count: 100) == [4, 5])
        #expect(try files.read(id, at: 5, count: 100) == [])
        #expect(try files.read(id, at: 9, count: 100) == [])
        #expect(try files.list() == [id: AttachmentFile(byteCount: 5, isFinished: true)])
        try files.delete(id)
        try files.delete(id)
        #expect(try files.list().isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func wrongUseIsRefused(kind: Kind) throws {
        let files = try files(kind)
        let id = UniqueID.random()
        #expect(throws: AttachmentFilesError.missing) { try files.read(id, at: 0, count: 1) }
        #expect(throws: AttachmentFilesError.missing) { try files.finish(id) }
        #expect(throws: AttachmentFilesError.wrongOffset) { try files.append([1], to: id, at: 1) }
        try files.append([1], to: id, at: 0)
        #expect(throws: AttachmentFilesError.wrongOffset) { try files.append([1], to: id, at: 0) }
        try files.finish(id)
        #expect(throws: AttachmentFilesError.wrongOffset) { try files.append([1], to: id, at: 1) }
    }

    @Test(arguments: Kind.allCases)
    func verification(kind: Kind) throws {
        let files = try files(kind)
        let bytes = TransferBench.bytes(3 << 20)
        let id = UniqueID.random()
        var rest = bytes[...]
        let data = try files.add(id) {
            defer { rest = rest.dropFirst(100_000) }
            return rest.isEmpty ? nil : Array(rest.prefix(100_000))
        }
        #expect(data.byteCount == 3 << 20)
        #expect(try files.data(of: id) == data)
        #expect(try files.read(id, at: 0, count: .max) == bytes)
        let other = UniqueID.random()
        try files.append(bytes, to: other, at: 0)
        try files.finish(other, verifying: data)
        #expect(try files.file(other)?.isFinished == true)
        let damaged = UniqueID.random()
        try files.append([1], to: damaged, at: 0)
        #expect(throws: AttachmentFilesError.self) { try files.finish(damaged, verifying: data) }
        #expect(try files.file(damaged) == nil)
    }

    @Test(arguments: Kind.allCases)
    func aFileThatCannotBeReadLeavesNothing(kind: Kind) throws {
        struct Unreadable: Error {}
        let files = try files(kind)
        var count = 0
        #expect(throws: Unreadable.self) {
            try files.add(.random()) {
                count += 1
                guard count < 3 else { throw Unreadable() }
                return [1, 2, 3]
            }
        }
        #expect(try files.list().isEmpty)
    }

    @Test func filesOutliveTheProcess() throws {
        let id = UniqueID.random()
        try files(.folder).append([1, 2, 3], to: id, at: 0)
        try Data().write(to: folder.appending(path: "another file"))
        let again = try files(.folder)
        #expect(try again.list() == [id: AttachmentFile(byteCount: 3, isFinished: false)])
        #expect(try again.read(id, at: 0, count: 9) == [1, 2, 3])
    }

    @Test func memoryCanBeFull() throws {
        let files = MemoryAttachmentFiles(capacity: 3)
        try files.append([1, 2], to: .random(), at: 0)
        #expect(throws: AttachmentFilesError.diskFull) { try files.append([1, 2], to: .random(), at: 0) }
    }
}
