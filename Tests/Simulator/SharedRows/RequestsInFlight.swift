import Foundation
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// What happens while a request is in flight, and what is recorded of it.
extension SharedRows {
    /// Sends a request and records what it changed. Other writers may act while it is in flight.
    ///
    /// Where rows have no version, no other writer acts between the read of a row and its write: nothing could
    /// protect that moment.
    func around(
        _ sent: SharedRowsTransport.Sent, of proxy: Int,
        _ send: @Sendable () async throws(TransportError) -> Response
    ) async throws(TransportError) -> Response {
        let request = sent.request
        let path = request.head.path ?? ""
        let isRead = request.head.method == .get
        let isPage = isRead && request.isPage
        let isCrowded = plan.habits.contains(.crowdedRows) && !isRead
        let row = isCrowded ? name(in: request, among: remote()) : nil
        if isPage || plan.hasVersions {
            await interfere(besideRead: isRead, isPage: isPage, with: row)
        }
        guard !isRead else {
            let response = try await send()
            if isPage || plan.hasVersions { await interfere(besideRead: true, isPage: isPage) }
            return response
        }
        let before = remote()
        note(
            "p\(proxy) sends \(request.head.method.rawValue) \(path) "
                + "\(String(decoding: request.body, as: UTF8.self)) \(request.head.headerFields[.ifMatch] ?? "")"
        )
        replica?.noteState()
        let refused = refusal(of: request, over: before)
        let response = if let refused { refused } else { try await send() }
        await recordAnswer(response, to: request, of: proxy, before)
        if response.head.status.code >= 400 {
            note("p\(proxy) got \(response.head.status.code) for \(path) \(request.opID)")
        }
        recordChanges(
            since: before, by: proxy, what: "\(request.head.method.rawValue) \(path)",
            sentAt: sent.at)
        recordReplacing(request, before)
        deleteRevived()
        await interfere(besideRead: false, isPage: false, with: row)
        return response
    }

    /// The name of the row that a write is about.
    private func name(in request: Request, among rows: [String: Item]) -> String {
        let body = try? Columns(parsing: request.body)
        let id = plan.name(ofID: request.itemID ?? body?["id"]?.string ?? "")
        let known = rows.first {
            plan.name(ofID: $0.value.id.text) == id && table(of: $0.key).text == request.table
        }
        return body?["t"]?.string ?? known?.key ?? id
    }

