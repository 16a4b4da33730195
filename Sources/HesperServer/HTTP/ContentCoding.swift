import HTTPTypes

/// A compression format for message bodies, which HTTP calls a content coding (RFC 9110, 8.4.1).
enum ContentCoding: String, CaseIterable, Sendable {
    /// The gzip format (RFC 1952).
    case gzip
    /// The zlib format (RFC 1950). It contains data in the deflate format (RFC 1951).
    case deflate

    /// The names of all codings, separated by commas as in `Accept-Encoding`.
    static let list = allCases.map(\.rawValue).joined(separator: ", ")

    /// Parses the name of a coding in a header. Case is ignored, and `x-gzip` is another name of `gzip`.
    init?(name: some StringProtocol) {
        let name = name.lowercased()
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }

    /// The coding to which an `Accept-Encoding` header gives the highest weight; nil if the header accepts no supported coding.
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

    /// The argument `windowBits` of zlib: 15 for a window of 32 KiB. Adding 16 selects the gzip format.
    var windowBits: Int32 { self == .gzip ? 15 + 16 : 15 }
}
