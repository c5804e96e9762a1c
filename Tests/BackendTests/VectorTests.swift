import Backend
import TablesProtocol
import Testing

/// What the real servers answer, taken from their sources and their own tests (`Vectors/`), and what
/// the flavours `1` and `2-node` answer.
@Suite struct VectorTests {
    private static let first = Vector.groups(of: "mobile-services")
    private static let node = Vector.groups(of: "node")

    static let firstGroups = first.groups
    static let nodeGroups = node.groups

    @Test(arguments: firstGroups)
    func `the flavour 1 answers as Mobile Services`(group: Vector.Group) throws {
        var options = BackendOptions(flavour: .mobileServices)
        options.applicationKey = "key"
        options.tokens = .only(["good.user.token"])
        try play(group, on: options, with: Self.first.fields) { status, sentence in
            #"{"code":\#(status),"error":\#(JSONText.string("Error: " + sentence).text)}"#
        }
    }

    @Test(arguments: nodeGroups)
    func `the flavour 2-node answers as Mobile Apps for Node`(group: Vector.Group) throws {
        var options = BackendOptions(flavour: .node)
        options.tokens = .only(["good"])
        let columns = [
            TableOptions.Column("text", .string), TableOptions.Column("rank", .number),
            TableOptions.Column("done", .boolean),
        ]
        options.tables[try #require(TableName("todo"))] = TableOptions(columns: columns)
        try play(group, on: options, with: Self.node.fields) { _, sentence in
            #"{"error":\#(JSONText.string(sentence).text)}"#
        }
    }

    @Test func `each server has two hundred vectors or more`() {
        for groups in [Self.firstGroups, Self.nodeGroups] {
            #expect(groups.flatMap(\.vectors).count { !$0.isPreparation } >= 200)
        }
    }

    private func play(
        _ group: Vector.Group, on options: BackendOptions, with standing: [(String, String)],
        error: (Int, String) -> String
    ) throws {
        var options = options
        options.dynamicTable = nil
        options.unknownTable = .notFound
        for (name, table) in [
            ("todo", TableOptions()), ("free", TableOptions()),
            ("hard", TableOptions(softDelete: false)),
            ("numbers", TableOptions(softDelete: false, idKind: .integer)),
            ("secrets", TableOptions(needsSignIn: true)),
            ("fixed", TableOptions(disabled: [.insert, .update, .undelete])),
            ("shut", TableOptions(disabled: [.read, .delete])),
        ] {
            let name = try #require(TableName(name))
            if options.tables[name] == nil { options.tables[name] = table }
        }
        let client = try Client(options)
        for vector in group.vectors {
            var fields = standing
            if !vector.body.isEmpty { fields.append(("Content-Type", "application/json")) }
            for (name, value) in vector.fields {
                fields.removeAll { $0.0.lowercased() == name.lowercased() }
                if value != "-" { fields.append((name, value)) }
            }
            let told = try client.send(vector.method, vector.target, vector.body, fields)
            let faults = vector.faults(of: told) { error(vector.status, $0) }
            #expect(
                faults == [], "line \(vector.line): \(vector.method) \(vector.target)")
        }
    }
}
