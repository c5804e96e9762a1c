/// Where the parts of a head stand in libmicrohttpd's memory: proof that they are the whole head.
///
/// libmicrohttpd 0.9.75 reads a head in one buffer and writes NUL bytes over what separates its texts. It
/// does not say what it passed over: it ends a head at a line that begins with a colon or a NUL byte, a
/// value at a NUL byte, takes a bare line feed for a line's end, and moves a folded field elsewhere. Each of
/// these leaves a gap of another size between two texts, or behind the last one. So a head is whole when
/// every text begins where the one before ended, and the last line ends where the head does. Only a colon or
/// a NUL byte right before a bare line feed cannot be told from CR and LF (docs/decisions/requests.md).
///
/// Addresses are numbers here: they are compared, and nothing is read from them.
struct HeadLayout {
    /// A text of the head.
    struct Text: Hashable {
        let address: UInt
        let byteCount: Int
        /// The address behind its last byte.
        var end: UInt { address &+ UInt(bitPattern: byteCount) }
    }

    private let start: UInt
    /// Where the next line begins.
    private var line: UInt
    private var isContiguous: Bool
    /// Whether the target ends right before the version. If not, a NUL byte has cut it.
    let isTargetWhole: Bool

    /// Begins with the texts of the request line, one blank between each two.
    init(method: Text, target: Text, version: Text) {
        start = method.address
        line = version.end &+ Limits.lineEndBytes
        isTargetWhole = target.end &+ 1 == version.address
        isContiguous = isTargetWhole && method.end &+ 1 == target.address
    }

    /// Adds the next field, in wire order. Between the name and the value are the colon and any blanks.
    mutating func add(name: Text, value: Text) {
        if name.address != line || name.byteCount == 0 || value.address <= name.end {
            isContiguous = false
        }
        line = value.end &+ Limits.lineEndBytes
    }

    /// Whether the texts are the whole head.
    /// - Parameter headBytes: the size of the head, from its method to the end of its empty line.
    func isWhole(headBytes: Int) -> Bool {
        isContiguous && start &+ UInt(bitPattern: headBytes) == line &+ Limits.lineEndBytes
    }
}
