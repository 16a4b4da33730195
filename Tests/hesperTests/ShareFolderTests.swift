import Foundation
import Testing

@testable import hesper

/// `Public` and `openapi.yaml` are found where it was named; else beside the binary, then in the working directory.
@Suite struct ShareFolderTests {
    private let folder = TemporaryFolder()
    private var binary: String { folder.path + "/usr/bin/hesper" }
    private var here: String { folder.path + "/here" }

    private func find(named name: String? = nil) -> ShareFolder {
        .find(named: name, binary: binary, workingDirectory: here)
    }

    @Test func theNamedFolderIsTheOnlyOne() throws {
        try folder.write("-", to: "usr/share/hesper/openapi.yaml")
        try folder.write("-", to: "usr/share/hesper/Public/index.html")
        let named = try folder.write("-", to: "named/openapi.yaml")
        try folder.write("-", to: "named/Public/index.html")
        #expect(find(named: folder.path + "/named").contract == named)
        #expect(find(named: folder.path + "/named").webApp == folder.path + "/named/Public")
        #expect(find(named: folder.path + "/named").missing.isEmpty)
        let missing = find(named: here)
        #expect(missing.contract == nil && missing.webApp == nil)
        #expect(
            missing.missing == [
                "No Public/index.html in \(here): the API runs without the web app.",
                "No openapi.yaml in \(here): the API runs without /openapi.yaml and /docs.",
            ])
    }

    @Test func besideTheBinaryGoesBeforeTheWorkingDirectory() throws {
        let second = try folder.write("-", to: "here/openapi.yaml")
        try folder.write("-", to: "here/Public/index.html")
        #expect(find().contract == second)
        #expect(find().webApp == here + "/Public")
        let first = try folder.write("-", to: "usr/share/hesper/openapi.yaml")
        #expect(find().contract == first)
        #expect(find().webApp == here + "/Public", "each is looked for by itself")
        try folder.write("-", to: "usr/share/hesper/Public/index.html")
        #expect(find().webApp == folder.path + "/usr/share/hesper/Public")
        #expect(find().missing.isEmpty)
    }

    @Test func aFolderWithoutThePageIsNoWebApp() throws {
        try folder.write("-", to: "here/Public/css/app.css")
        #expect(find().webApp == nil)
    }

    @Test func whereItWasLookedForIsSaid() {
        #expect(
            find().missing.last
                == "No openapi.yaml in \(folder.path)/usr/share/hesper or \(here): the API runs without /openapi.yaml and /docs."
        )
    }
}
