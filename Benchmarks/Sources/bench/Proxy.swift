import Foundation

/// The measured program, serving on a data folder, with its operator API.
final class Proxy {
    let url: String
    private let program: Program
    private let token: String

    /// The arguments with which every row runs it: nothing is sent unless a row says so.
    static func arguments(folder: URL, port: Int, backend: String) -> [String] {
        [
            "serve", "--backend", backend, "--backend-generation", "2", "--sync", "manual",
            "--listen", "127.0.0.1:\(port)", "--data", folder.path,
        ]
    }

    /// Starts it and waits until it is ready.
    init(
        on folder: URL, in stage: Stage, preload: String? = nil,
        environment: [String: String] = [:]
    ) throws {
        let arguments = Self.arguments(folder: folder, port: 0, backend: stage.backendURL)
        program = try Program(
            stage.places.understudy.path, arguments, in: stage, preload: preload,
            environment: environment)
        let addressFile = folder.appending(path: "address")
        let deadline = Date(timeIntervalSinceNow: 60)
        var address: String?
        while address == nil {
            guard program.isRunning, Date() < deadline else {
                program.stop()
                throw Trouble("understudy did not start; see \(stage.places.scratch.path)")
            }
            usleep(5_000)
            let text = (try? String(contentsOf: addressFile, encoding: .utf8)) ?? ""
            guard text.hasSuffix("\n") else { continue }
            let found = String(text.dropLast())
            if (try? HTTP.send("GET", "\(found)/-/readyz"))?.status == 200 { address = found }
        }
        url = address ?? ""
        token = try String(contentsOf: folder.appending(path: "operator.token"), encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func stop() { program.stop() }

    /// The table that all rows use.
    var table: String { "\(url)/tables/todoitem" }

    /// Resident memory now, in MiB.
    func residentMiB() throws -> Double {
        let status = try String(contentsOfFile: "/proc/\(program.id)/status", encoding: .utf8)
        for line in status.split(separator: "\n") where line.hasPrefix("VmRSS:") {
            let digits = line.filter(\.isNumber)
            return (Double(digits) ?? 0) / 1024
        }
        throw Trouble("/proc says no VmRSS")
    }

    // MARK: The operator API

    /// A push or pull, as far as it is looked at.
    struct Run: Decodable {
        struct Push: Decodable { var applied, left: Int }
        struct Pull: Decodable { var received, requests: Int }
        var id, state: String
        var reason: String?
        var push: Push?
        var pull: [Pull]
    }

    /// How many operations wait.
    func queued() throws -> Int {
        struct Status: Decodable {
            struct Queue: Decodable { var queued: Int }
            var queue: Queue
        }
        return try ask(Status.self, "GET", "/status").queue.queued
    }

    func set(parallelism: Int, pageRows: Int) throws {
        struct Settings: Decodable { var parallelism, pageRows: Int }
        let body = "{\"parallelism\":\(parallelism),\"pageRows\":\(pageRows)}"
        _ = try ask(Settings.self, "PATCH", "/settings", body)
    }

    /// Pushes everything. Returns the seconds it took, seen from outside.
    func push(expecting count: Int) throws -> Double {
        let (seconds, run) = try timed("/push")
        guard run.push?.applied == count else {
            throw Trouble("The push applied \(run.push?.applied ?? 0) of \(count): \(run.state).")
        }
        return seconds
    }

    /// Pulls the table. Returns the seconds it took, seen from outside.
    func pull(expecting count: Int) throws -> Double {
        let (seconds, run) = try timed("/tables/todoitem/pull")
        guard run.pull.first?.received == count else {
            throw Trouble(
                "The pull received \(run.pull.first?.received ?? 0) of \(count): \(run.state).")
        }
        return seconds
    }

    /// Starts a pull and returns at once.
    func startPull() throws -> Run {
        try ask(Run.self, "POST", "/tables/todoitem/pull?wait=0", "{}")
    }

    func run(_ id: String) throws -> Run { try ask(Run.self, "GET", "/runs/\(id)") }

    private func timed(_ path: String) throws -> (Double, Run) {
        let began = DispatchTime.now().uptimeNanoseconds
        var run = try ask(Run.self, "POST", "\(path)?wait=25", "{}")
        while run.state == "running" {
            usleep(50_000)
            run = try self.run(run.id)
        }
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
        guard run.state == "complete" else {
            throw Trouble("The run of \(path) ended \(run.state): \(run.reason ?? "no reason").")
        }
        return (seconds, run)
    }

    private func ask<Answer: Decodable>(
        _ type: Answer.Type, _ method: String, _ path: String, _ body: String? = nil
    ) throws -> Answer {
        let answer = try HTTP.send(
            method, "\(url)/-/api/v1\(path)", fields: ["Authorization": "Bearer \(token)"],
            body: body)
        guard (200..<300).contains(answer.status) else {
            let text = String(decoding: answer.body, as: UTF8.self)
            throw Trouble("\(method) \(path) gave \(answer.status): \(text)")
        }
        return try JSONDecoder().decode(Answer.self, from: answer.body)
    }
}
