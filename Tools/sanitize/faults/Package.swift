// swift-tools-version: 6.2
import PackageDescription

// Built with the same flags as the tests, to verify that these flags report the faults.
let package = Package(
    name: "faults",
    targets: [
        .target(name: "CFaults"),
        .executableTarget(name: "faults", dependencies: ["CFaults"]),
    ]
)
