/** Maximum characters of a model name that is matched with patterns. */
const longest = 256

/** Whether the name of a model record is a pattern for many models: it ends in `*`. */
export function isPattern(name: string): boolean {
  return name.endsWith('*')
}

/**
 * The longest pattern that matches a name, and the text for its `*`: at least one character, without spaces and
 * control characters.
 */
export function fitting(name: string, patterns: Iterable<string>): { pattern: string; rest: string } | undefined {
  if (name.length > longest || !/^[\x21-\x7e\u00a1-\uffff]+$/.test(name) || name.includes('*')) return undefined
  let found: string | undefined
  for (const pattern of patterns) {
    const prefix = pattern.slice(0, -1)
    if (!isPattern(pattern) || name.length <= prefix.length || !name.startsWith(prefix)) continue
    if (found === undefined || pattern.length > found.length) found = pattern
  }
  return found === undefined ? undefined : { pattern: found, rest: name.slice(found.length - 1) }
}

/** Whether a list of models, such as that of an API key, contains a model, by name or by pattern. */
export function holds(models: ReadonlySet<string>, name: string): boolean {
  return models.has(name) || fitting(name, models) !== undefined
}
