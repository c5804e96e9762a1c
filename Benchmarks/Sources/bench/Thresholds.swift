import Foundation

/// What has to stand, by the ids of the measurements.
struct Thresholds {
    struct Bound: Decodable {
        var atLeast: Double?
        var atMost: Double?

        func holds(_ value: Double) -> Bool {
            value >= atLeast ?? -.infinity && value <= atMost ?? .infinity
        }

        var text: String {
            if let atLeast { return "≥ \(atLeast.formatted())" }
            return atMost.map { "≤ \($0.formatted())" } ?? ""
        }
    }

    let bounds: [String: Bound]

    init(from url: URL) throws {
        bounds = try JSONDecoder().decode([String: Bound].self, from: Data(contentsOf: url))
    }

    /// Why a report does not pass: a sentence for each bound that is missed or was not measured.
    func objections(to report: Report) -> [String] {
        var objections: [String] = []
        if report.scale < 1 {
            objections.append("It ran at scale \(report.scale); the thresholds are for scale 1.")
        }
        for id in bounds.keys.sorted(by: Self.inOrder) {
            guard let bound = bounds[id] else { continue }
            guard let measured = report.measurements.first(where: { $0.id == id }) else {
                objections.append("\(id) was not measured.")
                continue
            }
            if !bound.holds(measured.judged) {
                objections.append(
                    "\(id) \(measured.work): \(measured.judged.figure), must be \(bound.text).")
            }
        }
        return objections
    }

    /// 2 before 10.
    private static func inOrder(_ a: String, _ b: String) -> Bool {
        a.compare(b, options: .numeric) == .orderedAscending
    }
}

extension Double {
    /// With three significant digits, whole from 100 on.
    var figure: String {
        if !isFinite { return "–" }
        if magnitude >= 100 { return String(Int(rounded())) }
        return String(format: magnitude >= 10 ? "%.1f" : "%.2f", self)
    }
}
