import Foundation
import HesperModel
import NIOConcurrencyHelpers
import NIOCore

@testable import HesperBlobs

/// A server with the S3 API, shared by all tests. It ends with the test process.
struct SeaweedFS: Sendable {
    let port: Int
    static let bucket = "hesper-tests"
    static let keys = S3Credentials(accessKeyID: "AKIAHESPERTESTS", secretAccessKey: "a/secret+of/tests")

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let program = root.appending(path: ".build/venv/bin/weed").path
    static let isInstalled = FileManager.default.isExecutableFile(atPath: program)
    static let absence = "SeaweedFS is not installed. Run Tools/set-up.sh test"

    /// Started on first use.
    static var running: SeaweedFS { get async throws { try await server.value } }
    private static let server = Task {
        for _ in 0..<2 { if let server = try? await start() { return server } }
        return try await start()
    }

    /// The pipe that keeps the server running.
    private static let lifelines = NIOLockedValueBox<[Pipe]>([])

    struct DidNotStart: Error { let log: String }

    private static func start() async throws -> SeaweedFS {
        let folder = root.appending(path: ".build/tests/\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder.appending(path: "data"), withIntermediateDirectories: true)
        try Data(
            """
            {"identities": [{"name": "hesper", "actions": ["Admin", "Read", "Write", "List", "Tagging"], "credentials":
            [{"accessKey": "\(keys.accessKeyID)", "secretKey": "\(keys.secretAccessKey)"}]}]}
            """.utf8
        ).write(to: folder.appending(path: "s3.json"))
        let ports = try Loopback.freePorts(8)
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.currentDirectoryURL = folder
        // The shell waits for the end of its input, which is closed when the test process ends.
        process.arguments = [
            "-c", #"exec >log 2>&1; "$@" & cat; kill -9 $!; wait; rm -rf "$PWD""#, "sh",
            program, "server", "-ip", "127.0.0.1", "-ip.bind", "127.0.0.1", "-dir", "data", "-filer", "-s3",
            "-s3.config", "s3.json", "-s3.port", "\(ports[0])", "-s3.port.grpc", "\(ports[1])",
            "-s3.port.iceberg", "0", "-s3.port.lance", "0", "-master.port", "\(ports[2])",
            "-master.port.grpc", "\(ports[3])", "-volume.port", "\(ports[4])", "-volume.port.grpc", "\(ports[5])",
            "-filer.port", "\(ports[6])", "-filer.port.grpc", "\(ports[7])", "-filer.localSocket", "filer.sock",
            "-s3.localSocket", "s3.sock", "-master.telemetry=false", "-volume.max", "20",
            "-master.volumeSizeLimitMB", "256",
        ]
        let input = Pipe()
        process.standardInput = input
        try process.run()
        let server = SeaweedFS(port: ports[0])
        let client = S3Client(try server.location())
        let end = Date(timeIntervalSinceNow: 40)
        while Date() < end, process.isRunning {
            if (try? await client.receive(S3Request(.PUT), within: .seconds(5))) != nil {
                lifelines.withLockedValue { $0.append(input) }
                return server
            }
            try await Task.sleep(for: .milliseconds(200))
        }
        let log = try? String(contentsOf: folder.appending(path: "log"), encoding: .utf8)
        throw DidNotStart(log: log.map { String($0.suffix(2_000)) } ?? "no log")
    }

    /// A location with its own prefix in the bucket.
    /// - Parameter port: the port of a proxy for the server.
    func location(
        prefix: String = UUID().uuidString, port: Int? = nil, bucket: String = SeaweedFS.bucket,
        keys: S3Credentials = SeaweedFS.keys
    ) throws -> S3Location {
        try S3Location(
            "s3://\(bucket)/\(prefix)",
            environment: [
                "AWS_ACCESS_KEY_ID": keys.accessKeyID, "AWS_SECRET_ACCESS_KEY": keys.secretAccessKey,
                "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:\(port ?? self.port)",
            ])
    }
}
