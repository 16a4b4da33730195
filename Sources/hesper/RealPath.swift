import Foundation

/// Where a path leads, whatever it is called: through links, and from the working directory.
struct RealPath: Equatable {
    private let path: String

    init(_ path: String) { self.path = URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath().path }
}
