import TablesProtocol

// Lines for a terminal: bulk actions, imports, backups, findings, tables and runs.
extension TerminalText {
    /// The outcome of a bulk action.
    /// - Parameter why: why an operation that matches may be left.
    static func bulk(
        _ result: JSONValue, _ done: String, left why: String = "they are on their way"
    ) -> [String] {
        let matched = result["matched"]?.integer ?? 0
        if result["dryRun"]?.bool == true { return ["\(matched) operations match."] }
        let refused = result["refused"]?.integer ?? 0
        return [
            "\(result["changed"]?.integer ?? 0) operations \(done)"
                + (refused > 0 ? ", \(refused) left: \(why)." : ".")
        ]
    }

    /// Operations by state, status and cause.
    static func groups(_ list: JSONValue) -> [String] {
        let lines = (list["items"]?.array ?? []).map { group in
            let since = group["since"]?.string.map { "since \($0)" } ?? "not tried yet"
            let status = group["status"]?.integer.map { "\($0)  " } ?? ""
            return "\(group["count"]?.integer ?? 0) \(group["state"]?.string ?? "")  "
                + "\(status)\(since)  \(group["reason"]?.string ?? "")"
        }
        return lines.isEmpty ? ["No operations."] : lines + why(list["held"]?.string)
    }

    /// The result of an import.
    static func imported(_ result: JSONValue) -> [String] {
        func count(_ name: String) -> Int64 { result[name]?.integer ?? 0 }
        var lines = [
            "\(count("written")) changes made, \(count("present")) there already, "
                + "\(count("missing")) of items that are gone, \(count("refused")) refused.",
            "\(count("historyAdded")) entries of history brought in, "
                + "\(count("historyPresent")) there already.",
        ]
        for problem in result["problems"]?.array ?? [] {
            let index = problem["index"]?.integer ?? 0
            let what = problem["list"]?.string == "history" ? "entry" : "change"
            lines.append("  \(what) \(index + 1): \(problem["detail"]?.string ?? "")")
        }
        return lines
    }

    /// The stores of a backup.
    static func backup(_ answer: JSONValue) -> [String] {
        var lines = [answer["path"]?.string ?? ""]
        for store in answer["stores"]?.array ?? [] {
            lines.append(
                "  \(store["identity"]?.string ?? ""): \(store["items"]?.integer ?? 0) items, "
                    + "\(store["openOperations"]?.integer ?? 0) open operations, "
                    + "\(store["bytes"]?.integer ?? 0) bytes, checked")
        }
        return lines
    }

    /// The findings of `doctor`.
    static func findings(_ report: JSONValue) -> [String] {
        (report["findings"]?.array ?? []).flatMap { finding in
            let state = finding["state"]?.string ?? ""
            let mark = state.padded(to: 9)
            var lines = [
                "\(mark)\(finding["check"]?.string ?? ""): "
                    + (finding["finding"]?.string ?? "")
            ]
            if let advice = finding["advice"]?.string { lines.append("         \(advice)") }
            return lines
        }
    }

    /// Tables, one in a line.
    static func tables(_ list: JSONValue) -> [String] {
        let lines = (list["items"]?.array ?? []).flatMap(table)
        return lines.isEmpty ? ["No tables yet: a write or a pull makes the first."] : lines
    }

    /// A table with its counts and policies, and its warning.
    static func table(_ table: JSONValue) -> [String] {
        func text(_ name: String) -> String { table[name]?.string ?? "" }
        let line =
            "\(text("name"))  \(table["items"]?.integer ?? 0) items, "
            + "\(table["pending"]?.integer ?? 0) pending; read \(text("readPolicy")), write "
            + "\(text("writePolicy")), conflicts \(text("conflictPolicy"))"
            + (table["isPublic"]?.bool == true ? ", public" : "")
        return [line] + (table["warning"]?.string.map { ["  " + $0] } ?? [])
    }

    /// Rows that are set aside: each with its id, the reason and the beginning of its text.
    static func setAside(_ list: JSONValue) -> [String] {
        let lines = (list["items"]?.array ?? []).flatMap { row -> [String] in
            let text = row["text"]?.string ?? ""
            let cut = text.count > Limits.setAsideCharacters ? "…" : ""
            return [
                "\(row["id"]?.string ?? "(no id)")  \(row["reason"]?.string ?? "")",
                "  " + text.prefix(Limits.setAsideCharacters) + cut,
            ]
        }
        return lines.isEmpty ? ["All rows that came are here."] : lines
    }

    /// One index of a table, on one line.
    static func index(_ index: JSONValue) -> String {
        let columns = (index["columns"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
        let head = "\(index["id"]?.integer ?? 0)  \(index["table"]?.string ?? "")  (\(columns))  "
        if let made = index["builtAt"]?.string { return head + "built \(made)" }
        if let percent = index["percent"]?.integer { return head + "being built, \(percent) %" }
        return head + (index["problem"]?.string ?? "not built")
    }

    /// Runs, each with its result.
    static func runs(_ list: JSONValue) -> [String] {
        let lines = (list["items"]?.array ?? []).flatMap { entry -> [String] in
            let head = "\(entry["id"]?.string ?? "")  \(entry["startedAt"]?.string ?? "")  "
            let told = run(entry)
            return [head + (told.first ?? "")] + told.dropFirst()
        }
        return lines.isEmpty ? ["No runs yet."] : lines
    }

    /// Members of an object, one in a line.
    static func members(_ value: JSONValue) -> [String] {
        guard case .object(let members) = value else { return [] }
        return members.map { "\($0.name) = \($0.value.text)" }
    }

    /// Refused requests.
    static func rejections(_ list: JSONValue) -> [String] {
        let lines = (list["items"]?.array ?? []).map { entry in
            members(entry).joined(separator: "  ")
        }
        return lines.isEmpty ? ["No request was refused."] : lines
    }
}

extension String {
    /// The text with blanks at its end, `width` characters wide.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }
}
