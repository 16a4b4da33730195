import HesperModel

/// The marker: a small file beside the bytes of attachments that names the installation that they belong to
/// (storage.md, The marker).
///
///     {"format": "hesper-attachments", "formatVersion": 1, "installation": "9c5b0c0d1f2e3a4b",
///      "nonce": "41d2c3b4a5968778", "contested": false}
public struct BlobMarker: Sendable, Equatable {
    /// The node of the installation's own clocks: every copy of a database has the same.
    public let installation: NodeID
    /// Known to the database that wrote the marker last, and to no copy that was made before.
    public let nonce: UInt64
    /// Whether a server found a nonce here that its database did not write. Then nobody removes anything.
    public var isContested: Bool

    /// Its path among the bytes. No blob has such a name.
    public static let path = "hesper-installation.json"

    private static let format = "hesper-attachments"
    private static let version: Int64 = 1

    public init(installation: NodeID, nonce: UInt64, isContested: Bool = false) {
        self.installation = installation
        self.nonce = nonce
        self.isContested = isContested
    }

    /// Reads what ``bytes`` writes; nil for everything else.
    public init?(_ bytes: [UInt8]) {
        guard case .object(let object)? = try? JSONReader.read(bytes),
            object["format"] == .string(BlobMarker.format), object["formatVersion"] == .integer(BlobMarker.version),
            case .string(let installation)? = object["installation"], let node = NodeID(installation),
            case .string(let digits)? = object["nonce"], let nonce = NodeID(digits)?.rawValue,
            case .bool(let isContested)? = object["contested"]
        else { return nil }
        self.init(installation: node, nonce: nonce, isContested: isContested)
    }

    public var bytes: [UInt8] {
        var writer = JSONWriter(capacity: 160)
        writer.object { writer in
            writer.member("format", BlobMarker.format)
            writer.member("formatVersion", BlobMarker.version)
            writer.member("installation", installation.description)
            // Both are 64 bits in 16 hex digits.
            writer.member("nonce", NodeID(nonce).description)
            writer.member("contested", isContested)
        }
        return writer.bytes + Array("\n".utf8)
    }
}
