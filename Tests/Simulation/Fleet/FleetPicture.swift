/// A picture of the requests that arrived and were accepted in each second after a return, as SVG.
struct FleetPicture {
    private let result: FleetResult
    private let plan: Fleet.Plan
    private let width = 720.0
    private let height = 280.0
    private let left = 56.0
    private let bottom = 36.0
    private let top = 30.0

    init(_ result: FleetResult, _ plan: Fleet.Plan) { (self.result, self.plan) = (result, plan) }

    private var capacity: Int { plan.requestsPerSecond }

    /// The seconds that are shown: until the queues are empty, and a quarter more.
    private var seconds: Int {
        min(max(result.drainedSeconds * 5 / 4, 60), result.arrivals.count)
    }

    private var most: Double { Double(max(result.peak, 2 * capacity)) * 1.08 }

    private func x(_ second: Int) -> Double {
        left + Double(second) / Double(seconds) * (width - left - 8)
    }

    private func y(_ requests: Double) -> Double {
        height - bottom - requests / most * (height - bottom - top)
    }

    private func line(_ values: [Int], _ color: String) -> String {
        let points = values.prefix(seconds).enumerated()
            .map { "\(rounded(x($0))),\(rounded(y(Double($1))))" }
            .joined(separator: " ")
        return
            "<polyline points=\"\(points)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"1.5\"/>"
    }

    private func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }

    private func level(_ requests: Int, _ name: String) -> String {
        let place = rounded(y(Double(requests)))
        return """
            <line x1="\(left)" x2="\(width - 8)" y1="\(place)" y2="\(place)" stroke="#888" \
            stroke-dasharray="4 4"/>
            <text x="\(left - 6)" y="\(place + 4)" text-anchor="end">\(grouped(requests))</text>
            <text x="\(width - 12)" y="\(place - 5)" text-anchor="end">\(name)</text>
            """
    }

    private func grouped(_ number: Int) -> String {
        number < 1000
            ? "\(number)"
            : grouped(number / 1000) + "," + String(String(1000 + number % 1000).dropFirst())
    }

    private var title: String {
        let minutes = plan.outage.components.seconds / 60
        return """
            \(grouped(plan.proxies)) proxies return after \(minutes) minutes: requests in each \
            second
            """
    }

    /// The picture.
    var svg: String {
        let step = max(seconds / 6 / 10 * 10, 10)
        let ticks = stride(from: 0, through: seconds, by: step).map { second in
            "<text x=\"\(rounded(x(second)))\" y=\"\(height - 18)\" text-anchor=\"middle\">"
                + "\(second)</text>"
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" role="img" \
            font-family="sans-serif" font-size="12" fill="#333">
            <title>\(title)</title>
            <rect width="\(width)" height="\(height)" fill="#fff"/>
            <text x="\(left)" y="16" font-size="13">\(title)</text>
            \(level(capacity, "what the backend takes"))
            \(level(2 * capacity, "twice that"))
            \(line(result.arrivals, "#c2410c"))
            \(line(result.accepted, "#1d4ed8"))
            <text x="\(left)" y="\(height - 3)" fill="#c2410c">arrived</text>
            <text x="\(left + 56)" y="\(height - 3)" fill="#1d4ed8">accepted</text>
            \(ticks.joined(separator: "\n"))
            <text x="\(width - 8)" y="\(height - 3)" text-anchor="end">seconds after the return</text>
            </svg>

            """
    }
}
