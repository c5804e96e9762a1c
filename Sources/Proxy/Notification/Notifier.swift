import HTTPMessage
import HTTPTypes
import Logging
import Platform
import SyncCore
import TablesProtocol

/// Tells a webhook that a person is needed. It looks once in ``Limits/notificationSeconds``, so what could not
/// be delivered is tried again then, with the state of then.
actor Notifier {
    /// What messages say of this proxy.
    struct Sender: Sendable {
        let host: String
        let backend: String
        /// The address of the dashboard; nil while nothing listens.
        let dashboard: @Sendable () -> String?
    }

    private(set) var webhook: Webhook?
    /// The last message; nil before the first.
    private(set) var last: Answers.NotificationDelivery?
    private let tenants: TenantRegistry
    private let transport: any HTTPTransport
    private let sender: Sender
    private let now: @Sendable () -> Instant
    private let sleep: @Sendable (Int64) async -> Void
    private let log: Logger
    private var told = ToldNeeds()

    /// - Parameter sleep: returns after so many seconds, or when the task is cancelled.
    init(
        _ webhook: Webhook?, tenants: TenantRegistry, transport: any HTTPTransport, sender: Sender,
        now: @escaping @Sendable () -> Instant, sleep: @escaping @Sendable (Int64) async -> Void,
        log: Logger
    ) {
        (self.webhook, self.tenants, self.transport) = (webhook, tenants, transport)
        (self.sender, self.now, self.sleep, self.log) = (sender, now, sleep, log)
    }

    /// Replaces the webhook. Another one is told all that needs a person.
    func replace(with webhook: Webhook?) {
        if webhook != self.webhook { (self.webhook, told) = (webhook, ToldNeeds()) }
    }

    /// Tells what needs a person, until cancelled.
    func run() async {
        while !Task.isCancelled {
            let start = now().milliseconds
            await look()
            let rest = Limits.notificationSeconds - (now().milliseconds - start) / 1000
            // The clock may have been set meanwhile.
            await sleep(min(max(rest, 1), Limits.notificationSeconds))
        }
    }

    /// Sends a message if there is something to tell.
    func look() async {
        guard let webhook else { return }
        let at = now()
        var needed = await tenants.personNeeded(at: at)
        needed.brokenStores += await tenants.proveWritable().failed
        told.forget(exceptFor: needed)
        guard told.lacks(needed, at: at), webhook == self.webhook else { return }
        let delivery = await post(
            NotificationMessage(needed: needed, at: at, sender: sender), to: webhook)
        if Task.isCancelled, !delivery.isDelivered { return }
        last = delivery
        if !delivery.isDelivered {
            log.warning("a message could not be sent", metadata: ["result": "\(delivery.result)"])
        } else if webhook == self.webhook {
            told.add(needed, at: at)
        }
    }

    /// Sends a message that only shows that messages arrive.
    /// - Returns: nil without a webhook.
    func test() async -> Answers.NotificationDelivery? {
        guard let webhook else { return nil }
        let message = NotificationMessage(
            needed: PersonNeeded(), at: now(), sender: sender, isTest: true)
        let delivery = await post(message, to: webhook)
        last = delivery
        return delivery
    }

    private func post(
        _ message: NotificationMessage, to webhook: Webhook
    ) async -> Answers.NotificationDelivery {
        let head = HTTPRequest(
            method: .post, scheme: webhook.address.scheme, authority: webhook.address.authority,
            path: webhook.target, headerFields: [.contentType: "application/json"])
        var (isDelivered, result) = (false, "")
        do throws(TransportError) {
            let status = try await transport.send(
                Request(head: head, body: Array(message.json.text.utf8))
            ).head.status
            (isDelivered, result) = (
                status.kind == .successful, "\(webhook) answered \(status.code)."
            )
        } catch {
            result = "\(webhook) could not be told: \(error.message)"
        }
        return Answers.NotificationDelivery(
            at: now(), isTest: message.isTest, isDelivered: isDelivered, result: result)
    }
}

/// A message as it is sent: JSON for programs, with `text` for people, which chat services show.
struct NotificationMessage: Sendable {
    let needed: PersonNeeded
    let at: Instant
    let sender: Notifier.Sender
    /// Whether it only shows that messages arrive.
    var isTest = false

    private var queue: QueueCounts { needed.decisions.ledger.queue }

    private var link: String? {
        let view = queue.conflict > 0 ? "conflicts" : queue.quarantined > 0 ? "queue" : "status"
        return sender.dashboard().map { "\($0)#/\(view)" }
    }

    /// The tables in which operations wait for a person, those with the most of them first.
    private var tables: [StoreSummary.Table] {
        let all = needed.decisions.tables.filter { $0.forPerson > 0 }
        let sorted = all.sorted { ($1.forPerson, $0.name) < ($0.forPerson, $1.name) }
        return Array(sorted.prefix(Limits.toldTables))
    }

    var text: String {
        let test = isTest ? ["This is a test: messages of Understudy arrive here."] : []
        return (["Understudy on \(sender.host):"] + test + sentences + [link].compactMap(\.self))
            .joined(separator: " ")
    }

    private var sentences: [String] {
        func some(_ count: Int, _ noun: String) -> String? {
            count == 0 ? nil : "\(count) \(noun)\(count == 1 ? "" : "s")"
        }
        let open = [some(queue.conflict, "conflict"), some(queue.quarantined, "refused change")]
            .compactMap(\.self).joined(separator: ", ")
        let names = tables.map { "\($0.name) \($0.forPerson)" }.joined(separator: ", ")
        return [
            open.isEmpty ? nil : "Open: \(open) (\(names)).",
            some(needed.unsignedChanges, "change").map { "Waiting for a sign-in: \($0)." },
            some(needed.brokenStores, "store").map { "Taking no writes: \($0)." },
        ].compactMap(\.self)
    }

    var json: JSONValue {
        let tables = tables.map { table in
            JSONValue.members(
                ("table", .string(table.name)), ("conflicts", .number(table.conflicts)),
                ("refused", .number(table.refused)))
        }
        return .members(
            ("text", .string(text)), ("test", .bool(isTest)), ("at", .time(at)),
            ("host", .string(sender.host)), ("backend", .string(sender.backend)),
            ("dashboard", .text(link)), ("version", .string(Version.text)),
            ("conflicts", .number(queue.conflict)), ("refused", .number(queue.quarantined)),
            ("tables", .array(tables)), ("waitingForSignIn", .number(needed.unsignedChanges)),
            ("storesWithoutWrites", .number(needed.brokenStores)))
    }
}

extension StoreSummary.Table {
    fileprivate var forPerson: Int { conflicts + refused }
}
