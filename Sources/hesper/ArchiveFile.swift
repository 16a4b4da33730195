import Foundation
import NIOCore

/// The destination of an export: standard output, or a file. The file has a temporary name until it is complete and on disk.
final class ArchiveFile {
    /// The path that the user specified.
    let path: String
    private let handle: FileHandle
    private let isStandardOutput: Bool
    private var unfinished: String { path + ".unfinished" }

    /// Opens the destination of an export.
    /// - Parameter path: the path of the file, or `-` for standard output.
    /// - Throws: ``Failure`` if the file exists or cannot be created.
    init(_ path: String) throws {
        self.path = path
        isStandardOutput = path == "-"
        guard !isStandardOutput else {
            handle = .standardOutput
            return
        }
        guard !FileManager.default.fileExists(atPath: path) else {
            throw Failure("\(path) already exists. Name another file.", .usage)
        }
        let descriptor = open(path + ".unfinished", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw Failure("\(path): \(String(cString: strerror(errno))).", .usage) }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    func write(_ bytes: ByteBuffer) throws {
        try failing { try handle.write(contentsOf: Data(bytes.readableBytesView)) }
    }

    /// Writes the file to disk and renames it to its final name.
    func finish() throws {
        guard !isStandardOutput else { return }
        try failing {
            try handle.synchronize()
            try handle.close()
        }
        guard rename(unfinished, path) == 0 else { throw Failure("\(path): \(String(cString: strerror(errno))).") }
    }

    /// Removes the file of an export that was not completed.
    func abandon() {
        guard !isStandardOutput else { return }
        unlink(unfinished)
    }

    /// Prints a result to standard output, or to standard error if the archive is written to standard output.
    func printResult(_ line: String) {
        Terminal.write(line + "\n", to: isStandardOutput ? .standardError : .standardOutput)
    }

    private func failing(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            throw Failure("Cannot write \(path): \(error.localizedDescription)")
        }
    }
}
