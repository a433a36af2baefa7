/** Where a client finds the gateway, and what it asks for. */
export interface Place {
  /** Origin of the gateway, without a slash at the end: `https://gateway.example`. */
  readonly origin: string
  /** Name of a model, or `auto`, `fast`, `best`. */
  readonly model: string
}

/** One file to paste. The key stands in none of them: every client reads it from the environment. */
export interface Paste {
  /** Where the text goes: a path, or `null` for a shell. */
  readonly path: string | null
  readonly language: 'sh' | 'python' | 'typescript' | 'toml' | 'json'
  readonly text: (place: Place) => string
}

/** How one client is pointed at the gateway. */
export interface Client {
  /** Also the word in the address: `?client=openai-python`. */
  readonly id: string
  readonly title: string
  /** What must be installed first, as a line for the shell; `null` when nothing is. */
  readonly install: string | null
  readonly pastes: readonly Paste[]
  /** One line for the shell that shows whether it works. */
  readonly check: (place: Place) => string
}

/** Name of the environment variable that holds the API key in every text. */
export const keyVariable = 'SLUICE_API_KEY'
