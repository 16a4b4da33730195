// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "recipes",
    platforms: [.macOS(.v15)],
    dependencies: [
        // An app outside of this repository writes the URL of the repository and a version instead of the path.
        .package(name: "hesper", path: "../..", traits: [])
    ],
    targets: [
        .executableTarget(name: "recipes", dependencies: [.product(name: "HesperClient", package: "hesper")])
    ]
)
