/// Every limit of this module, with its unit.
public enum Limits {
    /// The deepest nesting of arrays and objects in a JSON text, in levels.
    public static let jsonDepth = 64
    /// The longest JSON text, in bytes; the modules that read bodies set lower limits earlier.
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

extension Limits {
    /// Pairs in one query string, empty ones included.
    public static let queryParameters = 128
    /// The longest value of `$filter`, `$orderby` or `$select`, in UTF-8 bytes after decoding.
    public static let optionBytes = 65_536
    /// The deepest nesting of parentheses and functions in the text of an expression, in levels.
    public static let expressionNesting = 200
    /// The deepest tree, in nodes from the root to a leaf; SQLite's own parser stack bounds it.
    public static let expressionDepth = 16
    /// What a lambda adds to the depth of a tree, in nodes.
    static let lambdaDepth = 3
    /// Constants in one `in (…)`.
    public static let listItems = 1_000
    /// Terms of `$orderby`.
    public static let orderTerms = 32
    /// Columns of one index that a list asks for, the id not counted.
    static let indexColumns = 4
    /// The highest `$top` that servers of generations 1 and 2 accept, in rows.
    public static let topRows = 1_000
    /// The highest `$top` that servers of generation 3 accept, in rows.
    public static let datasyncTopRows = 128_000
    /// The longest text that a function in a query makes, in UTF-8 bytes, unless it was given a longer
    /// one; a longer one is null.
    public static let computedTextBytes = 256 << 10
    /// What a call of a function counts in the budget of a query, in steps of SQLite's machine, of which
    /// it is about 1 us.
    static let functionSteps = 16
    /// Bytes that a function reads or writes in the time of one such step.
    static let functionBytesPerStep = 4
    /// The longest text that SQLite's own `instr` searches for, in UTF-8 bytes: it starts again at each
    /// place, and the budget does not count its work.
    static let nativeSearchBytes = 64
    /// The longest regular expression of `matchesPattern`, in UTF-16 units.
    public static let patternUnits = 256
    /// Steps of the program that a regular expression becomes, its repetitions written out.
    public static let patternSteps = 1_000
    /// Steps taken for one text; a text that needs more matches neither way and is null.
    public static let patternWork = 100_000
    /// The deepest nesting of groups in a regular expression, in levels.
    static let patternNesting = 32
    /// The radius of the sphere on which `geo.distance` measures, in kilometres.
    static let earthRadiusKilometres = 6371.0
    /// Operands that stand in one parenthesis of compiled SQL; longer chains are grouped, because
    /// SQLite refuses an expression more than 1000 levels deep.
    static let chainOperands = 64
    /// Bytes that are reserved for each item of a page before it is written.
    static let reservedItemBytes = 256
}
