// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "client", platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "hesper", path: "../..", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "client",
            dependencies: [
                .product(name: "HesperClient", package: "hesper"), .product(name: "GRDB", package: "GRDB.swift"),
            ])
    ]
)
