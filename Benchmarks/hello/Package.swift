// swift-tools-version: 6.2
import PackageDescription

// A plain Hummingbird server for comparison. A separate package, so that it is built only for benchmarks.
let package = Package(
    name: "hello",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1")],
    targets: [
        .executableTarget(name: "hello", dependencies: [.product(name: "Hummingbird", package: "hummingbird")])
    ]
)
