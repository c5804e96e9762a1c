import Foundation

/// One load of wrk: one thread, since the server needs the other core.
struct Wrk {
    /// What is sent.
    enum Kind {
        case get(rows: Int)
        case list
        case post

        var arguments: [String] {
            switch self {
            case .get(let rows): ["get", String(rows)]
            case .list: ["list"]
            case .post: ["post"]
            }
        }
    }

    private struct Report: Decodable {
        var requests: Int
        var seconds, p50, p99: Double
        var failures: Int
    }

    /// The list that is measured.
    static let listQuery =
        "?$filter=complete%20eq%20false&$orderby=updatedAt%20desc&$top=50"

    /// How long an answer may take. A slow one is to show in the figures, not as a failure.
    private static let timeout = "60s"

    /// Loads an address. Returns requests per second; 0 when no answer was finished in time.
    /// - Throws: when an answer was not 2xx or a connection failed.
    static func load(
        _ address: String, _ kind: Kind, connections: Int, seconds: Double, in stage: Stage
    ) throws -> Double {
        try load([address], kind, connections: connections, seconds: seconds, in: stage)
    }

    /// Loads several addresses at once, each with as many connections. Returns the requests per second of all
    /// together.
    static func load(
        _ addresses: [String], _ kind: Kind, connections: Int, seconds: Double, in stage: Stage
    ) throws -> Double {
        let duration = "\(Int(seconds))s"
        let loads = try addresses.map { address in
            try Program(
                "/usr/bin/env",
                [
                    "wrk", "-t1", "-c\(connections)", "-d\(duration)", "--timeout", timeout, "-s",
                    stage.places.loadScript, address, "--",
                ] + kind.arguments, in: stage)
        }
        return try zip(loads, addresses).map { load, address in
            let report: Report = try load.figures()
            guard report.failures == 0 else {
                throw Trouble("\(report.failures) requests of wrk to \(address) failed.")
            }
            return Double(report.requests) / report.seconds
        }.reduce(0, +)
    }
}
