// JSON as it was sent: JavaScript would round integers above 2^53.

const asWritten = (key, value, { source }) => typeof value === 'number' ? JSON.rawJSON(source) : value

// format indents JSON. It returns other texts as they are.
export function format(json) {
  try {
    return JSON.stringify(JSON.parse(json, asWritten), null, 2)
  } catch { // not JSON, or the browser lacks JSON.rawJSON
    return json
  }
}

// rows returns the elements of a list, each as a Map from a member's name to a
// text. For anything else it returns none.
export function rows(json) {
  try {
    return JSON.parse(json, asWritten).map(element => new Map(Object.entries(element).map(
      ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])))
  } catch { // as in format, or not a list
    return []
  }
}

// fault says what is wrong with a request body, or returns an empty text. The
// service may still refuse what JavaScript accepts.
export function fault(body) {
  if (!body?.trim()) return 'The body is empty: enter a JSON object.'
  try {
    JSON.parse(body)
    return ''
  } catch ({ message }) { // in words of the browser, which may name no place
    const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? []
    return `The body is not valid JSON: look ${line ? `at line ${line}, column ${column}` : 'for a missing quote, comma or bracket'}.`
  }
}
