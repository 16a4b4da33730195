import Foundation
import Testing

@testable import hesper

/// `Public` and `openapi.yaml` are searched in the configured folder, or else beside the binary and in the working directory.
@Suite struct ShareFolderTests {
    private let folder = TemporaryFolder()
    private var binary: String { folder.path + "/usr/bin/hesper" }
    private var here: String { folder.path + "/here" }

    private func find(named name: String? = nil) -> ShareFolder {
        .find(named: name, binary: binary, workingDirectory: here)
    }

    @Test func onlyTheConfiguredFolderIsSearched() throws {
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
                "Public/index.html not found in \(here). The web app is not available.",
                "openapi.yaml not found in \(here). /openapi.yaml and /docs are not available.",
            ])
    }

    @Test func folderBesideTheBinaryIsPreferred() throws {
        let second = try folder.write("-", to: "here/openapi.yaml")
        try folder.write("-", to: "here/Public/index.html")
        #expect(find().contract == second)
        #expect(find().webApp == here + "/Public")
        let first = try folder.write("-", to: "usr/share/hesper/openapi.yaml")
        #expect(find().contract == first)
        #expect(find().webApp == here + "/Public", "each file is searched separately")
        try folder.write("-", to: "usr/share/hesper/Public/index.html")
        #expect(find().webApp == folder.path + "/usr/share/hesper/Public")
        #expect(find().missing.isEmpty)
    }

    @Test func folderWithoutIndexIsNoWebApp() throws {
        try folder.write("-", to: "here/Public/css/app.css")
        #expect(find().webApp == nil)
    }

    @Test func missingFilesAreReportedWithTheSearchedFolders() {
        #expect(
            find().missing.last
                == "openapi.yaml not found in \(folder.path)/usr/share/hesper or \(here). /openapi.yaml and /docs are not available."
        )
    }
}
