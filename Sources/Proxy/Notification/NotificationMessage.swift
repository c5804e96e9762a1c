package import SyncCore
import TablesProtocol

/// A message as it is sent: JSON for programs, with a text for people in it. The member `text` is what chat
/// services show.
struct NotificationMessage: Sendable, Hashable {
    let news: NotificationNews
    /// How many operations wait for a person now, whether told or not.
    let conflicts: Int
    let refused: Int
    let at: Instant
    let host: String
    let backend: String
    /// The address of the dashboard; nil while nothing listens.
    let dashboard: String?
    /// Whether it only shows that messages arrive.
    var isTest = false

    /// The words of what it tells.
    var kinds: [String] {
        let told = Set(news.counts.keys).union(news.conditions.map(\.condition.event))
        return isTest ? ["test"] : NotifiedEvent.allCases.filter(told.contains).map(\.rawValue)
    }

    /// The view of the dashboard that shows what it tells.
    var link: String? {
        let view =
            news.counts[.conflict] != nil
            ? "conflicts" : news.counts[.refused] != nil ? "queue" : "status"
        return dashboard.map { "\($0)#/\(view)" }
    }

    /// What it tells, in sentences, with the link at the end.
    var text: String {
        var sentences = isTest ? ["This is a test: messages of Understudy arrive here."] : []
        for event in NotifiedEvent.allCases {
            guard let count = news.counts[event] else { continue }
            let noun = event == .conflict ? "new conflict" : "newly refused change"
            sentences.append("\(count) \(noun)\(count == 1 ? "" : "s")\(tables(event)).")
        }
        sentences += news.conditions.map(\.sentence)
        return (["Understudy on \(host):"] + sentences + [link].compactMap(\.self))
            .joined(separator: " ")
    }

    /// The tables of an event's operations, with how many each has: ` (todoitem 2, notes 1)`.
    private func tables(_ event: NotifiedEvent) -> String {
        var counts: [(table: String, count: Int)] = []
        for group in news.groups where group.event == event {
            if let place = counts.firstIndex(where: { $0.table == group.table }) {
                counts[place].count += group.count
            } else {
                counts.append((group.table, group.count))
            }
        }
        let names = counts.map { "\($0.table) \($0.count)" }
        return names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
    }

    var json: JSONValue {
        .members(
            ("text", .string(text)), ("kinds", .array(kinds.map { .string($0) })),
            ("test", .bool(isTest)), ("at", .time(at)), ("host", .string(host)),
            ("backend", .string(backend)), ("dashboard", .text(link)),
            ("version", .string(Version.text)),
            ("new", .array(news.groups.map(\.json))), ("newLeftOut", .number(news.ungrouped)),
            ("conditions", .array(news.conditions.map(\.json))),
            ("open", .members(("conflict", .number(conflicts)), ("refused", .number(refused)))))
    }
}

extension NotificationNews.Group {
    fileprivate var json: JSONValue {
        .members(
            ("kind", .string(event.rawValue)), ("identity", .string(identity)),
            ("table", .string(table)), ("count", .number(count)),
            ("items", .array(first.map(\.json))))
    }
}

extension OpenDecision {
    /// The item, with the texts that may hold values only where they were read.
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("id", .string(itemID)), .init("change", .string(kind.rawValue)),
        ]
        if let values {
            func cut(_ text: String?) -> JSONValue {
                .text(text.map { String($0.prefix(Limits.toldValueCharacters)) })
            }
            members += [.init("title", cut(values.title)), .init("reason", cut(values.reason))]
        }
        return .object(members)
    }
}

extension NotificationNews.ToldCondition {
    var sentence: String {
        let tables = waits.prefix(Limits.toldTables).map { "\($0.table) \($0.count)" }
        let list = tables.isEmpty ? "" : " (\(tables.joined(separator: ", ")))"
        return switch phase {
        case .began: "\(condition.sentence)\(list), since \(since.text)."
        case .lasts: "\(condition.sentence)\(list), still, since \(since.text)."
        case .over: "\(condition.endSentence)."
        }
    }

    fileprivate var json: JSONValue {
        .members(
            ("kind", .string(condition.event.rawValue)), ("condition", .string(condition.word)),
            ("state", .string(phase.rawValue)), ("identity", .text(condition.identity)),
            ("since", .time(since)), ("sentence", .string(sentence)),
            (
                "tables",
                .array(
                    waits.prefix(Limits.toldTables).map {
                        .members(("table", .string($0.table)), ("count", .number($0.count)))
                    })
            ))
    }
}

/// What a person can be told. The raw value is the word of `notify-events`.
package enum NotifiedEvent: String, Codable, Sendable, Hashable, CaseIterable {
    case conflict
    case refused
    /// Changes wait although the backend answers, or the backend is away for long.
    case stuck
    /// The changes of an identity wait for its sign-in.
    case signedOut = "signed-out"
    /// Disk or budget is almost full or full, or a store cannot be written.
    case disk
}

package struct NotificationPlan: Sendable, Hashable {
    /// Where messages go; nil for nowhere.
    package var target: Target?
    package var events = Set(NotifiedEvent.allCases)
    /// Whether messages have texts that may hold values of rows.
    package var hasValues = false

    /// Where messages go.
    package enum Target: Sendable, Hashable {
        /// The address that gets each message by POST.
        case webhook(Webhook)
        /// The absolute path of a program that reads each message from its standard input.
        case command(String)
    }

    package init() {}
}

/// The address of a webhook. Its path is a secret: who knows it may post there. So the description leaves it
/// out.
package struct Webhook: Sendable, Hashable, CustomStringConvertible {
    /// Scheme and host.
    let address: BackendAddress
    /// Path and query.
    let target: String

    /// Reads an `https` address, or an `http` one of this machine; nil for anything else, such as an address
    /// with a user or a fragment.
    /// - Parameter isLoopback: whether an address is one of this machine.
    package init?(_ text: String, isLoopback: (BackendAddress) -> Bool) {
        guard let slashes = text.firstRange(of: "://") else { return nil }
        let end = text[slashes.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        let rest = text[end...]
        guard let address = BackendAddress(String(text[..<end])),
            rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }),
            address.scheme == "https" || isLoopback(address)
        else { return nil }
        self.address = address
        target = rest.hasPrefix("/") ? String(rest) : "/\(rest)"
    }

    /// Scheme and host.
    package var description: String { address.description }
}
