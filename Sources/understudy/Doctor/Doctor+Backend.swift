import HTTPClient
import HTTPMessage
import Platform
import Program
import Proxy
import SyncCore
import TablesProtocol

// The check of the backend, by requests like those of a client.
extension Doctor {
    func backendFindings(_ stores: [StoreInspection]) async -> [Finding] {
        let check = "backend"
        guard let address = backend(stores) else {
            return [
                .warning(
                    check, "No backend is configured.",
                    "Say it with --backend, UNDERSTUDY_BACKEND or in the configuration file.")
            ]
        }
        // What the Understudy that runs has found counts: it has the users' tokens and its own settings. That it
        // has found no table says nothing while no client has asked for one.
        let known = running?.backend.flatMap { status in
            status.isAsked && status.url == address.description
                ? BackendExamination.Findings(state: status.state, reason: status.reason) : nil
        }
        let seen = seenTables(stores)
        let isOpen = known?.state == .notTables && seen.isEmpty
        if let known, known.state != .online, !isOpen { return [reach(known, address, seen)] }
        let answers =
            known == nil || isOpen
            ? nil : [Finding.ok(check, "\(address) answers the Understudy that runs.")]
        let transport: CurlTransport
        do {
            transport = try makeTransport(to: address)
        } catch {
            return answers ?? [
                .problem("way to the backend", error.sentence, "Change that setting.")
            ]
        }
        // The generation is not given, so that the backend shows its own.
        let key = value(Settings.applicationKeyFile).flatMap {
            try? BackendConnection.applicationKey(file: $0)
        }
        let examination = BackendExamination(
            BackendConfiguration(address: address, applicationKey: key), transport: transport,
            clock: SystemClock())
        let parts = list(Settings.table).compactMap { table in table.part.map { (table.name, $0) } }
        let found = await examination.findings(
            seen.isEmpty ? [TableName("todoitem")].compactMap { $0 } : seen,
            parts: Dictionary(parts, uniquingKeysWith: { $1 }),
            trusted: Set(list(Settings.trustTable)))
        await transport.stop()
        // While no table was seen, that it answers says only that it can be reached.
        if let answers, found.state != .online, found.state != .notTables || !seen.isEmpty {
            return answers
        }
        var findings = [reach(found, address, seen)]
        if let others = otherTables(found, seen: seen) { findings.append(others) }
        if let skew = clock(found) { findings.append(skew) }
        if let wrong = generation(found) { findings.append(wrong) }
        if found.state == .online { findings += rows(found) }
        for (table, reason) in found.refusedParts.sorted(by: { $0.key.key < $1.key.key }) {
            findings.append(
                .warning(
                    "filter", "\(table) cannot be copied in part. \(reason)",
                    "Change its filter in --table to one that the backend takes, or leave it out to copy the "
                        + "whole table."))
        }
        return findings
    }

    /// The transport that `serve` would use.
    private func makeTransport(to address: BackendAddress) throws(StartProblem) -> CurlTransport {
        do {
            let backendConnection = try BackendConnection(sources)
            try backendConnection.check(address)
            var client = backendConnection.client(connections: 1)
            client.requestTimeout = .seconds(Limits.examinationSeconds)
            return try CurlTransport(client)
        } catch let problem as ConfigurationProblem {
            throw problem.startProblem
        } catch {
            throw (error as? StartProblem) ?? StartProblem("\(error)", .error)
        }
    }

    /// The backend that is configured, or the one that the store belongs to.
    func backend(_ stores: [StoreInspection]) -> BackendAddress? {
        let own = stores.first { $0.identity == Identity.anonymousKey }
        return value(Settings.backend) ?? own?.contents?.backend.flatMap { BackendAddress($0) }
    }

    /// The tables that are configured, then those of the stores, then those that clients have read.
    private func seenTables(_ stores: [StoreInspection]) -> [TableName] {
        let stored = stores.flatMap { $0.contents?.tables ?? [] }
        var seen: [TableName] = []
        for table in list(Settings.table).map(\.name) + stored.compactMap({ TableName($0) })
            + (running?.wanted ?? [])
        where !seen.contains(table) {
            seen.append(table)
        }
        return seen
    }

