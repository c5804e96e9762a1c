import HTTPMessage
import HTTPTypes
import Logging
import SyncCore
import TablesProtocol

/// Looks at the stores and the backend, and tells the target of its plan what is new.
actor Notifier {
    struct State: Sendable {
        let plan: NotificationPlan
        /// What is not told yet: the number of operations and of conditions.
        let untold: Int
        /// The last message; nil before the first.
        let last: Delivery?
        /// When what is not told is tried again; nil if nothing waits for that.
        let nextTry: Instant?
    }

    /// A message that was sent, or could not be sent.
    struct Delivery: Sendable, Hashable {
        let at: Instant
        let isTest: Bool
        /// Whether the target has taken it.
        let isDelivered: Bool
        /// What came back, in one sentence, without anything of an answer's body.
        let result: String
    }

    /// What messages say of this proxy.
    struct Sender: Sendable {
        let host: String
        let backend: String
        /// The address of the dashboard; nil while nothing listens.
        let dashboard: @Sendable () -> String?
    }

    private var plan: NotificationPlan
    private var reader: SituationReader
    private let file: NotificationFile
    private let transport: any HTTPTransport
    private let sender: Sender
    private let now: @Sendable () -> Instant
    private let sleep: @Sendable (Int64) async -> Void
    private let log: Logger
    private var memory = NotificationMemory()
    private var pace = NotificationPace()
    private var untold = 0
    private var last: Delivery?

    /// - Parameters:
    ///   - plan: who is told what.
    ///   - reader: reads the present state.
    ///   - file: where it is kept what was told.
    ///   - transport: sends to a webhook.
    ///   - sender: what messages say of this proxy.
    ///   - now: the wall clock.
    ///   - sleep: returns after so many seconds, or when the task is cancelled.
    init(
        _ plan: NotificationPlan, reader: SituationReader, file: NotificationFile,
        transport: any HTTPTransport, sender: Sender, now: @escaping @Sendable () -> Instant,
        sleep: @escaping @Sendable (Int64) async -> Void, log: Logger
    ) {
        (self.plan, self.reader, self.file, self.transport) = (plan, reader, file, transport)
        (self.sender, self.now, self.sleep, self.log) = (sender, now, sleep, log)
    }

    var state: State {
        State(
            plan: plan, untold: untold, last: last,
            nextTry: untold == 0 ? nil : pace.next(now: now()))
    }

    /// Replaces the plan, from the next message on.
    func replace(with plan: NotificationPlan) {
        // What one target did not take, another one gets at once.
        if plan.target != self.plan.target { pace = NotificationPace() }
        self.plan = plan
    }

    /// Tells what is new, until cancelled.
    func run() async {
        memory = file.load()
        while !Task.isCancelled {
            if plan.target != nil { await look() }
            await sleep(Limits.notificationLookSeconds)
        }
    }

    private func look() async {
        let (plan, reads) = (plan, reader)
        let (situation, read) = await Self.read(reads, plan)
        reader = read
        let decision = NotificationDecision(
            situation, memory, events: plan.events, pace: pace)
        memory = decision.seen
        untold = decision.news.size
        guard let target = plan.target, let news = decision.message else { return }
        let delivery = await deliver(
            NotificationMessage(
                news: news, conflicts: situation.conflicts, refused: situation.refused,
                at: situation.at, host: sender.host, backend: sender.backend,
                dashboard: sender.dashboard()),
            to: target)
        if Task.isCancelled, !delivery.isDelivered { return }
        last = delivery
        pace.lastTryAt = delivery.at
        pace.failures = delivery.isDelivered ? 0 : pace.failures + 1
        guard delivery.isDelivered else {
            return log.warning(
                "a message could not be sent", metadata: ["result": "\(delivery.result)"])
        }
        memory = decision.told
        untold = 0
        do throws(FileFailure) {
            try file.save(memory)
        } catch {
            log.error(
                "what was told cannot be kept, and is told again after a restart",
                metadata: ["problem": "\(error)"])
        }
    }

    private static func read(
        _ reader: SituationReader, _ plan: NotificationPlan
    ) async -> (NotificationSituation, SituationReader) {
        var reader = reader
        let situation = await reader.read(plan)
        return (situation, reader)
    }

    /// Sends a message that only shows that messages arrive.
    /// - Returns: nil without a webhook and a command.
    func test() async -> Delivery? {
        guard let target = plan.target else { return nil }
        let message = NotificationMessage(
            news: NotificationNews(), conflicts: 0, refused: 0, at: now(), host: sender.host,
            backend: sender.backend, dashboard: sender.dashboard(), isTest: true)
        let delivery = await deliver(message, to: target)
        last = delivery
        return delivery
    }

    private func deliver(
        _ message: NotificationMessage, to target: NotificationPlan.Target
    ) async -> Delivery {
        let outcome =
            switch target {
            case .webhook(let webhook): await post(message, to: webhook)
            case .command(let path): await run(path, with: message)
            }
        return Delivery(
            at: now(), isTest: message.isTest, isDelivered: outcome.isDelivered,
            result: outcome.result)
    }

    /// Any 2xx is a success. A redirect is none: it would take the message to another place.
    private func post(
        _ message: NotificationMessage, to webhook: Webhook
    ) async -> (isDelivered: Bool, result: String) {
        let head = HTTPRequest(
            method: .post, scheme: webhook.address.scheme, authority: webhook.address.authority,
            path: webhook.target, headerFields: [.contentType: "application/json"])
        do throws(TransportError) {
            let answer = try await transport.send(
                Request(head: head, body: Array(message.json.text.utf8)))
            let status = answer.head.status
            return (status.kind == .successful, "\(webhook) answered \(status.code).")
        } catch {
            return (false, "\(webhook) could not be told: \(error.message)")
        }
    }

    private func run(
        _ path: String, with message: NotificationMessage
    ) async -> (isDelivered: Bool, result: String) {
        let passedOn = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ"].compactMap { name in
            ThisProcess.environment(name).map { (name: name, value: $0) }
        }
        let end = await ProgramRun(
            path: path,
            environment: passedOn + [
                (name: "NOTIFY_KINDS", value: message.kinds.joined(separator: " ")),
                (name: "NOTIFY_TEXT", value: message.text),
                (name: "NOTIFY_LINK", value: message.link ?? ""),
            ], seconds: Limits.notificationCommandSeconds
        ).run(Array("\(message.json.text)\n".utf8))
        return (end == .ended(0), end.description)
    }
}

