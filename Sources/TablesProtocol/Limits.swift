/// Every limit of this room, with its unit.
public enum Limits {
    /// The deepest nesting of arrays and objects in a JSON text, in levels.
    public static let jsonDepth = 64
    /// The longest JSON text, in bytes; rooms that read bodies bound them earlier and lower.
    public static let jsonBytes = 128 << 20
    /// The longest string id, in UTF-16 units, as the SDKs and `NVARCHAR(255)` count.
    public static let idUnits = 255
    /// The most operations in one JSON Patch.
    public static let patchOperations = 1000
    /// The longest table name, in characters.
    public static let tableNameCharacters = 128
    /// Rows in one answer to a first or second generation client.
    public static let pageRows = 50
    /// Rows in one answer to a third generation client.
    public static let datasyncPageRows = 100
    /// The highest exponent of ten whose value is compared; above it its digits are.
    public static let decimalExponent = 1_000_000_000_000_000_000
}
