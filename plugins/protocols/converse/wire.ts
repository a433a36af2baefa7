/** The protocol's name in YAML, in `rest` and in opaque parts. */
export const protocol = 'converse'

/** Members of an answer with JSON of the model: inputs of tools. */
export const verbatim: ReadonlySet<string> = new Set(['input'])
