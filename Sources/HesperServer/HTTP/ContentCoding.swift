import HTTPTypes

/// A compression of message bodies (RFC 9110, 8.4.1).
enum ContentCoding: String, CaseIterable, Sendable {
    /// RFC 1952.
    case gzip
    /// RFC 1950, zlib's form of RFC 1951.
    case deflate

    /// All codings, as in `Accept-Encoding`.
    static let list = allCases.map(\.rawValue).joined(separator: ", ")

    /// Parses a name from a header, ignoring case; `x-gzip` is gzip.
    init?(name: some StringProtocol) {
        let name = name.lowercased()
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }

    /// The coding that `Accept-Encoding` prefers; nil if it accepts none.
    static func preferred(by header: String?) -> ContentCoding? {
        guard let header else { return nil }
        var weights: [ContentCoding: Double] = [:]
        var others = 0.0
        for element in header.split(separator: ",") {
            let parts = element.split(separator: ";").map(\.trimmed)
            guard let name = parts.first else { continue }
            let weight = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }.map {
                Double($0.dropFirst(2)) ?? 0
            }
            if name == "*" {
                others = weight ?? 1
            } else if let coding = ContentCoding(name: name) {
                weights[coding] = weight ?? 1
            }
        }
        var best: (coding: ContentCoding, weight: Double)?
        for coding in allCases {
            let weight = weights[coding] ?? others
            if weight > (best?.weight ?? 0) { best = (coding, weight) }
        }
        return best?.coding
    }

    /// zlib's `windowBits`: a window of 32 KiB; 16 is added for the gzip format.
    var windowBits: Int32 { self == .gzip ? 15 + 16 : 15 }
}
