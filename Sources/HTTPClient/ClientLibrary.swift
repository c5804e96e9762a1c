import CCurl

/// The libraries that this module stands on.
public enum ClientLibrary {
    /// libcurl as it was loaded, and the libraries that it uses, each with its version.
    public static var versions: [(name: String, version: String)] {
        // The text is a constant buffer of the library.
        guard let text = unsafe curl_version() else { return [] }
        return unsafe parts(of: String(cString: text))
    }

    /// The parts of a text such as `libcurl/7.88.1 OpenSSL/3.0.15 zlib/1.2.13`.
    static func parts(of text: String) -> [(name: String, version: String)] {
        text.split(separator: " ").compactMap { part in
            let pair = part.split(separator: "/", maxSplits: 1)
            return pair.count == 2 ? (String(pair[0]), String(pair[1])) : nil
        }
    }
}
