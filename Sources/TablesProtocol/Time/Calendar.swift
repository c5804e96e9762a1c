/// A date of the proleptic Gregorian calendar and a time of day in UTC.
struct Calendar: Hashable {
    var year: Int
    var month: Int
    var day: Int
    var hour = 0
    var minute = 0
    var second = 0

    /// The days from 0001-01-01 to the date; nil if there is no such date in years 1 to 9999.
    var dayNumber: Int? {
        guard (1...9999).contains(year), (1...12).contains(month),
            (1...Self.days(inMonth: month, of: year)).contains(day)
        else { return nil }
        // Years begin in March here, so that the leap day is the last day of a year.
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let ofEra = shifted - era * 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 306
    }

    /// The date `dayNumber` days after 0001-01-01, at midnight.
    init(dayNumber: Int) {
        let number = UInt32(clamping: dayNumber) + 306
        let era = number / 146_097
        let ofEra = number % 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * ofYear + 2) / 153
        day = Int(ofYear - (153 * shifted + 2) / 5 + 1)
        month = Int(shifted < 10 ? shifted + 3 : shifted - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
    }

    init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Instant {
    /// The date and time of day in UTC.
    var calendar: Calendar {
        var calendar = Calendar(dayNumber: Int(ticks / Self.ticksPerDay))
        let seconds = Int(ticks % Self.ticksPerDay / Self.ticksPerSecond)
        calendar.hour = seconds / 3600
        calendar.minute = seconds / 60 % 60
        calendar.second = seconds % 60
        return calendar
    }
}
