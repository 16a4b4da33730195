import Foundation
import Testing

@testable import hesper

/// Resolving paths, and whether one contains another.
@Suite struct RealPathTests {
    private let folder = TemporaryFolder()

    /// `link` points to `data`, `deep/link` to `link`, `later` to a missing file, and `circle` to itself.
    private func prepare() throws {
        try folder.write("-", to: "data/file")
        try folder.write("-", to: "deep/file")
        let links = ["link": "data", "deep/link": "../link", "later": "data/later", "circle": "circle"]
        for (link, target) in links {
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder.path)/\(link)", withDestinationPath: target)
        }
    }

    private func path(_ name: String) -> RealPath { RealPath("\(folder.path)/\(name)") }

    @Test(arguments: [
        "data", "data/", "data/./x", "link", "link/x/y", "deep/link/x", "deep/../data", "nowhere/../data/x",
        "link/../data/x", "later", "later/x", "data//file",
    ])
    func pathsInsideAFolder(_ name: String) throws {
        try prepare()
        #expect(path("data").contains(path(name)) && path("link").contains(path(name)))
    }

    @Test(arguments: ["", "database", "data/..", "link/../x", "deep", "circle", "circle/data", "nowhere/data"])
    func pathsOutsideAFolder(_ name: String) throws {
        try prepare()
        #expect(!path("data").contains(path(name)))
    }

    @Test func equalPaths() throws {
        try prepare()
        #expect(path("deep/link/x") == path("data/x"))
        #expect(path("later") == path("data/later"))
        #expect(path("data") != path("deep"))
        #expect(RealPath("") == RealPath(FileManager.default.currentDirectoryPath))
        #expect(RealPath("x") == RealPath("./nowhere/../x"))
        #expect(RealPath("/").contains(path("data")))
    }
}
