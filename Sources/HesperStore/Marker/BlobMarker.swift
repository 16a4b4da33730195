import HesperModel

/// The marker: a small file beside the attachments that contains the ID of the installation that the attachments belong to
/// (storage.md, The marker).
///
///     {"format": "hesper-attachments", "formatVersion": 1, "installation": "9c5b0c0d1f2e3a4b",
///      "nonce": "41d2c3b4a5968778", "contested": false}
public struct BlobMarker: Sendable, Equatable {
    /// The ID of the installation. It is the node that the installation's servers use in clocks. All copies of a database have the
    /// same node.
    public let installation: NodeID
    /// A random number. Only the database that wrote the marker most recently knows it; copies of the database that were made
    /// earlier do not.
    public let nonce: UInt64
    /// Whether a server has found a marker with a nonce that the server's database did not write. While this is true, no server
    /// removes attachments.
    public var isContested: Bool

    /// The path of the marker in the blob store. No blob can have this path.
    public static let path = "hesper-installation.json"

    private static let format = "hesper-attachments"
    private static let version: Int64 = 1

    public init(installation: NodeID, nonce: UInt64, isContested: Bool = false) {
        self.installation = installation
        self.nonce = nonce
        self.isContested = isContested
    }

    /// Parses the content of a marker file; nil if the content is not a marker that this version can read.
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
            // A nonce has the same format as a node: 64 bits as 16 hex digits.
            writer.member("nonce", NodeID(nonce).description)
            writer.member("contested", isContested)
        }
        return writer.bytes + Array("\n".utf8)
    }
}
