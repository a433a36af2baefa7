/** A text as one word of a POSIX shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A question to the admin API as a command; the session is a variable of the shell. */
export const curlOf = (address: string): string =>
  `curl ${quoted(address)} \\\n  -H "authorization: Bearer $SLUICE_TOKEN"`
