import NIOCore

/// A folder of small files that only the owner can access. Each file is replaced atomically, and the new file is durable.
public struct PrivateFolder: Sendable {
    public let path: String

    /// Creates a value without accessing the file system. ``make()`` creates the folder.
    public init(path: String) { self.path = path }

    public func make() throws { try File.makeFolder(path) }

    public func inside(_ name: String) -> String { "\(path)/\(name)" }

    /// Reads a file of the folder.
    /// - Returns: nil if the file does not exist.
    public func contents(of name: String) throws -> [UInt8]? {
        guard try File.status(inside(name)) != nil else { return nil }
        var bytes: [UInt8] = []
        try FileReader(inside(name)).read { bytes += Array($0.readableBytesView) }
        return bytes
    }

    /// Creates or replaces a file.
    public func put(_ bytes: [UInt8], as name: String) throws {
        let unfinished = inside("\(name).unfinished")
        try File.remove(unfinished)
        try File.write(bytes, toNew: unfinished)
        try File.rename(unfinished, inside(name))
        try File.syncFolder(path)
    }
}
