import type { Json, Traits } from '../../../engine/index.ts'

/** Traits of an upstream of this protocol: names, values, meanings and defaults. */
export const geminiTraits = {
  thinking: {
    default: 'auto',
    values: ['auto', 'level', 'budget', false],
    summary:
      'How an effort is said: as `thinkingLevel`, or as `thinkingBudget`; `auto`: as a budget to models named `gemini-2…`; false: the upstream does not think.',
  },
  placeholder_signatures: {
    default: true,
    values: [true, false],
    summary:
      'Takes `skip_thought_signature_validator` as the signature of calls that it did not make, or whose signature is lost.',
  },
  call_ids: { default: true, values: [true, false], summary: 'Takes `id` on calls of functions and on their results.' },
  file_urls: {
    default: true,
    values: [true, false],
    summary: 'Fetches `fileUri` of any public address; otherwise the gateway fetches the file and sends its bytes.',
  },
  result_media: {
    default: false,
    values: [true, false],
    summary: 'Takes media in the results of functions; otherwise they follow the results of the turn.',
  },
  web_search: { default: true, values: [true, false], summary: 'Can search the web: takes the tool `googleSearch`.' },
  search_with_functions: {
    default: false,
    values: [true, false],
    summary: 'Takes the web search beside functions; otherwise the search is left out.',
  },
} as const

export type GeminiTraits = {
  readonly [T in keyof typeof geminiTraits]: (typeof geminiTraits)[T]['values'][number]
}

/** The traits of an offer, with defaults for absent and invalid ones. */
export function traitsOf(traits: Traits = {}): GeminiTraits {
  const entries = Object.entries(geminiTraits).map(([word, { default: usual, values }]) => {
    const given = traits[word]
    return [word, (values as readonly Json[]).includes(given ?? null) ? given : usual]
  })
  return Object.fromEntries(entries) as GeminiTraits
}
