import type { Json, Traits } from '../../../engine/index.ts'

/** Traits of an upstream of this protocol: names, values, meanings and defaults. */
export const messagesTraits = {
  json_schema: {
    default: true,
    values: [true, false],
    summary: 'Takes `output_config.format`; otherwise the schema is written into the system text.',
  },
  effort: {
    default: false,
    values: [true, false],
    summary: 'Takes `output_config.effort` and adaptive thinking instead of a thinking budget.',
  },
  thinking: {
    default: true,
    values: [true, false, 'always'],
    summary: 'Can think; `always`: thinking cannot be switched off.',
  },
  system_messages: {
    default: false,
    values: [true, false],
    summary: 'Takes messages of role `system` in mid-conversation.',
  },
  cache_control: {
    default: true,
    values: [true, false, 'untimed'],
    summary: 'Takes cache marks; `untimed`: without a `ttl`.',
  },
  web_search: { default: true, values: [true, false], summary: 'Can search the web: takes the tool `web_search`.' },
  strict_tools: { default: false, values: [true, false], summary: 'Takes `strict` on tools.' },
} as const

export type MessagesTraits = {
  readonly [T in keyof typeof messagesTraits]: (typeof messagesTraits)[T]['values'][number]
}

/** The traits of an offer, with defaults for absent and invalid ones. */
export function traitsOf(traits: Traits = {}): MessagesTraits {
  const entries = Object.entries(messagesTraits).map(([word, { default: usual, values }]) => {
    const given = traits[word]
    return [word, (values as readonly Json[]).includes(given ?? null) ? given : usual]
  })
  return Object.fromEntries(entries) as MessagesTraits
}
