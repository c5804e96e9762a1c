/// A picture of the requests that arrived and were accepted in each second after a return, as SVG.
struct FleetPicture {
    private let result: FleetResult
    private let capacity: Int
    private let width = 720.0
    private let height = 260.0
    private let left = 56.0
    private let bottom = 32.0
    private let top = 12.0

    init(_ result: FleetResult, capacity: Int) { (self.result, self.capacity) = (result, capacity) }

    /// The seconds that are shown: until the queues are empty, and half as long again.
    private var seconds: Int {
        min(
            max((result.drainedSeconds ?? result.arrivals.count) * 3 / 2, 60), result.arrivals.count
        )
    }

    private var most: Double { Double(max(result.peak, 2 * capacity)) * 1.05 }

    private func x(_ second: Int) -> Double {
        left + Double(second) / Double(seconds) * (width - left - 8)
    }
    private func y(_ requests: Double) -> Double {
        height - bottom - requests / most * (height - bottom - top)
    }

    private func line(_ values: [Int]) -> String {
        values.prefix(seconds).enumerated()
            .map { "\(rounded(x($0))),\(rounded(y(Double($1))))" }
            .joined(separator: " ")
    }

    private func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }

    private func level(_ requests: Int, _ name: String) -> String {
        let place = rounded(y(Double(requests)))
        return """
            <line x1="\(left)" x2="\(width - 8)" y1="\(place)" y2="\(place)" stroke="#888" \
            stroke-dasharray="4 4"/><text x="\(left + 6)" y="\(place - 4)">\(name)</text>
            """
    }

    /// The picture.
    var svg: String {
        let ticks = stride(from: 0, through: seconds, by: max(seconds / 6 / 10 * 10, 10))
            .map {
                "<text x=\"\(rounded(x($0)))\" y=\"\(height - 12)\" text-anchor=\"middle\">\($0)</text>"
            }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" role="img" \
            font-family="sans-serif" font-size="12" fill="#333">
            <title>Requests a second after the backend's return</title>
            <rect width="\(width)" height="\(height)" fill="#fff"/>
            \(level(capacity, "capacity: \(capacity) requests/s"))
            \(level(2 * capacity, "twice the capacity"))
            <polyline points="\(line(result.arrivals))" fill="none" stroke="#c2410c" stroke-width="2"/>
            <polyline points="\(line(result.accepted))" fill="none" stroke="#1d4ed8" stroke-width="2"/>
            <text x="\(width - 12)" y="\(y(0) - 28)" text-anchor="end" fill="#c2410c">arrived</text>
            <text x="\(width - 12)" y="\(y(0) - 12)" text-anchor="end" fill="#1d4ed8">accepted</text>
            \(ticks.joined(separator: "\n"))
            <text x="\(width - 8)" y="\(height - 1)" text-anchor="end">seconds</text>
            </svg>

            """
    }
}
