import Foundation

/// An absolute path with its symbolic links resolved. Neither the file nor the folders of the path need to exist.
struct RealPath: Equatable {
    private let parts: [String]

    /// The maximum number of links to follow, as in the Linux kernel. If there are more, the links are assumed to form a loop.
    private static let maximumLinks = 40

    init(_ path: String) {
        let start = path.hasPrefix("/") ? "" : FileManager.default.currentDirectoryPath
        var found: [String] = []
        // The components that are not resolved yet, in reverse order: the next component is the last element.
        var rest = Array(RealPath.split("\(start)/\(path)").reversed())
        var links = 0
        while let part = rest.popLast() {
            guard part != ".." else {
                _ = found.popLast()
                continue
            }
            found.append(part)
            let current = "/" + found.joined(separator: "/")
            guard links < RealPath.maximumLinks,
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: current)
            else { continue }
            links += 1
            if target.hasPrefix("/") { found = [] } else { found.removeLast() }
            rest += RealPath.split(target).reversed()
        }
        parts = found
    }

    /// Whether another path is equal to this path or is inside it.
    func contains(_ other: RealPath) -> Bool { other.parts.starts(with: parts) }

    private static func split(_ path: String) -> [String] {
        path.split(separator: "/").map(String.init).filter { $0 != "." }
    }
}
