import Foundation
import NIOCore

/// Where an export goes: a file that has its name only when it is whole and durable, or standard output.
final class ArchiveFile {
    /// As the person named it.
    let path: String
    private let handle: FileHandle
    private let isStandardOutput: Bool
    private var unfinished: String { path + ".unfinished" }

    /// - Parameter path: `-` for standard output.
    /// - Throws: ``Failure`` if it is there already, or cannot be made.
    init(_ path: String) throws {
        self.path = path
        isStandardOutput = path == "-"
        guard !isStandardOutput else {
            handle = .standardOutput
            return
        }
        guard !FileManager.default.fileExists(atPath: path) else {
            throw Failure("\(path) is there already: name another file.", .usage)
        }
        let descriptor = open(path + ".unfinished", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw Failure("\(path): \(String(cString: strerror(errno))).", .usage) }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    func write(_ bytes: ByteBuffer) throws {
        try failing { try handle.write(contentsOf: Data(bytes.readableBytesView)) }
    }

    /// Gives the file its name.
    func finish() throws {
        guard !isStandardOutput else { return }
        try failing {
            try handle.synchronize()
            try handle.close()
        }
        guard rename(unfinished, path) == 0 else { throw Failure("\(path): \(String(cString: strerror(errno))).") }
    }

    /// Removes what there is of it.
    func abandon() {
        guard !isStandardOutput else { return }
        unlink(unfinished)
    }

    /// A result: on standard output, unless that is the archive.
    func say(_ line: String) { Terminal.write(line + "\n", to: isStandardOutput ? .standardError : .standardOutput) }

    private func failing(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            throw Failure("\(path) cannot be written: \(error.localizedDescription)")
        }
    }
}
