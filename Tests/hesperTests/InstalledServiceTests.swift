import Foundation
import Testing

@testable import hesper

/// Settings of the service in its unit, drop-ins and environment files. A temporary folder stands for the root.
@Suite struct InstalledServiceTests {
    private let root = TemporaryFolder()
    private let user = String(geteuid())

    private func service(
        _ lines: [String] = ["Environment=HESPER_DATA=/var/lib/hesper HESPER_SIGN_UP=closed"], command: String = "serve"
    ) throws -> InstalledService? {
        let unit = [
            "[Unit]", "Environment=HESPER_DATA=/unit", "[Service]", "User=\(user)", "ExecStart=/bin/h \(command)",
        ]
        try root.write((unit + lines).joined(separator: "\n"), to: "lib/systemd/system/hesper.service")
        return try found()
    }

    private func found() throws -> InstalledService? {
        InstalledService(root: root.path, binary: try root.write("", to: "bin/h"))
    }

    @Test func serviceIsFoundOnlyByItsOwnBinary() throws {
        #expect(try found() == nil)
        let service = try #require(try service())
        #expect(try service.environment() == ["HESPER_DATA": "/var/lib/hesper", "HESPER_SIGN_UP": "closed"])
        #expect(service.sources == [root.path + "/lib/systemd/system/hesper.service"])
        #expect(InstalledService(root: root.path, binary: try root.write("", to: "checkout/h")) == nil)
        let link = root.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "bin/h")
        #expect(InstalledService(root: root.path, binary: link) != nil)
    }

    @Test func environmentFilesOverrideTheUnit() throws {
        let path = try root.write("HESPER_SIGN_UP=open\nPGPASSFILE=/etc/pass\n", to: "etc/default/hesper")
        let lines = ["EnvironmentFile=-/etc/default/hesper", "Environment=HESPER_DATA=/d HESPER_SIGN_UP=closed"]
        let service = try #require(try service(lines))
        #expect(
            try service.environment() == ["HESPER_DATA": "/d", "HESPER_SIGN_UP": "open", "PGPASSFILE": "/etc/pass"])
        #expect(service.sources.last == path)
    }

    @Test func onlyOptionalFilesMayBeMissing() throws {
        let data = "Environment=HESPER_DATA=/d"
        let optional = try #require(try service([data, "EnvironmentFile=-/etc/default/hesper"]))
        #expect(try optional.environment() == ["HESPER_DATA": "/d"])
        let needed = try #require(try service([data, "EnvironmentFile=/etc/default/hesper"]))
        #expect(
            settingsError { _ = try needed.environment() }?.contains(
                "the settings of the service in \(root.path)/etc/default/hesper") == true)
    }

    @Test func dropInsAreAppliedInOrder() throws {
        try root.write("[Service]\nEnvironment=HESPER_PORT=2", to: "etc/systemd/system/hesper.service.d/b.conf")
        try root.write(
            "[Service]\nEnvironment=\nEnvironment=\"HESPER_DATA=/a b\" \\\n# no\n 'HESPER_PORT=1'",
            to: "etc/systemd/system/hesper.service.d/a.conf")
        try root.write("[Service]\nEnvironment=HESPER_PORT=3", to: "lib/systemd/system/hesper.service.d/b.conf")
        let service = try #require(try service())
        #expect(try service.environment() == ["HESPER_DATA": "/a b", "HESPER_PORT": "2"])
        #expect(service.sources.map { URL(filePath: $0).lastPathComponent } == ["hesper.service", "a.conf", "b.conf"])
    }

    @Test func otherUsersAreRefused() throws {
        let service = try #require(try service(["Environment=HESPER_DATA=/d", "User=hesper-of-tests"]))
        let message = settingsError { _ = try service.environment() }
        #expect(message?.contains("runs as the user hesper-of-tests") == true)
        #expect(message?.contains("sudo -u hesper-of-tests hesper …") == true)
    }

    @Test(arguments: ["serve --data /elsewhere", "serve --port 1"])
    func optionsInExecStartAreRefused(_ command: String) throws {
        let service = try #require(try service(command: command))
        #expect(
            settingsError { _ = try service.environment() }?.contains("ExecStart passes options to hesper serve")
                == true)
    }

    @Test(arguments: ["HESPER_PORT=1", "HESPER_DATA=data"])
    func dataFolderMustBeAnAbsolutePath(_ variable: String) throws {
        let service = try #require(try service(["Environment=\(variable)"]))
        let message = settingsError { _ = try service.environment() }
        #expect(message?.contains("HESPER_DATA of the service on this machine must be the absolute path") == true)
    }
}
