import CMicroHTTPD

/// The library that this module stands on.
public enum ServerLibrary {
    /// The version of libmicrohttpd that was loaded.
    public static var version: String {
        // The text is a constant of the library.
        guard let text = unsafe MHD_get_version() else { return "unknown" }
        return unsafe String(cString: text)
    }
}