    /// A script's refusal of a write that passes the check of the version; nil for any other write.
    private func refusal(of request: Request, over before: [String: Item]) -> Response? {
        guard plan.isRefused(request.body) else { return nil }
        let row = before[name(in: request, among: before)]
        if request.itemID == nil, row != nil { return nil }
        if request.itemID != nil, row?.deleted != false { return nil }
        let condition = request.head.headerFields[.ifMatch]
        if let row, let condition, !condition.contains(row.version) { return nil }
        return Response(
            status: .badRequest, headerFields: [.contentType: "application/json"],
            body: Array(#"{"error":"The script does not take this value."}"#.utf8))
    }

    /// Records the version that a write has replaced.
    private func recordReplacing(_ request: Request, _ before: [String: Item]) {
        let name = name(in: request, among: before)
        // Without a condition a proxy does not know what its write replaces.
        guard let old = before[name], !old.deleted, present[name]?.version != old.version,
            request.head.headerFields[.ifMatch]?.contains(old.version) == true
        else { return }
        replacing[request.opID] = (name, old.version)
    }

    /// Records that a proxy got the answer to a write.
    func recordReplaced(_ request: Request, _ response: Response, by proxy: Int) {
        guard response.head.status.code < 300, let bytes = response.bytes,
            bytes != Array("[]".utf8),
            let one = replacing[request.opID]
        else { return }
        replacedVersions["\(proxy) \(one.name)", default: []].insert(one.version)
    }

    /// Records what the backend said about an operation, and checks that a row was not sent before the row that
    /// it names.
    private func recordAnswer(
        _ response: Response, to request: Request, of proxy: Int, _ before: [String: Item]
    ) async {
        let body = try? Columns(parsing: request.body)
        let name = name(in: request, among: before)
        var answer = BackendAnswer(name: name, at: clock.uptime())
        let wasRefused = answers[request.opID]?.wasRefused ?? false
        defer {
            answer.wasRefused = wasRefused || answer.isRefusal
            answers[request.opID] = answer
        }
        if request.itemID == nil { posted.insert(name) }
        if request.itemID == nil, plan.hasIntegerIDs(table(of: name)) { unverdicted.insert(name) }
        if response.head.status == .badRequest, plan.isRefused(request.body) {
            answer.isRefusal = true
            refused.insert(name)
            answer.sentence = Self.sentence(response)
            return
        }
        guard response.head.status.code == 409 else { return }
        let condition = request.head.headerFields[.ifMatch]
        let row = before[name]
        let isForVersion =
            row.map { row in
                condition.map { !$0.contains(row.version) } ?? false
                    || row.deleted && request.head.method == .delete
            }
            ?? false
        answer.isRefusal = request.itemID == nil ? row == nil : row != nil && !isForVersion
        // The row has another id for the client.
        if request.itemID == nil, let row, row.id.text != body?["id"]?.string {
            answer.isRefusal = true
        }
        guard answer.isRefusal else { return }
        refused.insert(name)
        answer.sentence = Self.sentence(response)
        answer.parent = body?["p"]?.string
        guard let parent = answer.parent, before[parent] == nil, !posted.contains(parent),
            let named = referred[name], named.parent == parent, named.isParentFirst,
            !proxies[proxy].transport.faultPlan.isFaulty, !givenUp.contains(name),
            !givenUp.contains(parent), (try? await proxies[proxy].rows()[parent]) != nil
        else { return }
        fault("\(name) was sent before \(parent), which was inserted before \(name) named it", name)
    }

    /// The backend's sentence in a refusal.
    private static func sentence(_ response: Response) -> String? {
        guard let value = try? JSONValue(parsing: response.bytes ?? []) else { return nil }
        return ["error", "message", "detail", "title"].lazy.compactMap { value[$0]?.string }.first
    }

    /// Another writer deletes a row again that was just brought back.
    private func deleteRevived() {
        defer { revived = [] }
        guard !isInterfering, faults.isEmpty else { return }
        for name in revived where random.happens(0.3) { changeElsewhere("DELETE", name) }
    }

    /// - Parameter row: the row of the request, if its row is written more often than others.
    private func interfere(besideRead: Bool, isPage: Bool, with row: String? = nil) async {
        let often = isPage && plan.habits.contains(.movingRows)
        guard !isInterfering, random.happens(often ? 0.7 : 0.25) || row != nil, faults.isEmpty
        else { return }
        (isInterfering, isBesideRead) = (true, besideRead)
        defer { (isInterfering, isBesideRead) = (false, false) }
        do {
            if let row, names.contains(row) { return try await crowd(row) }
            switch random.next(below: 8) {
            case 0..<4: writeElsewhere()
            case 4..<6 where !often: try await writeHere(random.pick(proxies))
            case 6 where !often: try await actAsPerson(random.pick(proxies))
            default: writeElsewhere()
            }
        } catch {
            fault("a step failed: \(error)")
        }
    }

    /// Compares all rows with those before and records the changes.
    /// - Parameter sentAt: when the request was sent, which may have come late or twice.
    func recordChanges(
        since before: [String: Item], by side: Int, what: String, sentAt: Duration? = nil
    ) {
        let after = remote()
        present = after
        for id in Set(before.keys).union(after.keys).sorted() {
            let (old, new) = (ValueHistory.row(before[id]), ValueHistory.row(after[id]))
            if old == new { continue }
            note("\(side < 0 ? "others" : "p\(side)") \(what): \(id) \(old) -> \(new)")
            if side < 0 { changes[id, default: 0] += 1 }
            let found = history.recordChange(
                id, from: old, to: new, by: side, policyWins: plan.letsLocalWin,
                policyRepeats: plan.repeatsLocal, scripted: plan.scriptedColumns)
            for text in found { fault(text, id) }
            if before[id] == nil {
                let isBroughtBack = bornAt[id] != nil && !inserting.contains(id)
                let isMeant = givenUp.contains(id) || plan.repeatsLocal
                if side >= 0, isBroughtBack, undeleting.contains(id), !isMeant {
                    fault("\(id) was gone, and a client's undelete inserted it", id)
                }
                bornAt[id] = clock.uptime()
                inserting.remove(id)
            }
            if new[ValueHistory.deleted] == "true" { deletedAt[id] = clock.uptime() }
            let isRevived = before[id]?.deleted == true && new[ValueHistory.deleted] == "false"
            if isRevived || before[id] == nil { livedAt[id] = clock.uptime() }
            if isRevived { revived.append(id) }
            if isRevived, let sentAt, let last = deletedAt[id], sentAt < last {
                fault("\(id) was deleted again, and an undelete that came late revived it", id)
            }
            if side < 0 { stopExpecting(id, old, new) }
        }
    }

    /// Values that another writer has replaced are not expected any more.
    private func stopExpecting(_ id: String, _ old: ValueHistory.Row, _ new: ValueHistory.Row) {
        expected[id]?[ValueHistory.deleted] = nil
        for name in columns(of: id) where old[name] != new[name] {
            expected[id]?[name] = nil
            beneath[id]?[name] = nil
            buried[id]?[name] = nil
            unburied[id]?[name] = nil
        }
        if new[ValueHistory.deleted] == "true" {
            (expected[id], buried[id], unburied[id]) = (nil, nil, nil)
        }
    }
}
