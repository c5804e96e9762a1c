import Glibc

extension ServerConfiguration {
    /// The cores that this machine has online.
    public static var cores: Int { max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN))) }
}