extension NotificationNews {
    var size: Int { counts.values.reduce(0, +) + conditions.count }
}

/// The file of what was told, so that no start tells it again. It is among the stores: a restore, which keeps
/// them aside, keeps it aside with them, since the numbers of operations in it are theirs.
struct NotificationFile: Sendable {
    /// The file, 0600.
    let path: String

    /// What was told; nothing if the file cannot be read or parsed. Then it is told once more.
    func load() -> NotificationMemory {
        guard let bytes = try? Files.read(path), let json = try? JSONValue(parsing: bytes) else {
            return NotificationMemory()
        }
        return NotificationMemory(json: json)
    }

    func save(_ memory: NotificationMemory) throws(FileFailure) {
        try Files.write(path, Array(memory.json.text.utf8))
    }
}

extension NotificationMemory {
    /// Reads the JSON of the file. What is not as this program writes it is left out.
    init(json: JSONValue) {
        for entry in json["operations"]?.array ?? [] {
            guard let identity = entry["identity"]?.string, let at = Self.time(entry["at"]) else {
                continue
            }
            let runs = (entry["seqs"]?.array ?? []).compactMap { run -> ClosedRange<Int64>? in
                let ends = (run.array ?? []).compactMap(\.integer)
                guard ends.count == 2, ends[0] <= ends[1],
                    ends[1] - ends[0] < Int64(Limits.lookedAtDecisions)
                else { return nil }
                return ends[0]...ends[1]
            }
            told[identity] = ToldOperations(seqs: Set(runs.joined()), at: at)
        }
        for entry in json["conditions"]?.array ?? [] {
            guard let word = entry["condition"]?.string, let since = Self.time(entry["since"]),
                let condition = Condition(word: word, identity: entry["identity"]?.string)
            else { continue }
            standing[condition] = Standing(since: since, toldAt: Self.time(entry["toldAt"]))
        }
    }

    /// The JSON of the file: numbers of operations as runs of the first and the last.
    var json: JSONValue {
        let operations = told.sorted { $0.key < $1.key }.map { identity, told in
            JSONValue.members(
                ("identity", .string(identity)), ("at", .time(told.at)),
                (
                    "seqs",
                    .array(
                        Self.runs(told.seqs).map {
                            .array([.number($0.lowerBound), .number($0.upperBound)])
                        })
                ))
        }
        let conditions = standing.filter { $0.value.toldAt != nil }.sorted {
            ($0.key.word, $0.key.identity ?? "") < ($1.key.word, $1.key.identity ?? "")
        }.map { condition, standing in
            JSONValue.members(
                ("condition", .string(condition.word)), ("identity", .text(condition.identity)),
                ("since", .time(standing.since)), ("toldAt", .time(standing.toldAt)))
        }
        return .members(("operations", .array(operations)), ("conditions", .array(conditions)))
    }

    private static func time(_ value: JSONValue?) -> Instant? {
        value?.string.flatMap { Instant(iso: $0) }
    }

    /// The numbers as runs without a gap.
    private static func runs(_ numbers: Set<Int64>) -> [ClosedRange<Int64>] {
        var runs: [ClosedRange<Int64>] = []
        for number in numbers.sorted() {
            if let last = runs.last, last.upperBound == number - 1 {
                runs[runs.count - 1] = last.lowerBound...number
            } else {
                runs.append(number...number)
            }
        }
        return runs
    }
}
