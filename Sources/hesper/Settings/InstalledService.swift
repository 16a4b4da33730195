import Foundation

/// The systemd service of Hesper on this machine, with its environment. A service that runs another binary is ignored.
///
/// Commands use the settings of the service, so that `sudo -u hesper hesper doctor` checks the data of the service (decision
/// 59).
struct InstalledService {
    static let unitName = "hesper.service"

    private let unit: ServiceUnit
    private let root: String

    /// Finds the installed service.
    /// - Parameters:
    ///   - root: the root of the file system.
    ///   - binary: the path of the running binary, with links resolved.
    /// - Returns: nil if there is no service, or if the service runs another binary. For example, a binary that was built from
    ///   source does not use the data of the installed service.
    init?(root: String = "", binary: String = ShareFolder.binary) {
        guard let unit = ServiceUnit(named: InstalledService.unitName, root: root), let program = unit.command.first,
            RealPath(root + program) == RealPath(binary)
        else { return nil }
        self.unit = unit
        self.root = root
    }

    /// The paths of the files that contain the settings of the service. Files that do not exist are left out.
    var sources: [String] {
        unit.paths + unit.environmentFiles.map { root + $0.path }.filter(FileManager.default.fileExists)
    }

    /// The environment variables of the service.
    /// - Parameter user: the user that runs the command.
    /// - Throws: ``Failure`` if this user is not the user of the service, or if the variables cannot be determined.
    func environment(for user: uid_t = geteuid()) throws -> [String: String] {
        let owner = unit.user ?? "root"
        guard owner == "\(user)" || owner == InstalledService.name(of: user) else {
            throw Failure(
                """
                The service on this machine runs as the user \(owner). Run commands that use its data as that user: \
                sudo -u \(owner) hesper … To use other data, set the folder with --data or HESPER_DATA.
                """, .settings)
        }
        let arguments = unit.command.dropFirst()
        guard arguments == ["serve"] else {
            throw Failure(
                """
                \(unit.paths.joined(separator: ", ")): ExecStart passes options to hesper serve. Other commands do not read \
                them. Set variables in /etc/default/hesper instead, or set the data folder with --data.
                """, .settings)
        }
        var environment = unit.environment
        for file in unit.environmentFiles {
            environment.merge(try variables(in: file)) { $1 }
        }
        guard environment[Setting.data.variable]?.hasPrefix("/") == true else {
            throw Failure(
                """
                \(Setting.data.variable) of the service on this machine must be the absolute path of its data folder. Set it in \
                /etc/default/hesper, or set the folder with --data.
                """, .settings)
        }
        return environment
    }

    private func variables(in file: ServiceUnit.File) throws -> [String: String] {
        let path = root + file.path
        do {
            return EnvironmentFile(String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)).variables
        } catch {
            if file.isOptional, (error as? CocoaError)?.code == .fileReadNoSuchFile { return [:] }
            let owner = unit.user ?? "root"
            throw Failure(
                """
                The user \(owner) cannot read the settings of the service in \(path). Run \
                sudo chgrp \(owner) \(path) && sudo chmod 640 \(path), or set the data folder with --data.
                """, .settings)
        }
    }

    private static func name(of user: uid_t) -> String? {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) }
    }

    /// Adds the service's variables to the environment of this process. Variables that the process already has are not
    /// replaced.
    ///
    /// The process environment is changed because libpq and the S3 client read it too.
    func addToEnvironment() throws {
        let own = ProcessInfo.processInfo.environment
        for (name, value) in try environment() where own[name, default: ""].isEmpty { setenv(name, value, 1) }
        Terminal.printError("Using the settings of the service: \(sources.joined(separator: ", ")).")
    }
}
