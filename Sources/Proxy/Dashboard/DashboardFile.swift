/// One file of the dashboard, embedded in the binary.
struct DashboardFile: Sendable {
    /// The name in the URL, `/-/NAME`.
    let name: String
    /// Its bytes.
    let bytes: [UInt8]

    /// Every file in Public. A file that is missing here is not served; a test compares the two.
    static let all: [DashboardFile] = [
        DashboardFile(name: "index.html", bytes: PackageResources.index_html)
    ]

    /// The file with a name.
    static func named(_ name: String) -> DashboardFile? { all.first { $0.name == name } }

    /// The media type, by the ending of the name.
    var mediaType: String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js", "mjs": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "ico": "image/x-icon"
        case "json": "application/json"
        case "webmanifest": "application/manifest+json"
        case "woff2": "font/woff2"
        default: "application/octet-stream"
        }
    }
}
