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
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let arguments = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser")
let lifecycle = Target.Dependency.product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

// No target imports these. SwiftPM warns about a package of which no target uses a product.
let pinned: [Target.Dependency] = [
    .product(name: "SwiftASN1", package: "swift-asn1", condition: .when(platforms: [.windows])),
    .product(
        name: "AsyncAlgorithms", package: "swift-async-algorithms",
        condition: .when(platforms: [.windows])),
    .product(
        name: "DequeModule", package: "swift-collections",
        condition: .when(platforms: [.windows])),
]

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
    // Exact versions, so that every machine builds the same sources. The last three are dependencies of these
    // packages; they are named to fix their versions too.
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-asn1.git", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-async-algorithms.git", exact: "1.1.4"),
        .package(url: "https://github.com/apple/swift-collections.git", exact: "1.6.0"),
    ],
    targets: [
        .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd"),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl"),
        .systemLibrary(name: "CPrivileges"),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib"),
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
        .target(name: "Storage", dependencies: [grdb, grdbSQLite], swiftSettings: settings),
        .target(name: "PostgreSQL", dependencies: ["CPostgreSQL"], swiftSettings: settings),
        .target(
            name: "SyncCore",
            dependencies: ["HTTPMessage", "TablesProtocol", "Storage", httpTypes, logging],
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
                "Backend", "TablesProtocol", "Storage", "PostgreSQL", crypto, cryptoExtras,
            ],
            resources: [
                .embedInCode("PostgreSQL/Schema.sql"), .embedInCode("PostgreSQL/Partitions.sql"),
            ], swiftSettings: settings),
        .target(
            name: "Proxy",
            dependencies: [
                "HTTPMessage", "TablesProtocol", "SyncCore", "Compression", httpTypes, logging,
                crypto,
            ],
            resources: [.embedInCode("Public"), .embedInCode("Operator/openapi.json")],
            swiftSettings: settings, plugins: ["DashboardFilesPlugin"]),
        .target(
            name: "Program",
            dependencies: [
                "TablesProtocol", "HTTPServer", "HTTPClient", "SyncCore", "Proxy", "Backend",
                httpTypes, logging, arguments, lifecycle, signals,
            ],
            swiftSettings: settings, plugins: ["CommitPlugin"]),
        .executableTarget(
            name: "understudy",
            dependencies: [
                "HTTPMessage", "TablesProtocol", "HTTPServer", "HTTPClient", "SyncCore", "Proxy",
                "Backend", "Program", "CPrivileges", httpTypes, logging, arguments,
                lifecycle, signals,
            ] + pinned,
            swiftSettings: settings, linkerSettings: hardening),
        .executableTarget(
            name: "understudy-site",
            dependencies: [
                "HTTPMessage", "TablesProtocol", "HTTPServer", "HTTPClient", "SyncCore", "Proxy",
                "Backend", "Site", "Program", httpTypes, logging, arguments, signals,
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
                "SyncCore", "Storage", "Backend", "TestSupport", "TablesProtocol", "HTTPMessage",
                httpTypes, grdb, grdbSQLite, logging,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BackendTests",
            dependencies: [
                "Backend", "Site", "PostgreSQL", "Storage", "TestSupport", "TablesProtocol",
                "HTTPMessage", httpTypes, crypto, cryptoExtras,
            ],
            exclude: ["Captures", "Vectors"], swiftSettings: settings),
        .testTarget(
            name: "ProxyTests",
            dependencies: [
                "Proxy", "TestSupport", "HTTPMessage", "HTTPServer", "HTTPClient", "TablesProtocol",
                "SyncCore", "Backend", httpTypes, logging, crypto,
            ],
            exclude: ["Captures"], swiftSettings: settings),
        .testTarget(
            name: "understudyTests",
            dependencies: [
                "understudy", "Program", "Proxy", "HTTPMessage", "HTTPServer", "TablesProtocol",
                "SyncCore", "Backend", arguments, httpTypes, logging,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "understudySiteTests",
            dependencies: [
                "understudy-site", "Program", "Proxy", "Backend", "TablesProtocol", arguments,
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
