import Foundation
import FoundationNetworking
import Synchronization

/// A plain, waiting HTTP client for what is not measured.
enum HTTP {
    struct Answer: Sendable {
        var status = 0
        var fields: [String: String] = [:]
        var body = Data()
    }

    /// Sends a request and waits for its answer.
    /// - Throws: when none comes.
    static func send(
        _ method: String = "GET", _ address: String, fields: [String: String] = [:],
        body: String? = nil
    ) throws -> Answer {
        guard let url = URL(string: address) else { throw Trouble("\(address) is no address") }
        var request = URLRequest(url: url, timeoutInterval: 120)
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }

        let arrived = DispatchSemaphore(value: 0)
        let outcome = Mutex<Result<Answer, any Error>>(.failure(Trouble("no answer")))
        let task = URLSession.shared.dataTask(with: request) { data, response, error in
            outcome.withLock { outcome in
                if let error {
                    outcome = .failure(error)
                } else if let response = response as? HTTPURLResponse {
                    var answer = Answer(status: response.statusCode, body: data ?? Data())
                    for (name, value) in response.allHeaderFields {
                        answer.fields["\(name)"] = "\(value)"
                    }
                    outcome = .success(answer)
                }
            }
            arrived.signal()
        }
        task.resume()
        arrived.wait()
        return try outcome.withLock { $0 }.get()
    }
}
