import type { Offer } from '../../engine/index.ts'

/** Traits of an offer that this codec heeds. Each is `true` unless the offer says `false`. */
export const responsesTraits = {
  custom_tools: 'Knows tools of type `custom`. Without: they go as functions with one string `input`.',
  namespaces: 'Knows tools of type `namespace`. Without: they flatten to `namespace__name`.',
  allowed_tools: 'Knows the tool choice `allowed_tools`. Without: only the allowed tools are sent.',
  encrypted_reasoning: 'Gives `reasoning.encrypted_content` when it is included.',
  web_search: 'Can search the web: takes the tool `web_search`.',
  file_url: 'Fetches files by `file_url`. Without: they are inlined.',
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
