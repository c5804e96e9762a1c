import HTTPMessage
import HTTPTypes
import TablesProtocol

extension Answerer {
    /// Adds what Express and the Node server put on their answers: nothing may be kept in caches
    /// where the table was reached, and a weak tag of its own where no version is.
    func dressedByNode(_ response: Response, _ outcome: Outcome) -> Response {
        guard profile.isNode else { return response }
        var response = response
        if reachesTable(outcome) {
            response.head.headerFields[.cacheControl] = "no-cache"
            response.head.headerFields.set("Expires", "0")
            response.head.headerFields.set("Pragma", "no-cache")
        }
        return taggedByExpress(response)
    }

    /// Adds Express' weak tag: the length in hexadecimal and a digest. Clients that take any tag for
    /// the version are misled by it, as by the real one; only the digest is another.
    func taggedByExpress(_ response: Response) -> Response {
        let isPage = response.head.headerFields[.contentSecurityPolicy] != nil
        guard profile.isNode, !isPage, response.head.headerFields[.eTag] == nil,
            let bytes = response.bytes, !bytes.isEmpty
        else { return response }
        var digest: [UInt8] = []
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for round in 0..<3 {
            for byte in bytes + [UInt8(round)] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            digest += (0..<8).map { UInt8(truncatingIfNeeded: hash >> ($0 * 8)) }
        }
        var tagged = response
        let text = Base64.text(digest.prefix(20)).dropLast()
        tagged.head.headerFields[.eTag] = "W/\"\(String(bytes.count, radix: 16))-\(text)\""
        return tagged
    }

    private func reachesTable(_ outcome: Outcome) -> Bool {
        switch outcome {
        case .list, .found, .inserted, .changed, .unchanged, .deleted, .deletedAll, .undeleted: true
        case .missing: call.method == .get
        case .notModified, .exists, .preconditionFailed, .versionConflict, .gone, .refused: false
        }
    }
}
