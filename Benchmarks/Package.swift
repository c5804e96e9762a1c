// swift-tools-version: 6.2
import PackageDescription

// The harness is Swift; what it measures against is bare C, one file for each program, on the same
// libraries that Understudy stands on.
let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),  // SE-0335
    .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
    .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
]
let cSettings: [CSetting] = [
    .define("_GNU_SOURCE"), .enableWarning("all"), .enableWarning("extra"),
    .treatAllWarnings(as: .error),
]

/// A program of one C file.
func bare(
    _ name: String, _ libraries: [String], dependencies: [Target.Dependency] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, cSettings: cSettings,
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

/// A library of one C file that is preloaded into other programs.
func shim(_ name: String) -> Target {
    .target(name: name, publicHeadersPath: ".", cSettings: cSettings)
}

let package = Package(
    name: "benchmarks",
    products: [
        .executable(name: "bench", targets: ["bench"]),
        .library(name: "slow-fsync", type: .dynamic, targets: ["slow-fsync"]),
        .library(name: "query-tap", type: .dynamic, targets: ["query-tap"]),
        .library(name: "slow-line", type: .dynamic, targets: ["slow-line"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2")
    ],
    targets: [
        .executableTarget(
            name: "bench",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser")
            ],
            swiftSettings: swiftSettings),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq"),
        bare("bare-server", ["microhttpd", "sqlite3"]),
        bare(
            "bare-backend", ["microhttpd", "pthread", "sqlite3"], dependencies: ["CPostgreSQL"]),
        bare("bare-insert", ["sqlite3"]),
        bare("bare-push", ["curl", "pthread", "sqlite3"]),
        bare("bare-grow", ["sqlite3"]),
        bare("bare-pull", ["curl", "sqlite3"]),
        bare("quiet-backend", ["microhttpd", "pthread"]),
        bare("paced-client", ["curl", "pthread"]),
        bare("cold-start", []),
        shim("slow-fsync"),
        shim("query-tap"),
        shim("slow-line"),
    ]
)
