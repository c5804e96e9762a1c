import Foundation

/// The report for people, as a Markdown table, so that it can go into a page as it is.
struct Table {
    let report: Report
    let thresholds: Thresholds

    /// The share of all cores that a quiet machine may use.
    private static let quietShare = 0.1

    var text: String {
        var rows = [
            ["#", "Work", "Against", "Ours", "Theirs", "Unit", "Ratio", "Spread", "Wanted", ""]
        ]
        rows += report.measurements.map(row)
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            "| "
                + zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
                .joined(separator: " | ") + " |"
        }
        lines.insert(
            "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|",
            at: 1)
        return (lines + [""] + remarks).joined(separator: "\n")
    }

    private func row(_ one: Measurement) -> [String] {
        let bound = thresholds.bounds[one.id]
        let (low, high) = one.spread
        return [
            one.id, one.work, one.against, one.ours.figure, one.theirs?.figure ?? "", one.unit,
            one.theirs == nil ? "" : one.judged.figure, "\(low.figure)–\(high.figure)",
            bound?.text ?? "", bound.map { $0.holds(one.judged) ? "holds" : "missed" } ?? "",
        ]
    }

    private var remarks: [String] {
        let machine = report.machine
        let modules = report.modules.map { "\($0.name) \($0.lines) in \($0.files) files" }
            .joined(separator: ", ")
        var lines = [
            "Medians of \(report.rounds) interleaved rounds at most; the spread is the lowest and "
                + "highest ratio.",
            "\(machine.processor), \(machine.cores) cores, \(machine.system); commit "
                + "\(report.commit).",
            "The program has \(report.binaryBytes.formatted()) bytes with its symbols"
                + (report.installedBytes.map { ", \($0.formatted()) as installed." } ?? "."),
            "Lines: \(modules).",
        ]
        if let start = report.measurements.first(where: { $0.id == "12" })?.theirs {
            lines.append("It is ready \(start.figure) ms after its start on an empty folder.")
        }
        if machine.busy > Self.quietShare {
            let percent = Int((machine.busy * 100).rounded())
            lines.append(
                "Others used \(percent) % of the machine before it began: trust no figure.")
        }
        if report.scale < 1 {
            lines.append("At scale \(report.scale) these figures show only that it runs.")
        }
        lines += report.measurements.compactMap { one in one.note.map { "\(one.id): \($0)" } }
        lines += report.failures.map { "Row \($0.row) did not run to its end: \($0.reason)" }
        return lines
    }
}
