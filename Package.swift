// swift-tools-version: 6.2
import PackageDescription

// One list of settings for every target, so that no module is less strict than another.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),  // SE-0335
    .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
    .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
    .enableUpcomingFeature("InferIsolatedConformances"),  // SE-0470
    .enableUpcomingFeature("ImmutableWeakCaptures"),  // SE-0481
    // The index for editors, without the symbols of the system. They took a sixth of the time of a debug build.
    .unsafeFlags(["-index-ignore-system-modules"], .when(configuration: .debug)),
]

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let arguments = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

// The addresses of shared libraries are bound at the start and then made read-only.
let hardening: [LinkerSetting] = [
    .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now"])
]

let package = Package(
    name: "understudy",
    products: [
        .executable(name: "understudy", targets: ["understudy"]),
        .executable(name: "understudy-site", targets: ["understudy-site"]),
    ],
    // Exact versions, so that every machine builds the same sources. None of these packages needs another one.
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    ],
    targets: [
        .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd"),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl"),
        .systemLibrary(name: "CPrivileges"),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
        .systemLibrary(name: "CGnuTLS", pkgConfig: "gnutls"),
        .target(name: "HTTPMessage", dependencies: [httpTypes], swiftSettings: settings),
        .target(
            name: "TablesProtocol", dependencies: ["HTTPMessage", httpTypes],
            swiftSettings: settings),
        .target(
            name: "HTTPServer", dependencies: ["HTTPMessage", httpTypes, "CMicroHTTPD"],
            swiftSettings: settings),
        .target(
            name: "HTTPClient", dependencies: ["HTTPMessage", httpTypes, "CCurl"],
            swiftSettings: settings),
        .target(name: "Compression", dependencies: ["CZlib"], swiftSettings: settings),
        .target(name: "Digests", dependencies: ["CGnuTLS"], swiftSettings: settings),
        .target(name: "Signatures", dependencies: ["CGnuTLS"], swiftSettings: settings),
        .target(name: "Platform", dependencies: ["TablesProtocol"], swiftSettings: settings),
        .target(
            name: "Storage", dependencies: [grdb, grdbSQLite, "CSQLite"], swiftSettings: settings),
        .target(name: "PostgreSQL", dependencies: ["CPostgreSQL"], swiftSettings: settings),
        .target(
            name: "SyncCore",
            dependencies: [
                "HTTPMessage", "TablesProtocol", "Platform", "Storage", httpTypes, logging,
            ],
            resources: [.embedInCode("Schema/Schema.sql")],
            swiftSettings: settings),
        .target(
            name: "Backend",
            dependencies: [
                "HTTPMessage", "TablesProtocol", "Storage", httpTypes,
            ],
            swiftSettings: settings),
        .target(
            name: "Site",
            dependencies: [
                "Backend", "TablesProtocol", "Storage", "PostgreSQL", "Digests", "Signatures",
            ],
            resources: [
                .embedInCode("PostgreSQL/Schema.sql"), .embedInCode("PostgreSQL/Partitions.sql"),
            ], swiftSettings: settings),
        .target(
            name: "Proxy",
            dependencies: [
                "HTTPMessage", "TablesProtocol", "Platform", "SyncCore", "Compression", "Digests",
                httpTypes, logging,
            ],
            resources: [.embedInCode("Operator/openapi.json")],
            swiftSettings: settings, plugins: ["DashboardFilesPlugin"]),
        .target(
            name: "Program",
            dependencies: [
                "HTTPMessage", "TablesProtocol", "Platform", "HTTPServer", "HTTPClient", "SyncCore",
                "Storage",
                "Backend", "Digests", httpTypes, logging, arguments,
            ],
            swiftSettings: settings, plugins: ["CommitPlugin"]),
        .executableTarget(
            name: "understudy",
            dependencies: [
                "HTTPMessage", "TablesProtocol", "Platform", "HTTPServer", "HTTPClient",
                "SyncCore", "Proxy", "Backend", "Program", "CPrivileges", httpTypes, logging,
                arguments,
            ],
            swiftSettings: settings, linkerSettings: hardening),
        .executableTarget(
            name: "understudy-site",
            dependencies: [
                "HTTPMessage", "TablesProtocol", "Platform", "HTTPServer", "HTTPClient",
                "SyncCore", "Backend", "Site", "Program", httpTypes, logging, arguments,
            ],
            swiftSettings: settings, linkerSettings: hardening),
        .plugin(name: "CommitPlugin", capability: .buildTool()),
        .plugin(name: "DashboardFilesPlugin", capability: .buildTool()),
        .target(
            name: "Simulator",
            dependencies: [
                "HTTPMessage", "TablesProtocol", "Storage", "SyncCore", "Backend", httpTypes,
                logging,
            ],
            path: "Tests/Simulator", swiftSettings: settings),
        .target(
            name: "TestSupport",
            dependencies: [
                "HTTPMessage", "TablesProtocol", "SyncCore", "Backend", "Site", "Simulator",
                httpTypes,
            ],
            path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(
            name: "HTTPMessageTests", dependencies: ["HTTPMessage", httpTypes],
            swiftSettings: settings),
        .testTarget(
            name: "TablesProtocolTests",
            dependencies: ["TablesProtocol", "HTTPMessage", httpTypes, grdb],
            swiftSettings: settings),
        .testTarget(
            name: "HTTPServerTests", dependencies: ["HTTPServer", "HTTPMessage", httpTypes],
            swiftSettings: settings),
        .testTarget(
            name: "HTTPClientTests",
            dependencies: ["HTTPClient", "HTTPServer", "HTTPMessage", httpTypes],
            swiftSettings: settings),
        .testTarget(
            name: "StorageTests", dependencies: ["Storage", "TestSupport", grdb],
            swiftSettings: settings),
        .testTarget(
            name: "SyncCoreTests",
            dependencies: [
                "SyncCore", "Platform", "Storage", "Backend", "TestSupport", "TablesProtocol",
                "HTTPMessage", httpTypes, grdb, grdbSQLite, logging,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BackendTests",
            dependencies: [
                "Backend", "Site", "PostgreSQL", "Storage", "Signatures", "CGnuTLS", "TestSupport",
                "TablesProtocol", "HTTPMessage", httpTypes,
            ],
            exclude: ["Captures", "Vectors"], swiftSettings: settings),
        .testTarget(
            name: "ProxyTests",
            dependencies: [
                "Proxy", "Storage", "TestSupport", "HTTPMessage", "HTTPServer", "HTTPClient",
                "TablesProtocol", "Platform", "SyncCore", "Backend", "Digests", httpTypes, logging,
            ],
            exclude: ["Captures"], swiftSettings: settings),
        .testTarget(
            name: "understudyTests",
            dependencies: [
                "understudy", "Program", "Platform", "Proxy", "HTTPMessage", "HTTPServer",
                "TablesProtocol", "SyncCore", "Backend", arguments, httpTypes, logging,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "understudySiteTests",
            dependencies: [
                "understudy-site", "Program", "Platform", "Backend", "TablesProtocol", arguments,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "Simulation",
            dependencies: [
                "Simulator", "SyncCore", "Storage", "Backend", "TablesProtocol", "HTTPMessage",
                httpTypes, grdb,
            ],
            path: "Tests/Simulation", swiftSettings: settings),
    ]
)
