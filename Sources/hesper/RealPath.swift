import Foundation

/// Where a path leads, whatever it is called: through links, and from the working directory, also where nothing is yet.
struct RealPath: Equatable {
    private let parts: [String]

    /// More are taken for a circle, as the system does.
    private static let mostLinks = 40

    init(_ path: String) {
        let start = path.hasPrefix("/") ? "" : FileManager.default.currentDirectoryPath
        var found: [String] = []
        // The next one is the last.
        var rest = Array(RealPath.split("\(start)/\(path)").reversed())
        var links = 0
        while let part = rest.popLast() {
            guard part != ".." else {
                _ = found.popLast()
                continue
            }
            found.append(part)
            let place = "/" + found.joined(separator: "/")
            guard links < RealPath.mostLinks,
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: place)
            else { continue }
            links += 1
            if target.hasPrefix("/") { found = [] } else { found.removeLast() }
            rest += RealPath.split(target).reversed()
        }
        parts = found
    }

    /// Whether the other is this very path, or one below it.
    func contains(_ other: RealPath) -> Bool { other.parts.starts(with: parts) }

    private static func split(_ path: String) -> [String] {
        path.split(separator: "/").map(String.init).filter { $0 != "." }
    }
}
