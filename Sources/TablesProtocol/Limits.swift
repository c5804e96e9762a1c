/// Every limit of this module, with its unit.
public enum Limits {
    /// The deepest nesting of arrays and objects in a JSON text, in levels.
    public static let jsonDepth = 64
    /// The same for a text that has items in it, such as an answer of the operator API or a line of an
    /// export: an item may be ``jsonDepth`` levels deep by itself.
    public static let envelopeDepth = jsonDepth + 8
    /// The longest JSON text, in bytes. Modules that read bodies have lower limits.
    public static let jsonBytes = 128 << 20
    /// The longest string id, in UTF-16 units, as the SDKs and `NVARCHAR(255)` count.
    public static let idUnits = 255
    /// The most operations in one JSON Patch.
    public static let patchOperations = 1000
    /// The longest table name, in characters.
    public static let tableNameCharacters = 128
    /// Rows in one answer to a first or second generation client that gives no `$top`.
    public static let pageRows = 50
    /// Rows in one answer to a third generation client that gives no `$top`.
    public static let datasyncPageRows = 100
    /// The greatest exponent of ten that is computed; a greater one is compared by its digits.
    public static let decimalExponent = 1_000_000_000_000_000_000
}

extension Limits {
    /// Pairs in one query string, empty ones included.
    public static let queryParameters = 128
    /// The longest value of `$filter`, `$orderby` or `$select`, in UTF-8 bytes after decoding.
    public static let optionBytes = 65_536
    /// The deepest nesting of functions and signs in the text of an expression, in levels.
    public static let expressionNesting = 200
    /// Parentheses that are open at once in an expression, without those of functions.
    public static let openParentheses = 2_000
    /// The deepest expression tree, in nodes from the root to a leaf. SQLite's parser stack limits it.
    public static let expressionDepth = 16
    /// Constants in one `in (…)`.
    public static let listItems = 1_000
    /// Terms of `$orderby`.
    public static let orderTerms = 32
    /// The most columns of one index, without the id.
    static let indexColumns = 4
    /// The longest text that a function in a query makes, in UTF-8 bytes. A longer one is null, unless an
    /// argument was longer.
    public static let computedTextBytes = 256 << 10
    /// The cost of one function call in the budget of a query, in SQLite VM steps. A call takes about 1 us.
    static let functionSteps = 16
    /// The bytes that a function reads or writes in the time of one VM step.
    static let functionBytesPerStep = 4
    /// The longest text that SQLite's `instr` searches for, in UTF-8 bytes. It starts again at each
    /// position, and the budget does not count its work.
    static let nativeSearchBytes = 64
    /// The longest name of a column that is searched for in the text of a row, in UTF-8 bytes.
    static let searchedNameBytes = 128
    /// The operands in one pair of parentheses of compiled SQL. A longer chain is split into groups,
    /// because SQLite refuses an expression more than 1000 levels deep.
    static let chainOperands = 64
    /// Names of one object that are compared one by one; more are found by their hashes.
    static let namesWithoutHashes = 16
    /// The bytes that are reserved for each item of a page before it is written.
    static let reservedItemBytes = 256
}
