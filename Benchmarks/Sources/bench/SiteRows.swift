import Foundation

extension SiteRequest {
    fileprivate var row: Int {
        switch self {
        case .item: 15
        case .list: 16
        case .insert: 17
        }
    }

    fileprivate var work: String {
        switch self {
        case .item: "backend, GET by id"
        case .list: "backend, GET filtered, ordered, top 50"
        case .insert: "backend, POST"
        }
    }

    fileprivate func kind(rows: Int) -> Wrk.Kind {
        switch self {
        case .item: .get(rows: rows)
        case .list: .list
        case .insert: .post
        }
    }

    fileprivate func address(_ table: String) -> String {
        self == .list ? table + Wrk.listQuery : table
    }
}

/// Rows 15 to 17: the backend on each storage, against a bare server that runs the same statements on a copy
/// of the same database.
func measureSite(_ stage: Stage, _ request: SiteRequest) throws -> [Measurement] {
    let rows = stage.size(100_000)
    return try SiteStorage.allCases.flatMap { storage in
        try Site.with(storage, rows: rows, in: stage) { site in
            let plan = stage.places.scratch.appending(path: "site-plan")
            try writeSitePlan(site, to: plan, in: stage)
            return try site.withNode(on: site.copy()) { node in
                try site.withBareBackend(on: site.copy(), plan: plan) { bare in
                    try compareBodies(node.table, bare, rows: rows)
                    _ = try SiteRequest.insert.send(to: bare)
                    return try [1, 32].map { connections in
                        let load = { (table: String) in
                            try Wrk.load(
                                request.address(table), request.kind(rows: rows),
                                connections: connections, seconds: stage.seconds(4), in: stage)
                        }
                        _ = try (load(node.table), load(bare))  // Warms both up.
                        let rounds = try interleaved(
                            stage.rounds, .oursByTheirs, ours: { try load(node.table) },
                            theirs: { try load(bare) })
                        let library = storage == .sqlite ? "SQLite" : "libpq"
                        return Measurement(
                            id: "\(request.row).\(storage.rawValue).c\(connections)",
                            work: "\(request.work), \(connections) conn",
                            against: "bare libmicrohttpd + \(library)", unit: "req/s",
                            rounds: rounds)
                    }
                }
            }
        }
    }
}

/// Row 18: reads by id of three nodes against those of one, with as many connections of clients in all. Each
/// statement takes 10 ms to the database and back, so that a node's connections to it are the limit, and
/// neither the database nor the processor.
func measureNodes(_ stage: Stage) throws -> [Measurement] {
    let (rows, connections) = (stage.size(100_000), 48)
    return try Site.with(.postgresql, rows: rows, in: stage) { site in
        let database = try site.copy()
        let line = stage.places.shim("slow-line")
        return try site.withNode(on: database, preload: line) { first in
            try site.withNode(on: database, preload: line) { second in
                try site.withNode(on: database, preload: line) { third in
                    let load = { (nodes: [BackendNode]) in
                        try Wrk.load(
                            nodes.map(\.table), .get(rows: rows),
                            connections: connections / nodes.count, seconds: stage.seconds(4),
                            in: stage)
                    }
                    let all = [first, second, third]
                    _ = try load(all)  // Warms them up.
                    let rounds = try interleaved(
                        stage.rounds, .oursByTheirs, ours: { try load(all) },
                        theirs: { try load([first]) })
                    return [
                        Measurement(
                            id: "18", work: "three nodes, GET by id, \(connections) conn",
                            against: "one node", unit: "req/s", rounds: rounds,
                            note: "The limit of a node is its 8 connections to a database that is "
                                + "10 ms away.")
                    ]
                }
            }
        }
    }
}
