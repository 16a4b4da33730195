import NIOCore

/// A folder of small files for their owner's eyes alone, each of which is replaced whole and durably, or not at all.
public struct PrivateFolder: Sendable {
    public let path: String

    /// Looks at nothing yet: ``make()`` makes the folder, if there has to be one.
    public init(path: String) { self.path = path }

    public func make() throws { try File.makeFolder(path) }

    public func inside(_ name: String) -> String { "\(path)/\(name)" }

    /// - Returns: nil if there is no such file.
    public func contents(of name: String) throws -> [UInt8]? {
        guard try File.status(inside(name)) != nil else { return nil }
        var bytes: [UInt8] = []
        try FileReader(inside(name)).read { bytes += Array($0.readableBytesView) }
        return bytes
    }

    /// Puts a file in place of what has the name.
    public func put(_ bytes: [UInt8], as name: String) throws {
        let unfinished = inside("\(name).unfinished")
        try File.remove(unfinished)
        try File.write(bytes, toNew: unfinished)
        try File.rename(unfinished, inside(name))
        try File.syncFolder(path)
    }
}
