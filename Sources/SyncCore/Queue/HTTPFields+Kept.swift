import HTTPTypes

extension HTTPFields {
    /// Reads what ``stored`` gave. Were the store damaged, there are no fields.
    init(stored text: String) {
        self.init()
        for pair in JSONList.lists(text) where pair.count == 2 {
            guard let name = HTTPField.Name(pair[0]) else { continue }
            append(HTTPField(name: name, value: pair[1]))
        }
    }

    /// The fields as an operation keeps them: a JSON list of lists of name and value.
    var stored: String {
        isEmpty ? "[]" : JSONList.text(map { [$0.name.rawName, $0.value] })
    }

    /// Takes the fields of a later write that becomes part of the same operation: its values replace
    /// those of the same names, and the others stay.
    mutating func take(_ later: HTTPFields) {
        for name in Set(later.map(\.name)) { self[fields: name] = later[fields: name] }
    }
}
