import { definePlugin, defineStage } from 'sluice'
import { mapJson, mapText } from 'sluice/kit'

const items = { type: 'string', minLength: 1 } as const
const words = { type: 'array', minItems: 1, items, description: 'Words to hide.' } as const
const config = { type: 'object', additionalProperties: false, required: ['words'], properties: { words } } as const

/** Operations whose answers contain no text. */
const silent = new Set(['embed', 'decide', 'count'])

const hiding = (words: readonly string[]) => {
  const longestFirst = words.toSorted((one, other) => other.length - one.length)
  const pattern = new RegExp(longestFirst.map((word) => RegExp.escape(word)).join('|'), 'g')
  return { hide: (text: string) => text.replace(pattern, '***'), longest: longestFirst[0]?.length ?? 0 }
}

const maskRequest = defineStage({
  name: 'mask-request',
  summary: 'Hide words of a request from all later stages and from the provider.',
  config,
  needs: ['request'],
  provides: ['request'],
  build({ words }) {
    const { hide } = hiding(words)
    return ({ request }) => ({ request: request.rewrite((body) => mapJson(body, hide)) })
  },
})

const maskAnswer = defineStage({
  name: 'mask-answer',
  summary: 'Hide words of an answer from all later stages and from the client.',
  config,
  needs: ['answer'],
  provides: ['answer'],
  build({ words }) {
    const { hide, longest } = hiding(words)
    const map = mapText(hide, longest)
    return ({ answer }) => ({ answer: silent.has(answer.operation) ? answer : answer.map(map) })
  },
})

export default definePlugin({ name: 'mask', summary: 'Hides words.', stages: [maskRequest, maskAnswer] })
