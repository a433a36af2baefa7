// JSON lets this control character stand as it is; TOML does not.
const inside = (text: string) =>
  JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\u007f', String.raw`\u007f`)

/** A text as a string of Python or TOML, which share the escapes of JSON. */
export const literal = (text: string): string => `"${inside(text)}"`

/** A text as a string of TypeScript, in the quotes of its neighbours. */
export const single = (text: string): string => `'${inside(text).replaceAll("'", String.raw`\'`)}'`
