import ArgumentParser
import Program
import Proxy
import TablesProtocol

struct Notify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Who is told what happens, and whether messages arrive.",
        discussion: "Who is told stands in the configuration file: notify or notify-command.",
        subcommands: [NotifyShow.self, NotifyTest.self], defaultSubcommand: NotifyShow.self)
}

struct NotifyShow: AskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show who is told, and the last message.",
        discussion: "JSON: as GET /-/api/v1/notify in /-/openapi.json.")
    static let needsServer = true

    @OptionGroup var options: ClientOptions

    func ask(_ client: OperatorClient) async throws -> Answers.NotificationState {
        try await client.get("/notify")
    }

    func lines(_ state: Answers.NotificationState) -> [String] {
        guard let target = state.target else {
            return ["No message is sent: say notify or notify-command in the configuration."]
        }
        let values = state.hasValues ? "with" : "without"
        let last = state.last.map { "Last message, \($0.at.text): \($0.result)" }
        return [
            "\(target) is told: \(state.events.map(\.rawValue).joined(separator: ", ")); "
                + "\(values) values of rows.",
            last ?? "No message was sent since the start.",
        ] + (state.untold == 0 ? [] : ["Not told yet: \(state.untold)."])
            + (state.nextTryAt.map { ["Tried again at \($0.text)."] } ?? [])
    }
}

struct NotifyTest: AskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Send a test message, and say what came back.",
        discussion: "Ends with 1 if it was not taken. JSON: {at, isTest, isDelivered, result}.")
    static let needsServer = true

    @OptionGroup var options: ClientOptions

    func ask(_ client: OperatorClient) async throws -> Answers.NotificationDelivery {
        try await client.post("/notify/test")
    }

    func lines(_ delivery: Answers.NotificationDelivery) -> [String] { [delivery.result] }

    func end(_ delivery: Answers.NotificationDelivery) throws {
        if !delivery.isDelivered { throw ExitStatus.error }
    }
}
