// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "hesper",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "HesperClient", targets: ["HesperClient"]),
        .library(name: "HesperClientTesting", targets: ["HesperClientTesting"]),
        .library(name: "HesperModel", targets: ["HesperModel"]),
        .executable(name: "hesper", targets: ["hesper"]),
    ],
    traits: [
        .trait(name: "Server", description: "What only the server needs. An app that uses HesperClient leaves it out."),
        .default(enabledTraits: ["Server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        .target(name: "HesperModel", dependencies: [.product(name: "Crypto", package: "swift-crypto")]),
        .target(
            name: "HesperClient",
            dependencies: [
                "HesperModel", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .target(name: "HesperClientTesting", dependencies: ["HesperClient", "HesperModel"]),
        .systemLibrary(name: "CFolder"),
        .target(
            name: "HesperMirror",
            dependencies: ["CFolder", "HesperClient", "HesperModel", .product(name: "Crypto", package: "swift-crypto")]),
        .testTarget(
            name: "HesperMirrorTests",
            dependencies: ["HesperClient", "HesperClientTesting", "HesperMirror", "HesperModel"]),
        .executableTarget(name: "simulate", dependencies: ["HesperClientTesting"], path: "Tests/Simulate"),
        .executableTarget(
            name: "client-device", dependencies: ["HesperClient", "HesperModel"], path: "Tests/ClientDevice"),
        .target(
            name: "HesperStore",
            dependencies: [
                "CZlib", "HesperModel", .server("NIOConcurrencyHelpers", in: "swift-nio"),
                .server("NIOCore", in: "swift-nio"),
            ]),
        .target(
            name: "HesperBlobs",
            dependencies: [
                "HesperStore",
                .server("AsyncHTTPClient", in: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .server("NIOConcurrencyHelpers", in: "swift-nio"),
                .server("NIOCore", in: "swift-nio"),
                .server("NIOHTTP1", in: "swift-nio"),
                .server("NIOPosix", in: "swift-nio"),
            ]),
        .target(name: "HesperSQL", dependencies: ["HesperStore"]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
        .target(
            name: "HesperSQLite",
            dependencies: [
                "CSQLite", "HesperSQL", "HesperStore",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        .systemLibrary(
            name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev", "libssl-dev"]), .brew(["libpq"])]),
        .target(
            name: "HesperPostgres",
            dependencies: [
                "CPostgres", "HesperSQL", "HesperStore",
                .server("NIOConcurrencyHelpers", in: "swift-nio"),
                .server("NIOCore", in: "swift-nio"),
                .server("NIOPosix", in: "swift-nio"),
            ]),
        .systemLibrary(
            name: "CArchive", pkgConfig: "libarchive",
            providers: [.apt(["libarchive-dev"]), .brew(["libarchive"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .target(
            name: "HesperArchive",
            dependencies: [
                "CArchive", "HesperStore",
                .server("NIOCore", in: "swift-nio"),
                .server("NIOPosix", in: "swift-nio"),
            ]),
        .systemLibrary(
            name: "CXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"]), .brew(["libxml2"])]),
        .target(
            name: "HesperMoveIn",
            dependencies: ["CXML2", "HesperArchive", "HesperModel", .product(name: "Crypto", package: "swift-crypto")]),
        .testTarget(name: "HesperMoveInTests", dependencies: ["HesperModel", "HesperMoveIn"]),
        .target(
            name: "HesperImport",
            dependencies: [
                "HesperArchive", "HesperMoveIn", "HesperStore",
                .server("NIOConcurrencyHelpers", in: "swift-nio"),
                .server("NIOCore", in: "swift-nio"),
                .server("NIOPosix", in: "swift-nio"),
            ]),
        .target(
            name: "HesperServer",
            dependencies: [
                "CZlib", "HesperArchive", "HesperImport", "HesperMoveIn", "HesperStore",
                .server("AsyncHTTPClient", in: "async-http-client"),
                .server("Hummingbird", in: "hummingbird"),
                .server("HummingbirdCore", in: "hummingbird"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Crypto", package: "swift-crypto"),
                .server("Logging", in: "swift-log"),
                .server("NIOConcurrencyHelpers", in: "swift-nio"),
                .server("NIOCore", in: "swift-nio"),
                .server("NIOHTTP1", in: "swift-nio"),
                .server("NIOHTTP2", in: "swift-nio-http2"),
                .server("NIOHTTPTypesHTTP2", in: "swift-nio-extras"),
                .server("NIOPosix", in: "swift-nio"),
                .server("NIOSSL", in: "swift-nio-ssl"),
                .server("NIOTLS", in: "swift-nio"),
                .server("RawStructuredFieldValues", in: "swift-http-structured-headers"),
                .server("ServiceLifecycle", in: "swift-service-lifecycle"),
                .server("Yams", in: "Yams"),
            ]),
        .executableTarget(
            name: "hesper",
            dependencies: [
                "HesperArchive", "HesperBlobs", "HesperImport", "HesperMirror", "HesperMoveIn", "HesperPostgres",
                "HesperServer", "HesperSQLite",
                .server("ArgumentParser", in: "swift-argument-parser"),
                .server("Configuration", in: "swift-configuration"),
                .product(name: "Crypto", package: "swift-crypto"),
                .server("Logging", in: "swift-log"),
                .server("NIOConcurrencyHelpers", in: "swift-nio"),
                .server("NIOCore", in: "swift-nio"),
                .server("NIOPosix", in: "swift-nio"),
                .server("ServiceLifecycle", in: "swift-service-lifecycle"),
                .server("SwiftASN1", in: "swift-asn1"),
                .server("X509", in: "swift-certificates"),
            ]),
        .testTarget(
            name: "hesperTests",
            dependencies: [
                "hesper", "HesperArchive", "HesperBlobs", "HesperImport", "HesperMoveIn", "HesperSQLite",
                .server("ArgumentParser", in: "swift-argument-parser"),
                .server("NIOCore", in: "swift-nio"),
                .server("X509", in: "swift-certificates"),
            ]),
        .testTarget(
            name: "HesperArchiveTests",
            dependencies: [
                "HesperArchive", "HesperBlobs", "HesperSQLite", .server("NIOCore", in: "swift-nio"),
            ]),
        .testTarget(name: "HouseTests"),
        .testTarget(
            name: "HesperClientTests",
            dependencies: [
                "HesperClient", "HesperClientTesting", "HesperModel", .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(name: "HesperModelTests", dependencies: ["HesperModel"]),
        .executableTarget(name: "merge-trials", dependencies: ["HesperModel"], path: "Tests/MergeTrials"),
        .testTarget(
            name: "HesperStoreTests", dependencies: ["HesperStore", .server("NIOCore", in: "swift-nio")]),
        .target(
            name: "StoreContract",
            dependencies: [
                "HesperStore", .product(name: "Crypto", package: "swift-crypto"),
                .server("NIOConcurrencyHelpers", in: "swift-nio"),
                .server("NIOCore", in: "swift-nio"),
            ], path: "Tests/StoreContract"),
        .testTarget(
            name: "HesperBlobsTests",
            dependencies: [
                "HesperBlobs", "StoreContract", .server("NIOConcurrencyHelpers", in: "swift-nio"),
                .server("NIOCore", in: "swift-nio"),
                .server("NIOHTTP1", in: "swift-nio"),
                .server("NIOPosix", in: "swift-nio"),
            ]),
        .testTarget(
            name: "HesperSQLiteTests",
            dependencies: [
                "HesperSQLite", "StoreContract", .product(name: "GRDB", package: "GRDB.swift"),
                .server("NIOConcurrencyHelpers", in: "swift-nio"),
            ]),
        .testTarget(
            name: "HesperPostgresTests",
            dependencies: [
                "HesperBlobs", "HesperPostgres", "StoreContract",
                .server("NIOConcurrencyHelpers", in: "swift-nio"),
                .server("NIOCore", in: "swift-nio"),
            ], exclude: ["Servers/postgres.sh"]),
        .testTarget(
            name: "HesperServerTests",
            dependencies: [
                "HesperServer", "HesperImport", "HesperSQLite", "HesperBlobs",
                .product(name: "Crypto", package: "swift-crypto"),
                .server("HummingbirdTesting", in: "hummingbird"),
                .server("NIOEmbedded", in: "swift-nio"),
                .server("SwiftASN1", in: "swift-asn1"),
                .server("X509", in: "swift-certificates"),
                .server("Yams", in: "Yams"),
            ]),
    ]
)

extension Target.Dependency {
    /// A product that only the server needs: without the trait `Server`, its package is not even resolved.
    static func server(_ product: String, in package: String) -> Target.Dependency {
        .product(name: product, package: package, condition: .when(traits: ["Server"]))
    }
}
