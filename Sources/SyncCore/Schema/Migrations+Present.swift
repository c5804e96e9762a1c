import Storage

extension Migrations {
    /// Those of this program. The first one makes the whole schema.
    static let present = Migrations(steps: [
        Step(version: 1, sql: String(decoding: PackageResources.Schema_sql, as: UTF8.self))
    ])
}
