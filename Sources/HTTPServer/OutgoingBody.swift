import HTTPMessage
import HTTPTypes

/// How a response's body goes out.
enum OutgoingBody {
    /// With a length; left out by libmicrohttpd where the answer has none (HEAD, 204, 304).
    case whole([UInt8])
    /// As it is written: in chunks, or with the length that the head announces.
    case streamed(ByteStream)
    /// Not at all, with its length where the head announces one.
    case none(length: UInt64?)

    /// Decides what libmicrohttpd gets. It would end a chunked answer to HEAD or a chunked 304 with
    /// a last chunk, which the client takes for the start of the next answer; and it would give a
    /// 304 without bytes the length 0, which belongs to the page that did not change.
    static func of(_ response: Response, toHead: Bool) -> OutgoingBody {
        let status = response.head.status
        switch response.body {
        case .bytes(let bytes) where bytes.isEmpty && status == .notModified:
            return .none(length: nil)
        case .bytes(let bytes): return .whole(bytes)
        case .stream where status == .noContent: return .whole([])
        case .stream where toHead: return .none(length: response.announcedBytes)
        case .stream where status == .notModified: return .none(length: nil)
        case .stream(let stream): return .streamed(stream)
        }
    }
}
