// swift-tools-version: 6.2
import PackageDescription

// Built with the flags of the run that follows: what reports nothing here would report nothing there.
let package = Package(
    name: "faults",
    targets: [
        .target(name: "CFaults"),
        .executableTarget(name: "faults", dependencies: ["CFaults"]),
    ]
)
