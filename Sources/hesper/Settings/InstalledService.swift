import Foundation

/// The systemd service of this machine that runs this binary, and the environment that it has.
///
/// Commands use its settings, so that `sudo -u hesper hesper doctor` looks at the data of the service (record 59).
struct InstalledService {
    static let unitName = "hesper.service"

    private let unit: ServiceUnit
    private let root: String

    /// - Parameters:
    ///   - root: the folder that stands for `/`.
    ///   - binary: the one that runs, links followed.
    /// - Returns: nil if there is no service, or it runs another binary than this: what was built in a checkout does not
    ///   touch the data of what is installed.
    init?(root: String = "", binary: String = ShareFolder.binary) {
        guard let unit = ServiceUnit(named: InstalledService.unitName, root: root), let program = unit.command.first,
            RealPath(root + program) == RealPath(binary)
        else { return nil }
        self.unit = unit
        self.root = root
    }

    /// The files that the service's settings come from, those that are there.
    var sources: [String] {
        unit.paths + unit.environmentFiles.map { root + $0.path }.filter(FileManager.default.fileExists)
    }

    /// The variables that the service is started with.
    /// - Parameter user: the user who runs the command.
    /// - Throws: ``Failure`` if they are not for this user, or cannot be known.
    func environment(for user: uid_t = geteuid()) throws -> [String: String] {
        let owner = unit.user ?? "root"
        guard owner == "\(user)" || owner == InstalledService.name(of: user) else {
            throw Failure(
                """
                The service of this machine runs as the user \(owner). Run commands that use its data as the same user: \
                sudo -u \(owner) hesper … For other data, name the folder with --data or HESPER_DATA.
                """, .settings)
        }
        let arguments = unit.command.dropFirst()
        guard arguments == ["serve"] else {
            throw Failure(
                """
                \(unit.paths.joined(separator: ", ")): ExecStart gives flags to hesper serve, which other commands do not \
                read. Set variables in /etc/default/hesper instead, or name the data folder with --data.
                """, .settings)
        }
        var environment = unit.environment
        for file in unit.environmentFiles {
            environment.merge(try variables(in: file)) { $1 }
        }
        guard environment[Setting.data.variable]?.hasPrefix("/") == true else {
            throw Failure(
                """
                The service of this machine has no \(Setting.data.variable) with the absolute path of its data folder. Set it in \
                /etc/default/hesper, or name the folder with --data.
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
                \(path) has the settings of the service and cannot be read by the user \(owner): \
                sudo chgrp \(owner) \(path) && sudo chmod 640 \(path), or name the data folder with --data.
                """, .settings)
        }
    }

    private static func name(of user: uid_t) -> String? {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) }
    }

    /// Adds the service's variables to the environment of this process; those that are set in it stay.
    ///
    /// To the process's own, because libpq and the AWS variables are read there.
    func lendEnvironment() throws {
        let own = ProcessInfo.processInfo.environment
        for (name, value) in try environment() where own[name, default: ""].isEmpty { setenv(name, value, 1) }
        Terminal.complain("Settings are those of the service: \(sources.joined(separator: ", ")).")
    }
}
