import ArgumentParser
import TablesProtocol

/// The options of the commands that talk to a running Understudy.
struct ClientOptions: ParsableArguments {
    @Option(help: "The data folder of the Understudy to talk to. (default: in ~/.local/share)")
    var data: String?

    @Option(help: "Whose rows and operations. (default: anonymous)")
    var identity: String?

    @Flag(help: "Print the answer of the operator API as it is.")
    var json = false

    /// The folder that is meant.
    func folder() throws(StartProblem) -> DataFolder {
        let environment = ThisProcess.environment
        let sources = Sources(
            flags: [Settings.data.name: data.map { [$0] } ?? []], environment: environment)
        do {
            if let folder = try sources.value(Settings.data) { return folder }
        } catch {
            throw error.startProblem
        }
        return try DataFolder.standard(name: "understudy", environment: environment)
    }

    /// Talks to the running Understudy, whatever happens after.
    func withOperator<Value>(
        _ body: (OperatorClient) async throws -> Value
    ) async throws -> Value {
        let client = try OperatorClient(try folder(), identity: identity)
        do {
            let value = try await body(client)
            await client.close()
            return value
        } catch {
            await client.close()
            throw error
        }
    }

    /// Prints an answer: as it is, or in words.
    func show(_ answer: JSONValue, _ words: (JSONValue) -> [String]) {
        if json {
            ThisProcess.print(answer.text)
        } else {
            for line in words(answer) { ThisProcess.print(line) }
        }
    }
}
