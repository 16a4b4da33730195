import Foundation
import Testing

@testable import hesper

/// `openapi.yaml` is found where it was named; else beside the binary, then in the working directory.
@Suite struct ShareFolderTests {
    private let folder = TemporaryFolder()
    private var binary: String { folder.path + "/usr/bin/hesper" }
    private var here: String { folder.path + "/here" }

    private func find(named name: String? = nil) -> ShareFolder {
        .find(named: name, binary: binary, workingDirectory: here)
    }

    @Test func theNamedFolderIsTheOnlyOne() throws {
        try folder.write("-", to: "usr/share/hesper/openapi.yaml")
        let named = try folder.write("-", to: "named/openapi.yaml")
        #expect(find(named: folder.path + "/named").contract == named)
        let missing = find(named: here)
        #expect(missing.contract == nil)
        #expect(missing.missing == "No openapi.yaml in \(here): the API runs without /openapi.yaml and /docs.")
    }

    @Test func besideTheBinaryGoesBeforeTheWorkingDirectory() throws {
        let second = try folder.write("-", to: "here/openapi.yaml")
        #expect(find().contract == second)
        let first = try folder.write("-", to: "usr/share/hesper/openapi.yaml")
        #expect(find().contract == first)
        #expect(find().missing == nil)
    }

    @Test func whereItWasLookedForIsSaid() {
        #expect(
            find().missing
                == "No openapi.yaml in \(folder.path)/usr/share/hesper or \(here): the API runs without /openapi.yaml and /docs."
        )
    }
}
