import HTTPMessage
import HTTPServer
import HTTPTypes
import ReferenceBackend
import ServiceLifecycle
import TablesProtocol

/// A reference backend that listens.
struct RunningBackend: Sendable {
    /// Where it listens, as in a URL.
    let address: String
    let server: Server

    /// The table of the sample todos.
    static let sampleTable = "todoitem"

    /// Opens the database and listens.
    static func start(
        _ listen: ListenAddress, file: String?, options: BackendOptions, samples: Bool
    ) throws(StartProblem) -> RunningBackend {
        let backend: ReferenceBackend
        do {
            backend = try ReferenceBackend(at: file, options: options) { ThisProcess.now }
        } catch {
            throw StartProblem("The backend's database cannot be opened: \(error)")
        }
        if samples { addSamples(backend) }
        let server = Server(ServerConfiguration(addresses: [listen]), handler: backend)
        do {
            let bound = try server.start()
            return RunningBackend(address: bound.first?.description ?? "", server: server)
        } catch {
            throw StartProblem(error.description)
        }
    }

    /// Stops it at the end.
    var service: any Service { Closing { await server.stop() } }

    /// Writes the sample todos as a client would, unless there are todos already.
    private static func addSamples(_ backend: ReferenceBackend) {
        func ask(_ method: HTTPRequest.Method, _ path: String, _ body: String = "") -> Response {
            var head = HTTPRequest(
                method: method, scheme: "http", authority: "localhost", path: path)
            head.headerFields[.contentType] = "application/json"
            if let version = HTTPField.Name("ZUMO-API-VERSION") {
                head.headerFields[version] = "2.0.0"
            }
            return backend.respond(to: Request(head: head, body: Array(body.utf8)))
        }
        guard ask(.get, "/tables/\(sampleTable)?$top=1").bytes == Array("[]".utf8) else { return }
        for (text, complete) in samples {
            let item = JSONValue.members(("text", .string(text)), ("complete", .bool(complete)))
            _ = ask(.post, "/tables/\(sampleTable)", item.text)
        }
    }

    private static let samples = [
        ("Buy eggs", false), ("Water the plants", false), ("Call the plumber", true),
        ("Renew the library card", false), ("Read chapter four", true),
        ("Fix the garden gate", false), ("Plan the trip to the coast", false),
        ("Return the drill to Ana", true), ("Book the dentist", false),
        ("Write to grandmother", false), ("Change the bicycle tyre", false),
        ("Back up the photographs", true),
    ]
}
