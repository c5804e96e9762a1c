/// A row of the table in docs/PERFORMANCE.md: a piece of work, measured in one or more variants.
struct Row: Sendable {
    var number: Int
    var title: String
    var measure: @Sendable (Stage) throws -> [Measurement]
}

/// Rows that take long are measured in at most this many rounds.
let mostLongRounds = 3

/// All rows, in order.
let rows = [
    Row(number: 1, title: "one item by its id") { try measureReads($0, .item) },
    Row(number: 2, title: "a filtered list of 50") { try measureReads($0, .list) },
    Row(number: 3, title: "durable inserts, one at a time") { stage in
        [try measureInserts(stage, id: "3", connections: 1)]
    },
    Row(number: 4, title: "durable inserts, 32 at once") { stage in
        [try measureInserts(stage, id: "4", connections: 32)]
    },
    Row(number: 5, title: "durable inserts, 32 at once, slow disk") { stage in
        [try measureInserts(stage, id: "5", connections: 32, isDiskSlow: true)]
    },
    Row(number: 6, title: "push without latency", measure: measurePush),
    Row(number: 7, title: "push over latency", measure: measureSlowPush),
    Row(number: 8, title: "pull", measure: measurePull),
    Row(number: 9, title: "pull of ten times as many rows", measure: measureLongPull),
    Row(number: 10, title: "inserts behind a long queue", measure: measureLongQueue),
    Row(number: 11, title: "latency beside a pull", measure: measureLatency),
    Row(number: 12, title: "start with much data", measure: measureStart),
    Row(number: 13, title: "memory", measure: measureMemory),
    Row(number: 14, title: "lists through indexes", measure: measureIndexes),
    Row(number: 15, title: "the backend: one item by its id") { try measureSite($0, .item) },
    Row(number: 16, title: "the backend: a filtered list of 50") { try measureSite($0, .list) },
    Row(number: 17, title: "the backend: inserts") { try measureSite($0, .insert) },
    Row(number: 18, title: "the backend: three nodes", measure: measureNodes),
]
