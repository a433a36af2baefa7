import type { Offer } from '../../engine/index.ts'

/** Traits of an offer that this codec uses. Each is `true` unless the offer sets `false`. */
export const responsesTraits = {
  custom_tools: 'Takes tools of type `custom`; otherwise they become functions with one string `input`.',
  namespaces: 'Takes tools of type `namespace`; otherwise they are flattened to `namespace__name`.',
  allowed_tools: 'Takes the tool choice `allowed_tools`; otherwise only the allowed tools are sent.',
  encrypted_reasoning: 'Answers `reasoning.encrypted_content` if it is included.',
  web_search: 'Can search the web: takes the tool `web_search`.',
  file_url: 'Fetches files by `file_url`; otherwise they are inlined.',
} as const

export type ResponsesTraits = Readonly<Record<keyof typeof responsesTraits, boolean>>

export function traitsOf({ traits }: Offer): ResponsesTraits {
  const has = (name: keyof ResponsesTraits) => traits?.[name] !== false
  return {
    custom_tools: has('custom_tools'),
    namespaces: has('namespaces') && has('custom_tools'),
    allowed_tools: has('allowed_tools'),
    encrypted_reasoning: has('encrypted_reasoning'),
    web_search: has('web_search'),
    file_url: has('file_url'),
  }
}