    private func reach(
        _ found: BackendExamination.Findings, _ address: BackendAddress, _ seen: [TableName]
    ) -> Finding {
        let check = found.isTLSFailure ? "TLS" : "backend"
        switch found.state {
        case .online:
            let generation = found.generation.map { "\($0.rawValue)" } ?? "unknown"
            return .ok(check, "\(address) answers, generation \(generation).")
        case .offline where found.isTLSFailure:
            return .problem(
                check, "\(address) cannot be trusted: \(found.reason)",
                "Otherwise check its certificate, this machine's clock and its list of authorities "
                    + "(package ca-certificates).")
        case .offline:
            return .warning(
                check, "\(address) cannot be reached: \(found.reason)",
                "Local work goes on. Check the address and the network: curl -v \(address)")
        case .degraded:
            return .warning(check, "\(address): \(found.reason)", "It is tried again by itself.")
        case .signedOut:
            return .warning(
                check, "\(address): \(found.reason)",
                "Sign in with the client. What it wrote with its token is sent then; what was written "
                    + "without one stays until it is given to its user: understudy queue assign. One of "
                    + "Mobile Services may want its application key: --application-key-file. A gateway may want a "
                    + "key: --backend-header.")
        case .portal:
            return .problem(
                check, "\(address): \(found.reason)",
                "Sign in to the network with a browser, or correct the address.")
        case .notTables where !seen.isEmpty && found.missing == seen:
            return .problem(
                check,
                "\(address) answers, and has none of the tables seen so far: \(names(seen)).",
                "Name a table that exists with --table, or correct the address: it is what comes "
                    + "before /tables.")
        case .notTables where seen.isEmpty && !(found.missing.isEmpty && found.refusals.isEmpty):
            return .ok(check, "\(address) answers.")
        case .notTables where !found.refusals.isEmpty:
            return .problem(
                check, "\(address) answers, and lists no table for this caller: \(found.reason)",
                "Allow GET for the table at the backend, or name another one with --table. A table that "
                    + "takes writes and gives no list is named with --trust-table.")
        case .notTables:
            return .problem(
                check, "\(address): \(found.reason)",
                "Start the site if it is stopped. Otherwise name a table that exists with --table, or "
                    + "correct the address: it is what comes before /tables.")
        }
    }

    /// The finding on tables that the backend does not have or does not list. It proves nothing about other
    /// tables. For a table that no client has asked for it proves nothing about the backend.
    private func otherTables(
        _ found: BackendExamination.Findings, seen: [TableName]
    ) -> Finding? {
        guard found.state == .online || seen.isEmpty,
            !found.missing.isEmpty || !found.refusals.isEmpty
        else { return nil }
        let others = seen.filter { !found.missing.contains($0) }
        let missing =
            found.missing.isEmpty ? "" : ", and has no table \(names(found.missing))"
        let sentences =
            ["The backend answers\(missing)."] + found.refusals
            + ["Tables seen so far: \(names(others))."]
        return .warning(
            "tables", sentences.joined(separator: " "),
            seen.isEmpty
                ? "Point a client at Understudy: the first table that it asks for is seen then. Or name "
                    + "one with --table. If none is found either way, correct the address: it is what "
                    + "comes before /tables."
                : "Correct its name where it is asked for, in the client or in --table, or its access at "
                    + "the backend. What waits for it is kept.")
    }

    private func names(_ tables: [TableName]) -> String {
        tables.isEmpty ? "none" : tables.map(\.text).joined(separator: ", ")
    }

    private func clock(_ found: BackendExamination.Findings) -> Finding? {
        guard let ahead = found.clockAheadSeconds else { return nil }
        if abs(ahead) <= Limits.clockSkewSeconds {
            return .ok("clock", "It agrees with the backend's.")
        }
        return .warning(
            "clock",
            "This machine's clock is \(abs(ahead)) s \(ahead > 0 ? "ahead of" : "behind") the "
                + "backend's.",
            "Set it right (timedatectl set-ntp true): certificates and sign-ins depend on it.")
    }

    private func generation(_ found: BackendExamination.Findings) -> Finding? {
        guard case .fixed(let said) = value(Settings.backendGeneration) ?? .auto,
            let actual = found.generation, actual != said
        else { return nil }
        return .problem(
            "generation",
            "The backend is of generation \(actual.rawValue), not \(said.rawValue).",
            "Say --backend-generation \(actual.rawValue), or auto.")
    }

    private func rows(_ found: BackendExamination.Findings) -> [Finding] {
        guard let properties = found.properties else { return [] }
        var findings: [Finding] = []
        if !properties.contains(.deleted) {
            findings.append(
                .warning(
                    "soft delete", "The backend's rows have no deleted mark.",
                    "Switch soft delete on for its tables, or remove rows that it deleted with: "
                        + "understudy pull TABLE --reconcile"))
        }
        if !properties.contains(.version) {
            findings.append(
                .warning(
                    "versions", "The backend's rows have no version.",
                    "Changes of others are overwritten unnoticed; add the version column."))
        }
        if !properties.contains(.updatedAt) {
            findings.append(
                .warning(
                    "updatedAt", "The backend's rows have no updatedAt.",
                    "Every pull takes all rows; add the updatedAt column."))
        }
        return findings.isEmpty
            ? [.ok("rows", "The backend's rows have version, updatedAt and deleted.")] : findings
    }
}
